package screen

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the pictures in testdata; read the diff")

// sectionMark begins a section of a txtar file.
var sectionMark = regexp.MustCompile(`(?m)^-- (.*) --\n`)

// picture draws the screen: its rows without empty ones at the end, the cursor as | before its
// cell, or as ¦ after the last one while a wrap is pending. A last line has what is not on the
// rows.
func picture(s *Screen) string {
	_, rows := s.Size()
	var lines []string
	c := s.Cursor()
	last := c.Row
	for y := range rows {
		var b strings.Builder
		text := len(s.RowText(y))
		for x, n := 0, 0; x < s.t.cols; x++ {
			if y == c.Row && x == c.Col && !c.Pending {
				b.WriteString("|")
			}
			cell := s.Cell(y, x)
			if cell.Width == 0 || n >= text && (y != c.Row || x >= c.Col) {
				continue
			}
			content := cell.Content
			if content == "" {
				content = " "
			}
			b.WriteString(content)
			n += len(content)
		}
		if y == c.Row && c.Pending {
			b.WriteString("¦")
		}
		if text > 0 {
			last = max(last, y)
		}
		lines = append(lines, b.String())
	}
	out := strings.Join(lines[:last+1], "\n") + "\n"
	if r := s.TakeReplies(); r != nil {
		out += fmt.Sprintf("replies %q\n", r)
	}
	return out
}

// TestPictures plays every case of testdata/pictures. A case is a section of a txtar file: its
// first line has the size and the input, quoted as in Go; the rest is the picture.
func TestPictures(t *testing.T) {
	makeTables()
	seen := [2][]bool{watch(t, csiTable), watch(t, escTable)}
	files, err := filepath.Glob("testdata/pictures/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		sections := sectionMark.FindAllSubmatchIndex(b, -1)
		require.NotEmpty(t, sections)
		var out []byte
		for i, at := range sections {
			end := len(b)
			if i+1 < len(sections) {
				end = sections[i+1][0]
			}
			title := string(b[at[2]:at[3]])
			head, want, _ := bytes.Cut(b[at[1]:end], []byte{'\n'})
			size, quoted, _ := strings.Cut(string(head), " ")
			var cols, rows int
			_, err := fmt.Sscanf(size, "%dx%d", &cols, &rows)
			require.NoError(t, err, "%s: %s", name, title)
			in, err := strconv.Unquote(quoted)
			require.NoError(t, err, "%s: %s", name, title)
			s := New(Config{Cols: cols, Rows: rows})
			s.Feed([]byte(in))
			require.NoError(t, s.t.verify())
			require.Equal(t, [2]int{cols, rows}, [2]int{s.t.cols, s.t.rows}, "a program does not resize the terminal")
			got := picture(s)
			if *update {
				out = fmt.Appendf(out, "-- %s --\n%s\n%s", title, head, got)
				continue
			}
			require.Equal(t, string(want), got, "%s: %s", filepath.Base(name), title)
		}
		if *update {
			require.NoError(t, os.WriteFile(name, out, 0o600))
		}
	}
	for i, name := range []string{"CSI", "ESC"} {
		for n, ok := range seen[i] {
			require.True(t, ok || n == 0, "no picture has the %s function number %d", name, n)
		}
	}
}

// watch notes which operations of a table are performed during the test.
func watch(t *testing.T, tab *table) []bool {
	seen := make([]bool, len(tab.ops))
	old := append([]op(nil), tab.ops...)
	for i, o := range old {
		tab.ops[i] = func(t *terminal) {
			seen[i] = true
			o(t)
		}
	}
	t.Cleanup(func() { tab.ops = old })
	return seen
}
