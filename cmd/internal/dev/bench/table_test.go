package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const raw = `goos: linux
cpu: AMD EPYC
BenchmarkOutput/text-2         	       1	        30.00 agent-MiB/s	        10.16 agent-cpu-ms/MiB	        60.00 copy-MiB/s	        15.0 tmux-MiB/s	         2.50 agent:tmux-MiB/s
BenchmarkRead/websocket-unix-2 	     300	         0 ns/op	       650.0 p50-µs	       150.0 transport-µs	         3.40 x-control
BenchmarkViewers/bare-1000-16  	       1	        17.20 p99-ms
PASS
`

func TestAFigureStandsBesideItsBaseline(t *testing.T) {
	got := parseFigures(raw)
	require.Equal(t, "AMD EPYC", got.cpu)
	rows := goalRows("fast",
		laneRow("agent", "text", "MiB/s", 0, "Output/text", "MiB/s"),
		lookRow("a look", "Read/websocket-unix"),
		row{label: "viewers", unit: "ms", measured: figure{"", "Viewers/bare-1000", "p99-ms"}},
	)
	require.Equal(t, `| goal | measured | unit | ours | baseline | ratio | ratio to others |
|---|---|---|---|---|---|---|
| fast | text | MiB/s | 30 | 60, plain copy | 0.50 | tmux 2.5 |
|  | a look | ms | 0.65 | 0.15, bare transport | 4.3 | tmux -C 3.4 |
|  | viewers | ms | 17 |  |  |  |
`, got.formatTable(rows))
	require.Empty(t, got.missingRows(rows))
	require.NotContains(t, got.formatTable([]row{{label: "cursor"}}), "cursor", "a row without a figure of ours says nothing")
	require.Equal(t, []string{"cursor"}, got.missingRows([]row{laneRow("agent", "cursor", "MiB/s", 0, "Output/cursor", "MiB/s")}))
}

// TestOnePageHasTheTable: the pages link to the table in docs/performance.md and hold no copy of it.
func TestOnePageHasTheTable(t *testing.T) {
	pages, err := filepath.Glob("../../../../docs/*.md")
	require.NoError(t, err)
	for _, page := range append(pages, "../../../../README.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		next, err := replaceTable(string(text), "TABLE")
		if !strings.HasSuffix(page, tablePage) {
			require.Error(t, err, page)
			require.NotContains(t, string(text), "| goal | measured | unit |", page)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(next, "TABLE"))
		require.NotContains(t, next, "| goal | measured | unit |")
		require.Contains(t, string(text), legend)
		again, err := replaceTable(next, "TABLE")
		require.NoError(t, err)
		require.Equal(t, next, again)
	}
}

func TestTheTableIsWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("docs", 0o700))
	require.NoError(t, os.WriteFile(tablePage, []byte("# Speed\n\n"+tableBegin+"old"+tableEnd+"\nMore.\n"), 0o600))
	require.NoError(t, writeTable(parseFigures(raw), "Yesterday"))
	got, err := os.ReadFile(tablePage)
	require.NoError(t, err)
	require.Equal(t, "# Speed\n\n"+tableBegin+parseFigures(raw).formatTable(table)+"\n"+legend+"\nYesterday."+tableEnd+"\nMore.\n", string(got))
	require.NoError(t, os.WriteFile(tablePage, []byte("# Speed\n"), 0o600))
	require.ErrorContains(t, writeTable(parseFigures(raw), "Today"), tablePage+": it has no place for the table")
}
