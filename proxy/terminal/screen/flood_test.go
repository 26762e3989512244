package screen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// Lines taken together have the same result as lines one by one.
func TestFlood(t *testing.T) {
	numbers := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, before, lines string
		taken               bool
	}{
		{"plain", "", numbers(50, "line %d\r\n"), true},
		{"more than fit in one step", "", numbers(maxFlood+90, "%d\r\n"), true},
		{"just enough", "\n\n\n", numbers(5, "%d\r\n"), true},
		{"one too few", "\n\n\n", numbers(4, "%d\r\n"), false},
		{"empty lines and blanks at the end", "", numbers(30, "%d  \r\n\r\n"), true},
		{"in a style", "\x1b[1;31m", numbers(30, "%d  \r\n\r\n"), true},
		{"as wide as the screen", "", numbers(30, "%010d\r\n"), true},
		{"wider than the screen", "", numbers(30, "%011d\r\n"), true},
		{"much wider than the screen", "", numbers(30, "%032d   \r\n"), true},
		{"wide without wrap-around", "\x1b[?7l", numbers(30, "%011d\r\n"), false},
		{"wide and then not ended", "", numbers(30, "%025d\r\n") + "012345678901234567890123", true},
		{"below wide characters", "漢漢\r\n漢\r\n", numbers(30, "%d\r\n"), true},
		{"below a line that wraps", "0123456789abc", numbers(30, "%d\r\n"), true},
		{"then a line that is not ended", "", numbers(30, "%d\r\n") + "$ ", true},
		{"then colours", "", numbers(30, "%d\r\n") + "\x1b[31mred" + numbers(30, "%d\r\n"), true},
		{"then a combining mark", "", numbers(30, "%d\r\n") + "\u0301x", true},
		{"then a repetition", "", numbers(30, "%d\r\n") + "\x1b[3b", true},
		{"with a background", "\x1b[41m", numbers(30, "%d\r\n"), false},
		{"with margins", "\x1b[1;3r", numbers(30, "%d\r\n"), false},
		{"with side margins", "\x1b[?69h\x1b[2;5s", numbers(30, "%d\r\n"), false},
		{"on the alternate screen", "\x1b[?1049h", numbers(30, "%d\r\n"), false},
		{"in insert mode", "\x1b[4h", numbers(30, "%d\r\n"), false},
		{"in DEC graphics", "\x1b(0", numbers(30, "%d\r\n"), false},
		{"without wrap-around", "\x1b[?7l", numbers(30, "%d\r\n"), true},
	} {
		for _, scrollback := range []int{0, 7, 1000} {
			t.Run(fmt.Sprintf("%s, history %d", c.name, scrollback), func(t *testing.T) {
				var heardWhole, heardParts heard
				whole := New(Config{Cols: 10, Rows: 4, Scrollback: scrollback, Text: &heardWhole})
				parts := New(Config{Cols: 10, Rows: 4, Scrollback: scrollback, Text: &heardParts})
				whole.Feed([]byte(c.before))
				rev := whole.Rev()
				whole.Feed([]byte(c.lines))
				for _, b := range []byte(c.before + c.lines) {
					parts.Feed([]byte{b})
				}
				require.NoError(t, whole.t.verify())
				require.Equal(t, dump(parts), dump(whole))
				require.Equal(t, heardParts.String(), heardWhole.String())
				if c.taken {
					require.Len(t, changedSince(whole, rev), 4)
				}
				whole.Resize(7, 5)
				parts.Resize(7, 5)
				require.Equal(t, dump(parts), dump(whole))
				require.Equal(t, c.taken, whole.t.flood.taken > 0)
				require.Zero(t, parts.t.flood.taken)
			})
		}
	}
}
