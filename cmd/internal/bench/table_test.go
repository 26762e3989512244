package main

import (
	"os"
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
		laneRow("agent", "text", "MiB/s", 0, "Output/text", "MiB/s", false),
		lookRow("a look", "Read/websocket-unix", true),
		row{label: "viewers", unit: "ms", ours: figure{"", "Viewers/bare-1000", "p99-ms"}},
	)
	require.Equal(t, `| goal | measured | unit | ours | baseline | ratio | ratio to others |
|---|---|---|---|---|---|---|
| fast | text | MiB/s | 30 | 60, plain copy | 0.50 | tmux 2.5 |
|  | a look | ms | 0.65 | 0.15, bare transport | 4.3 | tmux -C 3.4 |
|  | viewers | ms | 17 |  |  |  |
`, got.formatTable(rows))
	require.Empty(t, got.missingRows(rows))
	require.NotContains(t, got.formatTable([]row{{label: "cursor"}}), "cursor", "a row without a figure of ours says nothing")
	require.Equal(t, []string{"cursor"}, got.missingRows([]row{laneRow("agent", "cursor", "MiB/s", 0, "Output/cursor", "MiB/s", false)}))
	require.Len(t, briefRows(rows), 1)
}

func TestTheDocumentsHaveAPlaceForTheTable(t *testing.T) {
	for _, path := range []string{"README.md", "docs/performance.md"} {
		text, err := os.ReadFile("../../../" + path)
		require.NoError(t, err)
		next, err := replaceTable(string(text), "TABLE")
		require.NoError(t, err, path)
		require.Equal(t, 1, strings.Count(next, "TABLE"))
		again, err := replaceTable(next, "TABLE")
		require.NoError(t, err)
		require.Equal(t, next, again)
	}
	_, err := replaceTable("no place", "TABLE")
	require.Error(t, err)
}
