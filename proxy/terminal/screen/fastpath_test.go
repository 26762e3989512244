package screen

import (
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// pieces are sequences that rows defer, that scroll parts of rows, that repeat and that are taken
// together, and what comes between them.
var pieces = []string{
	"x", " ", "é", "漢", "e\u0301", "─", "0123456789abcdefghij", "abcdefgh漢字xyz", "🇩🇩", "\u1100", "\n", "\r\n",
	"\x1b[%d;%dH", "\x1b[9;9H", "\b\b", "\x1bD", "\x1bM", "\x1b[%dS", "\x1b[%dT", "\x1b[%dL", "\x1b[%dM",
	"\x1b[%d@", "\x1b[%dP", "\x1b[%dX", "\x1b[%d @", "\x1b[%d A", "\x1b[%d'}", "\x1b[%d'~", "\x1b6", "\x1b9",
	"\x1b[K", "\x1b[?%dK", "\x1b[2J", "\x1b[?%dJ", "\x1b#8",
	"\x1b[%d;%dr", "\x1b[?69h\x1b[%d;%ds", "\x1b[?69h\x1b[2s", "\x1b[?69l", "\x1b[?6h", "\x1b[?6l",
	"\x1b[$t", "\x1b[;%d$t", "\x1b[;;;;%d$t", "\x1b[;;;;4;4$t", "\x1b[;;;;3%d$r", "\x1b[;;;;%d$r", "\x1b[;%d;;;0$r",
	"\x1b[;;;;4:3;48;5;%d$r", "\x1b[;;;;24;58;5;%d$r", "\x1b[65;;%d$x", "\x1b[65;2;2;3;5$x", "\x1b[${", "\x1b[;%d${",
	"\x1b[2;%d;3;9${", "\x1b[;;;;;%d$v", "\x1b[2;2;3;5;;%d;%d$v", "\x1b[2*x", "\x1b[0*x",
	"\x1b[4%dm", "\x1b[31m", "\x1b[4:%dm", "\x1b[7m", "\x1b[m", "\x1b[1\"q", "\x1b[0\"q", "\x1b]8;;http://a\x1b\\", "\x1b]8;;\x1b\\",
	"\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h", "\x1b[?2027h", "\x1b[?2027l", "\x1b(0", "\x1b(B", "\x1b[?1049h", "\x1b[?1049l",
	"x\x1b[%db", " \x1b[%db", "é\x1b[1%db", "─\x1b[3%db", "漢\x1b[%db", "q\x1b[4%db", "😀\x1b[%db",
}

var repeats = regexp.MustCompile("(.)\x1b\\[(\\d+)b$")

// printed returns p with the character itself in place of a repetition.
func printed(s *Screen, p string) string {
	m := repeats.FindStringSubmatch(p)
	if m == nil {
		return p
	}
	n := 0
	_, _ = fmt.Sscan(m[2], &n)
	r, _ := utf8.DecodeRuneInString(m[1])
	n = min(max(n, 1), s.t.cols*s.t.rows/max(s.t.widths.of(r), 1))
	return p[:len(p)-len(m[0])] + m[1] + strings.Repeat(m[1], n)
}

// FuzzFastPaths plays sequences on three screens. The first is looked at in the end only. All rows
// of the second are written after each sequence, so it defers nothing. The third gets single bytes,
// and characters in place of repetitions. All three show the same.
func FuzzFastPaths(f *testing.F) {
	for seed := range int64(1500) {
		data := make([]byte, 120)
		rand.New(rand.NewSource(seed)).Read(data) //nolint:gosec // a fixed seed
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		pick := func(n int) (k int) {
			if len(data) > 0 {
				k, data = int(data[0])%n, data[1:]
			}
			return k
		}
		c := Config{Cols: 1 + pick(14), Rows: 1 + pick(8), Scrollback: pick(20)}
		var told [3]heard
		var screens [3]*Screen
		for i := range screens {
			c.Text = &told[i]
			screens[i] = New(c)
		}
		quick, seen, slow := screens[0], screens[1], screens[2]
		var all strings.Builder
		for len(data) > 0 {
			p := pieces[pick(len(pieces))]
			for strings.Contains(p, "%d") {
				p = strings.Replace(p, "%d", fmt.Sprint(pick(10)), 1)
			}
			if n := pick(64); n < 24 {
				p = strings.Repeat("line "+fmt.Sprint(n)+"\r\n", n) + p // a flood
			}
			if hidden := pick(20); hidden < 3 {
				for _, s := range screens {
					s.Veil(hidden == 1, hidden == 2)
				}
			}
			all.WriteString(p)
			quick.Feed([]byte(p))
			seen.Feed([]byte(p))
			feedBytes(slow, []byte(printed(slow, p)))
			seen.t.eachGrid(func(g *grid) {
				for y := range g.rows {
					g.at(y)
				}
			})
			require.NoError(t, quick.t.verify(), "%q", all.String())
		}
		if pick(2) == 0 {
			for _, s := range screens {
				s.Resize(9, 4)
			}
		}
		require.Equal(t, seen.t.grid.revs, quick.t.grid.revs, "%q", all.String())
		for i, s := range screens[1:] {
			if i == 0 || !strings.Contains(all.String(), "\x1b[?69h") { // where a line begins between margins
				require.Equal(t, told[0].String(), told[i+1].String(), "%q", all.String())
			}
			require.Equal(t, dump(quick), dump(s), "%q", all.String())
			require.Equal(t, historyCells(quick), historyCells(s), "%q", all.String())
			require.Equal(t, veiledRows(quick), veiledRows(s), "%q", all.String())
		}
	})
}

// A repetition of characters that join is the same as printing them.
func TestRepeatedClusters(t *testing.T) {
	for _, before := range []string{
		"\r\n🇩", "\r\n🇩🇩", "\r\nx🇩🇩🇩", "\x1b[?7l\r\n🇩", "\x1b[?69h\x1b[2;6s\x1b[9;2H🇩🇩", "\r\n\u1100", "\u0600x", "\x1b[4h\r\n🇩🇩",
	} {
		last, _ := utf8.DecodeLastRuneInString(before)
		for n := 1; n <= 20; n++ {
			var short, long heard
			for told, text := range map[*heard]string{&short: fmt.Sprintf("\x1b[%db", n), &long: strings.Repeat(string(last), n)} {
				s := New(Config{Cols: 10, Rows: 4, Scrollback: 9, Text: told})
				s.Feed([]byte("\x1b[?2027h" + before + text))
				told.WriteString(dump(s))
			}
			require.Equal(t, long.String(), short.String(), "%q, %d times", before, n)
		}
	}
}

// heard records a TextSink's calls.
type heard struct{ strings.Builder }

func (h *heard) Print(run []byte)  { h.Write(run) }
func (h *heard) Control(c byte)    { fmt.Fprintf(h, "<%02x>", c) }
func (h *heard) Column(col int)    { fmt.Fprintf(h, "<col %d>", col) }
func (h *heard) Row(col int)       { fmt.Fprintf(h, "<row %d>", col) }
func (h *heard) Erase(mode int)    { fmt.Fprintf(h, "<erase %d>", mode) }
func (h *heard) EraseChars(n int)  { fmt.Fprintf(h, "<ech %d>", n) }
func (h *heard) InsertChars(n int) { fmt.Fprintf(h, "<ich %d>", n) }
func (h *heard) DeleteChars(n int) { fmt.Fprintf(h, "<dch %d>", n) }
func (h *heard) Clear()            { h.WriteString("<clear>") }

// historyCells returns every cell of the history, with its style.
func historyCells(s *Screen) (rows [][]string) {
	for i := range s.HistoryLen() {
		var row []string
		for _, c := range s.t.hist.at(i).appendCells(nil, &s.t.styles, &s.t.clusters) {
			row = append(row, fmt.Sprintf("%x %v", uint64(c.content()), s.t.styles.list[c.styleID()]))
		}
		rows = append(rows, row)
	}
	return rows
}

func veiledRows(s *Screen) (rows []string) {
	for y := range s.t.rows {
		rows = append(rows, string(s.AppendVeiledRowANSI(nil, y)))
	}
	return rows
}

// Parts that are apart keep their styles, links and clusters when those tables are swept.
func TestSweepsReachParts(t *testing.T) {
	c := Config{Cols: 8, Rows: 5}
	unseen, seen := New(c), New(c)
	begin := "漢字漢字\x1b[?69h\x1b[2;7s\x1b[5;2H\x1b[42m"
	unseen.Feed([]byte(begin))
	seen.Feed([]byte(begin))
	for i := range 3 * firstClusterLimit {
		p := fmt.Sprintf("\x1b]8;;http://%d\a\x1b[38;2;%d;%d;9m", i, i/256, i%256) +
			string([]rune{rune('a' + i%26), rune(0x300 + i/26%64), rune(0x300 + i/(26*64))}) +
			"\x1b]8;;\a\x1b[S\r"
		unseen.Feed([]byte(p))
		seen.Feed([]byte(p))
		require.Len(t, veiledRows(seen), 5)
		require.NoError(t, unseen.t.verify())
	}
	require.Less(t, len(unseen.t.clusters.texts), 2*firstClusterLimit, "swept")
	require.Less(t, len(unseen.t.styles.list), 2*firstStyleLimit, "swept")
	require.Equal(t, dump(seen), dump(unseen))
}

// Lines are taken together where nothing but their number counts; FuzzFastPaths compares the result.
func TestFloodsAreTakenTogether(t *testing.T) {
	lines := func(n int, format string) (all []byte) {
		for i := range n {
			all = fmt.Appendf(all, format, i)
		}
		return all
	}
	for before, taken := range map[string]bool{
		"": true, "\x1b[1;31m": true, "漢漢\r\n漢\r\n": true, "0123456789abc": true, "\x1b[?7l": true,
		"\x1b[41m": false, "\x1b[1;3r": false, "\x1b[?69h\x1b[2;5s": false, "\x1b[?1049h": false, "\x1b[4h": false, "\x1b(0": false,
	} {
		s := fed(10, 4, before)
		s.Feed(lines(maxFlood+90, "%d  \r\n\r\n"))
		require.Equal(t, taken, s.t.flood.taken > 0, "%q", before)
	}
	for text, taken := range map[string]bool{
		string(lines(5, "%d\r\n")): true, string(lines(4, "%d\r\n")): false, string(lines(30, "%032d   \r\n")): true,
		string(lines(30, "%025d\r\n")) + "012345678901234567890123": true,
	} {
		s := fed(10, 4, "\n\n\n")
		s.Feed([]byte(text))
		require.Equal(t, taken, s.t.flood.taken > 0, "%q", text)
		slow := fed(10, 4, "\n\n\n")
		feedBytes(slow, []byte(text))
		require.Equal(t, dump(slow), dump(s))
	}
}

// A program that fills a million cells with every few bytes causes no writes to cells until they
// are read.
func TestCoveredRows(t *testing.T) {
	for flood, want := range map[string]string{
		"\x1b[2J": "", "\x1b[42m\x1b[2J\x1b[41m\x1b[2J": "", "\x1b[?2J": "", "\x1b[1;1;1000;1000$z": "",
		"\x1b[1;1;1000;1000${": "", "\x1b[65;1;1;1000;1000$x": "A", "\x1b#8": "E", "\x1b[1000S": "",
	} {
		s := New(Config{Cols: 1000, Rows: 1000})
		s.Feed([]byte("\x1b[41m" + strings.Repeat(flood, 8192/len(flood))))
		for _, r := range s.t.grid.rows {
			require.False(t, slices.ContainsFunc(r.cells, func(c cell) bool { return c != 0 }), "%q", flood)
		}
		require.Equal(t, strings.Repeat(want, 1000), s.RowText(999))
		require.NoError(t, s.t.verify())
	}
}
