package programs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// R33: a gateway that invents a start, repeats one or changes one starts nothing.
func TestTheHostStartsOnlyItsOwnAgentsProgramsR33(t *testing.T) {
	asked := protocol.ProxyStart{RequestID: "r1", Command: "vim", Args: []string{"notes.txt"}, Cwd: "/tmp"}
	for name, c := range map[string]struct {
		change func(*protocol.ProxyStart)
		good   bool
	}{
		"as asked for":  {func(*protocol.ProxyStart) {}, true},
		"made up":       {func(m *protocol.ProxyStart) { m.RequestID = "a-1:r2" }, false},
		"other program": {func(m *protocol.ProxyStart) { m.Command = "sh" }, false},
		"more words":    {func(m *protocol.ProxyStart) { m.Args = append(m.Args, "-c") }, false},
		"other place":   {func(m *protocol.ProxyStart) { m.Cwd = "/" }, false},
		"environment":   {func(m *protocol.ProxyStart) { m.Env = []string{"LD_PRELOAD=x"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Host{asked: map[string]*protocol.ProxyStart{"r1": &asked}}
			m := asked
			m.RequestID = "a-1:r1"
			c.change(&m)
			err := p.allowStart(&m)
			if !c.good {
				require.ErrorContains(t, err, "this host's agent did not ask for that program: a host starts only what its own agent asks for")
				return
			}
			require.NoError(t, err)
			require.Error(t, p.allowStart(&m), "once")
		})
	}
}

func TestProgramsAreStartedOnTheLocalGatewayOnly(t *testing.T) {
	_, err := RefusingHost{At: "wss://example.org"}.Start(t.Context(), &protocol.ProxyStart{Command: "sh"})
	require.ErrorContains(t, err, "wss://example.org")
}
