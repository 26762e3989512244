package screen

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scroll between side margins moves what stands between them, and nothing else.
func TestScrollsBetweenSideMargins(t *testing.T) {
	const (
		text  = "abcdef\r\nghijkl\r\nmnopqr\r\nstuvwx"
		sides = "\x1b[?69h\x1b[2;4s"
	)
	for _, c := range []struct{ name, bytes, want string }{
		{"line feed", text + sides + "\x1b[4;2H\n", "ahijef/gnopkl/mtuvqr/s   wx"},
		{"line feed and text in turns", text + sides + "\x1b[4;2H\n1\n2\n3", "atuvef/g1  kl/m 2 qr/s  3wx"},
		{"line feed right of the margin", text + sides + "\x1b[4;6H\n", "abcdef/ghijkl/mnopqr/stuvwx"},
		{"reverse index", text + sides + "\x1b[1;2H\x1bM", "a   ef/gbcdkl/mhijqr/snopwx"},
		{"there and back", text + sides + "\x1b[S\x1b[T", "a   ef/ghijkl/mnopqr/stuvwx"},
		{"scroll beyond all rows", text + sides + "\x1b[9S", "a   ef/g   kl/m   qr/s   wx"},
		{"insert a row", text + sides + "\x1b[2;3H\x1b[L", "abcdef/g   kl/mhijqr/snopwx"},
		{"delete two rows", text + sides + "\x1b[2;3H\x1b[2M", "abcdef/gtuvkl/m   qr/s   wx"},
		{"top and bottom margins", text + sides + "\x1b[2;3r\x1b[S", "abcdef/gnopkl/m   qr/stuvwx"},
		{"two pairs of margins", text + sides + "\x1b[S\x1b[3;5s\x1b[S", "ahopkf/gnuvql/mt  wr/s    x"},
		{"then whole rows", text + sides + "\x1b[S\x1b[?69l\x1b[S", "gnopkl/mtuvqr/s   wx/"},
		{"whole rows between", text + sides + "\x1b[S\x1b[s\x1b[S\x1b[2;4s\x1b[S", "gtuvkl/m   qr/s   wx/"},
		{"text wraps", text + sides + "\x1b[4;2H123456", "ahijef/gnopkl/m123qr/s456wx"},
		{"insert mode", text + sides + "\x1b[S\x1b[4h\x1b[1;2H1", "a1hief/gnopkl/mtuvqr/s   wx"},
		{"repetition", text + sides + "\x1b[4;2H1\x1b[5b", "ahijef/gnopkl/m111qr/s111wx"},
		{"columns move, too", text + sides + "\x1b[1;2H\x1b[S\x1b[ @\x1b[S", "aop ef/guv kl/m   qr/s   wx"},
		{"an area is copied over", text + sides + "\x1b[S\x1b[1;1;1;6;1;2;1$v", "ahijef/ahijef/mtuvqr/s   wx"},
		{"wide at the left margin", "漢cdef\r\nghijkl" + sides + "\x1b[1;2r\x1b[S", " hijef/g   kl//"},
		{"wide at the right margin", "abc漢f\r\nghijkl" + sides + "\x1b[1;2r\x1b[S", "ahij f/g   kl//"},
		{"wide within", "a漢def\r\nghijkl" + sides + "\x1b[1;2r\x1b[T", "a   ef/g漢dkl//"},
	} {
		s := New(Config{Cols: 6, Rows: 4})
		s.Feed([]byte(c.bytes))
		require.NoError(t, s.t.verify(), c.name)
		rows := make([]string, 4)
		for y := range rows {
			rows[y] = s.RowText(y)
		}
		require.Equal(t, c.want, strings.Join(rows, "/"), "%s: %q", c.name, c.bytes)
	}
}

// A line that wraps ends where a part of its rows moves, by however many rows.
func TestSideMarginsEndLines(t *testing.T) {
	for n := 1; n <= 5; n++ {
		atOnce, oneByOne := New(Config{Cols: 6, Rows: 4}), New(Config{Cols: 6, Rows: 4})
		const text = "0123456789abcdefghijklm\x1b[?69h\x1b[2;4s"
		atOnce.Feed(fmt.Appendf(nil, "%s\x1b[%dS", text, n))
		oneByOne.Feed([]byte(text + strings.Repeat("\x1b[S", n)))
		for y := range 4 {
			require.False(t, atOnce.RowWrapped(y), "row %d", y)
		}
		require.Equal(t, dump(oneByOne), dump(atOnce), n)
	}
}

// What was hidden as it was printed stays hidden where it is moved to, as does its look.
func TestSideMarginsKeepLooks(t *testing.T) {
	s := New(Config{Cols: 6, Rows: 3})
	s.Feed([]byte("abcdef\r\n\x1b]8;;http://a\x1b\\gh\x1b]8;;\x1b\\"))
	s.Veil(true, false)
	s.Feed([]byte("\x1b[31mij"))
	s.Veil(false, false)
	s.Feed([]byte("\x1b[mkl\x1b[?69h\x1b[2;4s\x1b[42m\x1b[S"))
	require.Equal(t, "ah  ef", s.RowText(0))
	require.Equal(t, "a\x1b]8;;http://a\x1b\\h\x1b]8;;\x1b\\\x1b[0;31mij\x1b[0mef", string(s.AppendRowANSI(nil, 0)))
	require.Equal(t, "http://a", s.Cell(0, 1).Style.Link)
	require.Equal(t, Indexed(2), s.Cell(2, 1).Style.Bg)
	require.Equal(t, Color(0), s.Cell(2, 0).Style.Bg)
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
		require.Len(t, seen.allCells(), 5)
		require.NoError(t, unseen.t.verify())
	}
	require.Less(t, len(unseen.t.clusters.texts), 2*firstClusterLimit, "swept")
	require.Less(t, len(unseen.t.styles.list), 2*firstStyleLimit, "swept")
	require.Equal(t, dump(seen), dump(unseen))
}

// partPieces are what FuzzSideMargins is made of: scrolls, and what comes between them.
var partPieces = []string{
	"\n", "\x1bD", "\x1bM", "\x1b[%dS", "\x1b[%dT", "\x1b[%dL", "\x1b[%dM", "\x1b[9;9H", "\x1b[%d;%dH",
	"\x1b[%d;%dr", "\x1b[?69h\x1b[%d;%ds", "\x1b[?69h\x1b[2s", "\x1b[?69h\x1b[3;7s", "\x1b[?69l", "x", "漢",
	"e\u0301", "\x1b[%db", "abcdefgh漢字xyz", "\r\n", "\x1b[4h", "\x1b[4l", "\x1b[%d@", "\x1b[%dP", "\x1b[%dX",
	"\x1b[K", "\x1b[2J", "\x1b[4%dm", "\x1b[m", "\x1b]8;;http://a\x1b\\", "\x1b]8;;\x1b\\", "\x1b[$t",
	"\x1b[;%d$t", "\x1b[%d @", "\x1b[%d'}", "\x1b[;;;;;%d$v", "\x1b[2;2;3;5;;%d;%d$v", "\x1b[65;2;2;3;5$x",
	"\x1b[1\"q", "\x1b[?2J", "\x1b[?1049h", "\x1b[?1049l", "\x1b#8", "\x1b[?6h", "\x1b[?6l",
}

// FuzzSideMargins plays sequences on two screens. The first is looked at in the end only. The
// second is looked at all the time, and what it shows after a scroll is made from what it showed
// before, cell by cell.
func FuzzSideMargins(f *testing.F) {
	for seed := range int64(1500) {
		data := make([]byte, 100)
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
		c := Config{Cols: 1 + pick(12), Rows: 1 + pick(8), Scrollback: pick(20)}
		unseen, seen := New(c), New(c)
		for len(data) > 0 {
			p := partPieces[pick(len(partPieces))]
			for strings.Contains(p, "%d") {
				p = strings.Replace(p, "%d", fmt.Sprint(pick(10)), 1)
			}
			if hidden := pick(20); hidden < 3 {
				unseen.Veil(hidden == 1, hidden == 2)
				seen.Veil(hidden == 1, hidden == 2)
			}
			before := seen.allCells()
			want := seen.t.scrolledParts(before, p)
			unseen.Feed([]byte(p))
			seen.Feed([]byte(p))
			if want != nil {
				require.Equal(t, want, seen.allCells(), "%q", p)
			}
			require.NoError(t, unseen.t.verify(), "%q", p)
		}
		if pick(2) == 0 {
			unseen.Resize(9, 4)
			seen.Resize(9, 4)
		}
		require.Equal(t, dump(seen), dump(unseen))
		require.Equal(t, seen.t.grid.revs, unseen.t.grid.revs)
		require.Equal(t, historyCells(seen), historyCells(unseen))
		for y := range seen.t.rows {
			require.Equal(t, seen.AppendVeiledRowANSI(nil, y), unseen.AppendVeiledRowANSI(nil, y))
		}
	})
}

func (s *Screen) allCells() (rows [][]paintedCell) {
	for y := range s.t.rows {
		rows = append(rows, paintedCells(s, y))
	}
	return rows
}

// scrolledParts returns the cells after a sequence that scrolls between side margins, and nil for
// any other.
func (t *terminal) scrolledParts(before [][]paintedCell, p string) [][]paintedCell {
	y, n, isBetween := t.top, 1, t.x >= t.left && t.x <= t.right
	_, _ = fmt.Sscanf(p, "\x1b[%d", &n)
	switch n = max(n, 1); {
	case p == "\n" || p == "\x1bD":
		isBetween = isBetween && t.y == t.bottom
	case p == "\x1bM":
		isBetween, n = isBetween && t.y == t.top, -1
	case p[len(p)-1] == 'S':
		isBetween = true
	case p[len(p)-1] == 'T':
		isBetween, n = true, -n
	case p[len(p)-1] == 'M':
		isBetween, y = t.inMargins(), t.y
	case p[len(p)-1] == 'L':
		isBetween, y, n = t.inMargins(), t.y, -n
	default:
		return nil
	}
	if t.fullWidth() || !isBetween {
		return nil
	}
	split := make([][]paintedCell, len(before))
	for i, r := range before {
		split[i] = slices.Clone(r)
		for _, x := range []int{t.left, t.right + 1} {
			if i >= y && i <= t.bottom && x > 0 && x < t.cols && cell(r[x].content).isTail() {
				split[i][x-1].content, split[i][x].content = 0, 0
			}
		}
	}
	after := make([][]paintedCell, len(before))
	for i := range after {
		after[i] = slices.Clone(split[i])
		for x := t.left; i >= y && i <= t.bottom && x <= t.right; x++ {
			after[i][x] = paintedCell{style: style{bg: t.pen.bg}}
			if from := i + n; from >= y && from <= t.bottom {
				after[i][x] = split[from][x]
			}
		}
	}
	return after
}
