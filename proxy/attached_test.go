package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/detached/headless"
)

func (p *fakePeer) attaches(id string, cols, rows int) {
	p.t.Helper()
	p.send(&protocol.Attach{RequestID: "v-1:a", SessionID: id, ViewerID: "v-1", Cols: cols, Rows: rows})
	require.Equal(p.t, "v-1:a", hear[*protocol.Done](p, nil).RequestID)
}

func (p *fakePeer) types(id, keys string) {
	p.t.Helper()
	p.send(&protocol.ViewerInput{SessionID: id, ViewerID: "v-1", DataB64: []byte(keys)})
}

// attachedTo starts a program that prints setup and shows what it reads, with a person attached.
func attachedTo(t *testing.T, setup string) (p *fakePeer, id string) {
	t.Helper()
	t.Parallel() // it waits more than it computes
	g := newFakeGateway(t)
	g.run(headless.Config{})
	p, id = g.startProgram(starting("sh", "-c",
		"stty -icanon -echo -isig min 1; printf '"+setup+"'; echo ready; exec cat -v"))
	p.waitForText("ready")
	p.attaches(id, 90, 30)
	return p, id
}

// R62: the model has answered; a viewer's terminal's answer to the same question is dropped.
func TestAViewersTerminalDoesNotAnswerR62(t *testing.T) {
	p, id := attachedTo(t, `\033[c\033[6n`)
	p.types(id, "\x1b[?62;22c\x1b[?2026;2$y\x1bP>|xterm(398)\x1b\\")
	p.types(id, "z")
	p.waitForText("^[[?64;1;6;18;21;22;28c^[[1;1Rz")
}

// A click leaves nothing on the line that the agent began.
func TestTheMouseLeavesNothingOnTheLine(t *testing.T) {
	p, id := attachedTo(t, `\033[?1000;1006h`)
	for _, m := range []*protocol.Input{
		{RequestID: "a-1:1", Data: "ab"},
		{RequestID: "a-1:2", InputKind: protocol.InputMouse, Data: "click", At: &protocol.Cell{}},
	} {
		m.SessionID, m.AgentID = id, "a-1"
		p.send(m)
		require.Equal(t, protocol.StatusWritten, hear[*protocol.InputResult](p, nil).Status)
	}
	p.types(id, "\x1c")
	require.Equal(t, 2, hear[*protocol.ControlRevoke](p, nil).UnsubmittedBytes)
}
