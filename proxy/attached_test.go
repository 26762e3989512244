package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/detached/headless"
	"terminalproxy/proxy/terminal/screen"
)

// reader shows what it reads, byte for byte, without the terminal's echo.
const reader = `stty -icanon -echo -isig min 1; echo ready; exec cat -v`

// attachedTo starts a session with a person attached.
func attachedTo(t *testing.T, command string, args ...string) (g *fakeGateway, p *fakePeer, id string) {
	t.Helper()
	t.Parallel() // it waits more than it computes
	g = newFakeGateway(t)
	g.run(headless.Config{})
	p, id = g.startProgram(starting(command, args...))
	p.waitForText("ready")
	p.attaches(id, 90, 30)
	return g, p, id
}

func (p *fakePeer) attaches(id string, cols, rows int) {
	p.t.Helper()
	p.send(&protocol.Attach{RequestID: "v-1:a", SessionID: id, ViewerID: "v-1", Cols: cols, Rows: rows})
	require.Equal(p.t, "v-1:a", hear[*protocol.Done](p, nil).RequestID)
}

func (p *fakePeer) types(id, keys string) {
	p.t.Helper()
	p.send(&protocol.ViewerInput{SessionID: id, ViewerID: "v-1", DataB64: []byte(keys)})
}

// requestControl lets the agent ask for the keyboard, and waits until the user sees that.
func (p *fakePeer) requestControl(id, request string) {
	p.t.Helper()
	p.send(&protocol.ControlRequest{RequestID: request, SessionID: id, AgentID: "a-1", AgentName: "claude", Level: protocol.LevelDrive, Why: "go on"})
	hear(p, func(m *protocol.Snapshot) bool { return m.Keyboard.Asking == "claude" })
}

// startWait makes the agent wait for the user's answer, and waitResult returns what that wait was
// told.
func (p *fakePeer) startWait(id, request string) {
	p.send(&protocol.Wait{RequestID: request, SessionID: id, AgentID: "a-1", Until: protocol.Until{Control: true}, TimeoutMs: 20_000})
}

func (p *fakePeer) waitResult(request string) string {
	p.t.Helper()
	return hear(p, func(m *protocol.WaitResult) bool { return m.RequestID == request }).Matched
}

func (p *fakePeer) revoked(why protocol.Reason) {
	p.t.Helper()
	require.Equal(p.t, why, hear[*protocol.ControlRevoke](p, nil).Reason)
}

func TestAPersonsKeyTakesTheKeyboard(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", reader)
	p.types(id, "hello")
	p.waitForText("hello")
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonReclaimed)
	p.send(&protocol.Input{RequestID: "a-1:i", SessionID: id, AgentID: "a-1", Data: "agent"})
	refused := hear[*protocol.InputResult](p, nil)
	require.Equal(t, protocol.StatusRefused, refused.Status)
	require.Equal(t, protocol.ReasonReclaimed, refused.Ended)
	p.types(id, "mine")
	p.waitForText("hellomine")

	p.requestControl(id, "a-1:q")
	p.send(&protocol.Detach{SessionID: id, ViewerID: "v-1"})
	p.revoked(protocol.ReasonExpired) // no one is left to answer
	p.send(&protocol.ControlRequest{RequestID: "a-2:q", SessionID: id, AgentID: "a-2", AgentName: "codex", Level: protocol.LevelDrive, Why: "me too"})
	require.Contains(t, hear[*protocol.Error](p, nil).Message, "gateway attach "+id)
	p.send(&protocol.ControlRequest{RequestID: "a-1:r", SessionID: id, AgentID: "a-1", AgentName: "claude", Level: protocol.LevelDrive, Why: "go on"})
	require.Equal(t, "a-1:r", hear[*protocol.ControlGrant](p, nil).RequestID)
	p.types(id, "gone")
	p.send(&protocol.Input{RequestID: "a-1:j", SessionID: id, AgentID: "a-1", Data: "agent"})
	p.waitForText("hellomineagent")
}

// R62: the model has answered; a viewer's terminal's answer to the same question is dropped.
func TestAViewersTerminalDoesNotAnswerR62(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", `stty -icanon -echo -isig min 1; printf '\033[c\033[6n'; echo ready; exec cat -v`)
	p.types(id, "\x1b[?62;22c\x1b[?2026;2$y\x1bP>|xterm(398)\x1b\\")
	p.types(id, "z")
	p.waitForText("^[[?64;1;6;18;21;22;28c^[[1;1Rz")
}

func TestLiveOutputFollowsARepaint(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", reader)
	p.types(id, "before")
	p.waitForText("before")
	p.send(&protocol.Watch{SessionID: id})
	first := hear[*protocol.Output](p, nil)
	require.True(t, first.Repaint)
	require.Equal(t, []int{90, 30}, []int{first.Cols, first.Rows})
	model := screen.New(screen.Config{Cols: first.Cols, Rows: first.Rows})
	model.Feed(first.DataB64)
	require.Equal(t, "before", model.RowText(1))
	at := first.Seq
	next := func() *protocol.Output {
		return hear(p, func(m *protocol.Output) bool {
			if !m.Repaint {
				require.Equal(t, at, m.Seq)
				at += uint64(len(m.DataB64))
				model.Feed(m.DataB64)
			}
			return true
		})
	}
	p.types(id, " and after")
	for model.RowText(1) != "before and after" {
		next()
	}

	// The window got smaller; the repaint may come before the answer.
	p.send(&protocol.Attach{RequestID: "v-1:b", SessionID: id, ViewerID: "v-1", Cols: 50, Rows: 10})
	wider := hear(p, func(m *protocol.Output) bool { return m.Repaint && m.Cols == 50 })
	require.Equal(t, 10, wider.Rows)
}

// A person sees all of what they do; a viewer who detaches leaves the size as it is.
func TestTheSizeFollowsTheLastActivity(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", reader) // v-1: 90x30
	sized := func(cols, rows int) {
		t.Helper()
		for p.size != [2]int{cols, rows} { // it may have come before the last message that was waited for
			hear[*protocol.Resize](p, nil)
		}
	}
	types := func(viewer, keys string) {
		t.Helper()
		p.send(&protocol.ViewerInput{SessionID: id, ViewerID: viewer, DataB64: []byte(keys)})
	}
	sized(90, 30)
	p.send(&protocol.Attach{RequestID: "v-2", SessionID: id, ViewerID: "v-2", Cols: 60, Rows: 20})
	sized(60, 20)
	types("v-1", "\x1b[?62;22c\x1b[I") // what a terminal sends by itself
	types("v-2", "a")
	p.waitForText("a")
	require.Equal(t, [2]int{60, 20}, p.size)
	types("v-1", "b")
	sized(90, 30)
	types("v-2", "\x1c")
	sized(60, 20)
	p.send(&protocol.Detach{SessionID: id, ViewerID: "v-2"})
	sized(90, 30)
}
