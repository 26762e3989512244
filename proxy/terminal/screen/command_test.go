package screen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mark is OSC 133.
func mark(text string) string { return "\x1b]133;" + text + "\a" }

// However many commands, shells and characters there are, few are kept. The command in which others
// run is among them; testdata/pictures/command.txtar has what marks tell.
func TestCommandsAreBounded(t *testing.T) {
	const aid = ";aid=outer"
	s := fed(40, 10, mark("A"+aid)+"$ "+mark("B"+aid)+"ssh\r\n"+mark("C"+aid))
	one := mark("A") + "$ " + mark("B") + "x\r\n" + mark("C") + "y\r\n" + mark("D;0")
	s.Feed([]byte(strings.Repeat(one, 3*maxCommands)))
	require.Len(t, s.Commands(), maxCommands)
	s.Feed([]byte(mark("D;4" + aid)))
	require.Len(t, s.Commands(), 1)
	require.Equal(t, 4, s.Commands()[0].Exit)

	s.Feed([]byte(strings.Repeat(mark("A;aid=1")+mark("C;aid=1")+"x"+mark("A;aid=2")+mark("C;aid=2")+"x", 100)))
	for i := range 100 {
		s.Feed([]byte(mark(fmt.Sprintf("A;aid=n%d", i)) + mark(fmt.Sprintf("C;aid=n%d", i)) + "x"))
	}
	require.Len(t, s.t.shells, maxShells)
	require.Equal(t, "n99", s.t.shells[maxShells-1].aid)
	require.Equal(t, "1", s.t.shells[0].aid, "those that began first stay")
	require.LessOrEqual(t, len(s.Commands()), maxCommands)

	s = fed(40, 10, mark("A")+mark("B")+mark("C;cmdline_url=x"+strings.Repeat("é", maxCommandLine/2))+"out\r\n"+mark("D"))
	require.Len(t, s.Commands()[0].Line, maxCommandLine-1+len("…"))
	s.Feed([]byte(mark("A") + mark("B") + strings.Repeat("x", 2*maxCommandLine) + "\r\n" + mark("C")))
	require.Empty(t, s.Commands()[1].Line, "its beginning is not kept")
}
