package screen

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A row with one cell of another style comes back from the history unchanged, for any numbers of
// the two styles and any place of the cell. So a cell hidden from agents stays hidden among visible
// ones.
func TestOneCellOfAnotherStyle(t *testing.T) {
	const styles, cells = 9, 27
	for most := range styles {
		for other := range styles {
			for at := range cells {
				s := New(Config{Cols: 40, Rows: 2, Scrollback: 4})
				for id := 1; id < styles; id++ { // the styles get their numbers
					s.Feed(fmt.Appendf(nil, "\x1b[38;5;%dm.", id))
				}
				s.Feed([]byte("\x1b[H\x1b[m\x1b[2J"))
				var want []string
				for x := range cells {
					id := most
					if x == at {
						id = other
					}
					style := "\x1b[m"
					if id > 0 {
						style = fmt.Sprintf("\x1b[38;5;%dm", id)
					}
					s.Feed([]byte(style + "x"))
					want = append(want, fmt.Sprintf("78 %v", s.t.styles.list[id]))
				}
				s.Feed([]byte("\r\n\r\n\r\n"))
				require.Equal(t, want, historyCells(s)[0], "style %d in column %d, %d elsewhere", other, at, most)
			}
		}
	}
}
