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
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the pictures in testdata; read the diff")

// sectionMark begins a section of a txtar file. inputMacro is ‹sixel›, ‹iterm› or ‹kitten›, and
// otherwise a mark of a shell: ‹D;0› is OSC 133;D;0.
var (
	sectionMark = regexp.MustCompile(`(?m)^-- (.*) --\n`)
	inputMacro  = regexp.MustCompile(`‹.*?›`)
)

// picture draws the screen: its rows without empty ones at the end, the cursor as | before its
// cell, or as ¦ after the last one while a wrap is pending. Lines below have what is not on the
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
	out := strings.Join(lines[:last+1], "\n") + "\n" + besideRows(s)
	if r := s.TakeReplies(); r != nil {
		out += fmt.Sprintf("replies %q\n", r)
	}
	return out
}

// besideRows lists links, graphics, progress and commands.
func besideRows(s *Screen) (out string) {
	for y := range s.t.rows {
		for _, l := range s.RowLinks(y) {
			out += fmt.Sprintf("link %d:%d-%d %s\n", y, l.From, l.To, l.Target)
		}
	}
	for _, p := range s.Pictures() {
		out += fmt.Sprintf("%s at %d,%d, %dx%d\n", p.Kind, p.Row, p.Col, p.Cols, p.Rows)
	}
	if p := s.Progress(); p != (Progress{}) {
		out += fmt.Sprintf("progress %v\n", p)
	}
	for _, c := range s.Commands() {
		out += fmt.Sprintf("command %q in %q", c.Line, c.Host+c.Cwd)
		if c.HasExit {
			out += fmt.Sprint(", exit ", c.Exit)
		}
		if c.Depth > 0 {
			out += fmt.Sprint(", depth ", c.Depth)
		}
		for i, on := range []bool{c.Alt, c.Erased, c.Hidden} {
			if on {
				out += []string{", alt", ", erased", ", hidden"}[i]
			}
		}
		if c.Ended.IsZero() {
			out += ", runs\n"
		} else {
			out += fmt.Sprintf(", %v: %q\n", c.Ended.Sub(c.Began), textBetween(s, c.Begin, c.End))
		}
	}
	return out
}

// textBetween returns the text between two places of the history and the screen.
func textBetween(s *Screen, from, to Place) string {
	var b strings.Builder
	for line := from.Line; line <= to.Line; line++ {
		row, i := "", int(line)-int(s.HistoryNumber())
		if i < s.HistoryLen() {
			row = s.HistoryText(i)
		} else {
			row = s.RowText(i - s.HistoryLen())
		}
		if line == to.Line {
			row = row[:min(to.Col, len(row))]
		}
		if line == from.Line {
			row = row[min(from.Col, len(row)):]
		}
		b.WriteString(row + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// acts are the words of a case beside what is fed and the sizes.
var acts = map[string]func(s *Screen) string{
	"secret":      func(s *Screen) string { s.Veil(true, false); return "" },
	"hide":        func(s *Screen) string { s.Veil(false, true); return "" },
	"secret+hide": func(s *Screen) string { s.Veil(true, true); return "" },
	"show":        func(s *Screen) string { s.Veil(false, false); return "" },
	"unveil":      func(s *Screen) string { s.Unveil(); return "" },
	"cursor-text": func(s *Screen) string { l, r := s.CursorText(); return fmt.Sprintf("cursor between %q and %q\n", l, r) },
	"history": func(s *Screen) (out string) {
		for i := range s.HistoryLen() {
			out += "^" + s.HistoryText(i)
			if s.HistoryWrapped(i) {
				out += `\`
			}
			out += "\n"
		}
		return out
	},
	"wrapped": func(s *Screen) string {
		out := "wrapped"
		for y := range s.t.rows {
			out += fmt.Sprint(" ", s.RowWrapped(y))
		}
		return out + "\n"
	},
	"styles": func(s *Screen) (out string) {
		for y := range s.t.rows {
			if row := s.AppendVeiledRowANSI(nil, y); len(row) > 0 {
				out += fmt.Sprintf("styled %d %q\n", y, row)
			}
		}
		return out
	},
}

// playCase plays the head of a case: the size, with the rows of the history if there are any, and
// what happens: text that is fed, quoted as in Go, other sizes, rows by which the screen is shifted
// (as +2), and words of acts. The clock goes on by a second with each text.
func playCase(t *testing.T, title, head string, feed func(s *Screen, p []byte)) string {
	t.Helper()
	size, rest, _ := strings.Cut(head, " ")
	var c Config
	size, scrollback, _ := strings.Cut(size, "+")
	c.Scrollback, _ = strconv.Atoi(scrollback)
	_, err := fmt.Sscanf(size, "%dx%d", &c.Cols, &c.Rows)
	require.NoError(t, err, title)
	now := time.Unix(1000, 0)
	c.Now = func() time.Time { return now }
	s := New(c)
	told := ""
	for rest = strings.TrimLeft(rest, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			rest = rest[len(quoted):]
			in, err := strconv.Unquote(quoted)
			require.NoError(t, err, title)
			feed(s, []byte(inputMacro.ReplaceAllStringFunc(in, expandMacro)))
			cols, rows := s.Size()
			require.Equal(t, [2]int{c.Cols, c.Rows}, [2]int{cols, rows}, "a program does not resize the terminal")
			now = now.Add(time.Second)
			continue
		}
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		if act, ok := acts[word]; ok {
			told += act(s)
		} else if by, err := strconv.Atoi(word); err == nil {
			s.ShiftRows(by)
		} else {
			_, err := fmt.Sscanf(word, "%dx%d", &c.Cols, &c.Rows)
			require.NoError(t, err, "%s: %q", title, word)
			s.Resize(c.Cols, c.Rows)
		}
		require.NoError(t, s.t.verify(), title)
	}
	require.NoError(t, s.t.verify(), title)
	return picture(s) + told
}

func expandMacro(name string) string {
	switch name = strings.Trim(name, "‹›"); name {
	case "sixel":
		return "\x1bP0;1;0q\"1;1;80;96#0;2;0;0;0#0!80~-\x1b\\"
	case "iterm":
		return "\x1b]1337;File=name=YQ==;size=4;width=12;height=3;inline=1:QUFBQQ==\a"
	case "kitten":
		return "\x1b_Ga=T,f=100,i=7,c=10,r=2;QUFBQQ==\x1b\\"
	}
	return "\x1b]133;" + name + "\a"
}

// TestPictures plays every case of testdata/pictures, whole and byte by byte. A case is a section
// of a txtar file: its first line is played, and goes on in the next one after a \; the rest is the
// picture.
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
			title := filepath.Base(name) + ": " + string(b[at[2]:at[3]])
			head, want, _ := bytes.Cut(b[at[1]:end], []byte{'\n'})
			for more := head; bytes.HasSuffix(more, []byte(` \`)); {
				more, want, _ = bytes.Cut(want, []byte{'\n'})
				head = append(append(head[:len(head):len(head)], '\n'), more...)
			}
			played := strings.ReplaceAll(string(head), " \\\n", " ")
			got := playCase(t, title, played, (*Screen).Feed)
			if *update {
				out = fmt.Appendf(out, "-- %s --\n%s\n%s", b[at[2]:at[3]], head, got)
				continue
			}
			require.Equal(t, string(want), got, title)
			require.Equal(t, got, playCase(t, title, played, feedBytes), "%s: byte by byte", title)
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

func feedBytes(s *Screen, p []byte) {
	for i := range p {
		s.Feed(p[i : i+1])
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
