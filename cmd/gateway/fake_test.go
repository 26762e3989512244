package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/gateway/local"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// asProgram makes the test binary the gateway command, for tests that need a process.
const asProgram = "GATEWAY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	if filepath.Base(os.Args[0]) == "claude" {
		playClaude()
		return
	}
	goleak.VerifyTestMain(m, fake.Lingering())
}

// isolate gives a test its own runtime directory, state directory and environment.
func isolate(t *testing.T) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "gw") //nolint:usetesting // t.TempDir's path is too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	t.Setenv("TERMINALPROXY_DIR", dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("TERMINALPROXY_SESSION", "")
	t.Setenv("PROXY_GATEWAY", "")
	t.Setenv("PROXY_TOKEN_FILE", "")
	return dir
}

// setForTest changes a variable until the test ends.
func setForTest[T any](t *testing.T, variable *T, value T) {
	t.Helper()
	before := *variable
	*variable = value
	t.Cleanup(func() { *variable = before })
}

// result is a command's output and exit status.
type result struct {
	status   int
	out, err string
}

func command(t *testing.T, args ...string) result {
	t.Helper()
	return commandWithInput(t, "", args...)
}

// runFailing runs a command that must end with a status and a sentence.
func runFailing(t *testing.T, status int, say string, args ...string) {
	t.Helper()
	command(t, args...).mustFail(t, status, say)
}

func (r result) mustFail(t *testing.T, status int, say string) {
	t.Helper()
	require.Equal(t, status, r.status, r.err)
	require.Contains(t, r.err, say)
}

func commandWithInput(t *testing.T, in string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fake.Soon)
	defer cancel()
	var out, errw bytes.Buffer
	status := run(ctx, args, io.NopCloser(strings.NewReader(in)), &out, &errw)
	return result{status, out.String(), errw.String()}
}

// terminal is a scripted proxy with one session. Typed text goes into row 2; Enter runs it.
type terminal struct {
	id     string
	decide func(*protocol.ControlRequest) protocol.Message // nil grants

	mu    sync.Mutex
	lines []string
	seq   uint64
	state protocol.Keyboard
	typed []string
	bye   []string // notes of releases
	// decided are an owner's decisions.
	decided []*protocol.ControlDecide
	// said are messages; waiting sets what happens to them.
	said    []*protocol.Note
	waiting protocol.Waiting

	// asked and cancelled receive the ids of waits for the program's end, which never comes; they
	// may be nil.
	asked, cancelled chan string
}

// shareTerminal publishes the only session of the local gateway, for a test that runs alone.
func shareTerminal(t *testing.T) *terminal {
	t.Helper()
	p := &terminal{id: "sh-1"}
	p.shareIn(t, isolate(t))
	return p
}

// shareIn publishes the terminal in the local gateway of dir until the test ends.
func (p *terminal) shareIn(t *testing.T, dir string) {
	t.Helper()
	own := local.New(dir, nil)
	p.publish(t, "ws://localhost", own.Dial, "")
	t.Cleanup(func() { require.NoError(t, own.Close()) })
}

func (p *terminal) publish(t *testing.T, base string, dial fake.Dialer, token string) {
	t.Helper()
	p.lines, p.seq, p.state = []string{"$ ", "", ""}, 1, protocol.Keyboard{Holder: protocol.HolderUser}
	header := map[string][]string{}
	if token != "" {
		header["Authorization"] = []string{"Bearer " + token}
	}
	ws, resp, err := dial.Connect(t.Context(), base+protocol.PathProxy, header)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	ended := make(chan struct{})
	require.NoError(t, ws.Send(&protocol.SessionOpen{ID: "o", SessionID: p.id, Name: "sh", Command: "sh", Args: []string{"-i"}, Cols: 40, Rows: 3, ResumeKey: "k", Mutes: true}))
	require.NoError(t, ws.Send(&protocol.Snapshot{ID: "s", SessionID: p.id, Seq: 1, Screen: &p.frame().Screen, Keyboard: &p.state}))
	// The gateway reads in order: once it answers the ping, it knows the session.
	known := make(chan struct{})
	ws.SetPongHandler(func(string) error { close(known); return nil })
	require.NoError(t, ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(fake.Soon)))
	go func() { // ends when the cleanup closes the socket
		defer close(ended)
		_ = ws.Answer(p.answer)
	}()
	t.Cleanup(func() { _ = ws.Close(); <-ended })
	select {
	case <-known:
	case <-ended:
		t.Fatal("the gateway closed the connection")
	}
}

func (p *terminal) frame() *protocol.Frame {
	return &protocol.Frame{
		Seq: p.seq, Settled: true, Keyboard: p.state,
		Screen: protocol.Screen{Cols: 40, Rows: 3, Lines: slices.Clone(p.lines), Cursor: protocol.Cursor{Visible: true}},
	}
}

func (p *terminal) answer(m protocol.Message) protocol.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m := m.(type) {
	case *protocol.Read:
		return p.read(m)
	case *protocol.Wait:
		if m.Until.Exit {
			offer(p.asked, m.RequestID)
			return nil
		}
		return p.wait(m)
	case *protocol.Cancel:
		offer(p.cancelled, m.RequestID)
	case *protocol.Input:
		return p.input(m)
	case *protocol.ControlRequest:
		if p.decide != nil {
			return p.decide(m)
		}
		p.state = protocol.Keyboard{Holder: protocol.HolderAgent, AgentID: m.AgentID, AgentName: m.AgentName, Level: m.Level, Epoch: 2}
		return &protocol.ControlGrant{ID: "g", SessionID: p.id, RequestID: m.RequestID, AgentID: m.AgentID, AgentName: m.AgentName, Level: m.Level, Epoch: 2}
	case *protocol.ControlDecide:
		p.decided = append(p.decided, m)
		return &protocol.Done{RequestID: m.RequestID}
	case *protocol.Note:
		p.said = append(p.said, m)
		return &protocol.Done{RequestID: m.RequestID, Waiting: p.waiting}
	case *protocol.ControlRelease:
		p.state = protocol.Keyboard{Holder: protocol.HolderUser, Epoch: 3}
		p.bye = append(p.bye, m.Note)
		return &protocol.ControlRevoke{ID: "v", SessionID: p.id, RequestID: m.RequestID, AgentID: m.AgentID, Reason: protocol.ReasonReleased}
	}
	return nil
}

func offer(to chan string, id string) {
	select {
	case to <- id:
	default:
	}
}

func (p *terminal) read(m *protocol.Read) protocol.Message {
	out := &protocol.ReadResult{ID: "r", RequestID: m.RequestID, SessionID: p.id, Frame: p.frame()}
	if m.Scrollback > 0 {
		out.Text = "older\x1b]0;evil\a row\n"
	}
	if m.Command > 1 {
		out.Text, out.FirstLine, out.NextLine = "cc a.c", 7, 8
		out.Command = &protocol.Command{Line: "make", Running: true, FirstLine: 5, NextLine: 9}
	}
	if m.SinceSeq > 0 {
		out.Frame.Screen.Lines, out.Frame.Since = nil, m.SinceSeq
		out.Frame.Changed = []protocol.Row{{Row: 1, Text: p.lines[1]}}
	}
	return out
}

func (p *terminal) wait(m *protocol.Wait) protocol.Message {
	met := slices.ContainsFunc(p.lines, func(l string) bool { return strings.Contains(l, m.Until.Text) })
	return &protocol.WaitResult{ID: "w", RequestID: m.RequestID, SessionID: p.id, Met: met, Frame: p.frame()}
}

func (p *terminal) input(m *protocol.Input) protocol.Message {
	out := &protocol.InputResult{ID: "i", RequestID: m.RequestID, SessionID: p.id, Status: protocol.StatusRefused}
	switch {
	case p.state.Holder != protocol.HolderAgent || p.state.AgentID != m.AgentID:
		out.Reason = protocol.CodeNoGrant
		return out
	case m.Expect != nil && m.Expect.Seq != nil && *m.Expect.Seq != p.seq:
		out.Reason, out.Frame = protocol.CodeScreenChanged, p.frame()
		return out
	}
	p.seq++
	p.typed = append(p.typed, string(m.InputKind)+" "+m.Data)
	p.lines[1] += m.Data
	if m.InputKind == protocol.InputKeys && m.Data == "enter" {
		p.lines[2] = "ran"
	}
	out.Status, out.WrittenBytes, out.Seq, out.Frame = protocol.StatusWritten, len(m.Data), p.seq, p.frame()
	return out
}
