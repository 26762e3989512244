package screen

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wholeRows are sequences that rows may defer, and others that interact with them.
var wholeRows = []string{
	"\x1b[%d @", "\x1b[%d A", "\x1b[%d'}", "\x1b[%d'~", "\x1b6", "\x1b9", "\x1b[?%dJ", "\x1b[?%dK", "\x1b[${", "\x1b[;%d${", "\x1b[2;%d;3;9${",
	"\x1b[$t", "\x1b[;%d$t", "\x1b[;;;;%d$t", "\x1b[;;;;4;4$t", "\x1b[;;;;3%d$r", "\x1b[;;;;%d$r", "\x1b[;%d;;;0$r", "\x1b[;;;;4:3;48;5;%d$r", "\x1b[;;;;24;58;5;%d$r",
	"x", "漢", "e\u0301", "\n", "\x1b[%dS", "\x1b[%dL", "\x1b[%d@", "\x1b[%dP", "\x1b[%dX", "\x1b[K", "\x1b[2J", "\x1b[65;;%d$x", "\x1b[;;;;;%d$v", "\x1b[%d;%dH",
	"\x1b[4%dm", "\x1b[m", "\x1b[1\"q", "\x1b[0\"q", "\x1b[2*x", "\x1b[0*x", "\x1b[?69h\x1b[2;%ds", "\x1b[?69l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[4:%dm", "abcdefgh漢字xyz",
}

// Deferred changes have the same result as immediate ones.
func TestDeferredRows(t *testing.T) {
	const seeds = 4000
	for seed := range int64(seeds) {
		r := rand.New(rand.NewSource(seed))
		c := Config{Cols: 1 + r.Intn(14), Rows: 1 + r.Intn(5), Scrollback: r.Intn(20)}
		later, atOnce := New(c), New(c)
		var all strings.Builder
		for range 40 {
			p := wholeRows[r.Intn(len(wholeRows))]
			for strings.Contains(p, "%d") {
				p = strings.Replace(p, "%d", fmt.Sprint(r.Intn(10)), 1)
			}
			p = strings.Repeat(p, 1+r.Intn(3))
			all.WriteString(p)
			later.Feed([]byte(p))
			atOnce.Feed([]byte(p))
			atOnce.t.eachGrid(func(g *grid) {
				for y := range g.rows {
					g.at(y)
				}
			})
			require.NoError(t, later.t.verify(), "seed %d: %q", seed, all.String())
		}
		if r.Intn(2) == 0 {
			later.Resize(9, 4)
			atOnce.Resize(9, 4)
		}
		require.Equal(t, dump(atOnce), dump(later), "seed %d: %q", seed, all.String())
		require.Equal(t, historyCells(atOnce), historyCells(later), "seed %d: %q", seed, all.String())
	}
}

// DECCARA and DECRARA change a style as SGR and reversing do, one after the other or both at once.
func TestChangesOfStyles(t *testing.T) {
	s := New(Config{Cols: 10, Rows: 2})
	tt := &s.t
	var changes []change
	looks := []style{{}, {fg: Indexed(3), bg: RGB(1, 2, 3), ul: Indexed(5), attrs: Bold | Blink | Protected, underline: CurlyUnderline, link: 7}, {attrs: ^Attr(0), underline: SingleUnderline}}
	for _, p := range []string{
		"0", "1", "2", "4", "4:3", "4:0", "5", "6", "7", "8", "9", "21", "22", "24", "25", "27", "28", "31", "39", "45", "49", "53", "55", "59", "92", "101", "38;5;9",
		"48;2;1;2;3", "58;5;4", "1;22", "0;1;31", "99", "4:9", "38;5", "7;27;4;24;4",
	} {
		tt.parse.clear()
		for _, b := range []byte(p) {
			tt.parse.params.add(b)
		}
		c := tt.rendition(0)
		changes = append(changes, c, tt.reversal(0))
		for _, look := range looks {
			want := tt.rendered(look, 0)
			want.attrs |= look.attrs & veiled
			require.Equal(t, want, c.of(look), "%s: %+v", p, look)
		}
	}
	for i := range changes {
		for j := range changes {
			both := changes[i].then(&changes[j])
			for _, look := range looks {
				require.Equal(t, changes[j].of(changes[i].of(look)), both.of(look), "%+v then %+v: %+v", changes[i], changes[j], look)
			}
		}
	}
	bold := style{attrs: Bold, underline: DoubleUnderline}
	all := noChange
	for _, want := range []style{{attrs: Blink | Inverse}, {attrs: Bold, underline: SingleUnderline}, {attrs: Blink | Inverse}} {
		tt.parse.clear()
		c := tt.reversal(0)
		all = all.then(&c)
		require.Equal(t, want, all.of(bold))
	}
}
