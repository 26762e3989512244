// Package clitest runs command lines in tests, beside a scripted proxy.
package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/cmd/internal/cli"
	settingsfile "terminalproxy/cmd/internal/config/settings"
	"terminalproxy/gateway/local"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// AsProgram makes the test binary the gateway command, for tests that need a process.
const AsProgram = "GATEWAY_TEST_AS_PROGRAM"

// tested are the commands that a package's tests run.
var tested cli.Table

// Main runs the tests of a package, which may run these commands.
func Main(m *testing.M, commands cli.Table) {
	tested = commands
	if os.Getenv(AsProgram) != "" {
		cli.Main(commands)
	}
	goleak.VerifyTestMain(m, fake.Lingering())
}

// Run runs a command line in this process.
func Run(ctx context.Context, args []string, in io.ReadCloser, out, errw io.Writer) (status int) {
	return cli.Run(ctx, tested, args, in, out, errw)
}

// Isolate gives a test its own runtime directory, state directory and environment.
func Isolate(t *testing.T) (dir string) {
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

// SetForTest changes a variable until the test ends.
func SetForTest[T any](t *testing.T, variable *T, value T) {
	t.Helper()
	before := *variable
	*variable = value
	t.Cleanup(func() { *variable = before })
}

// Result is a command's output and exit status.
type Result struct {
	Status   int
	Out, Err string
}

// Command runs a command line without input.
func Command(t *testing.T, args ...string) Result {
	t.Helper()
	return CommandWithInput(t, "", args...)
}

// RunFailing runs a command that must end with a status and a sentence.
func RunFailing(t *testing.T, status int, sentence string, args ...string) {
	t.Helper()
	Command(t, args...).MustFail(t, status, sentence)
}

// MustFail requires an exit status and a part of the error.
func (r Result) MustFail(t *testing.T, status int, sentence string) {
	t.Helper()
	require.Equal(t, status, r.Status, r.Err)
	require.Contains(t, r.Err, sentence)
}

// CommandWithInput runs a command line with this standard input.
func CommandWithInput(t *testing.T, in string, args ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fake.Soon)
	defer cancel()
	var out, errw bytes.Buffer
	status := Run(ctx, args, io.NopCloser(strings.NewReader(in)), &out, &errw)
	return Result{status, out.String(), errw.String()}
}

// Terminal is a scripted proxy with one session. Typed text goes into row 2; Enter runs it.
type Terminal struct {
	ID     string
	Decide func(*protocol.ControlRequest) protocol.Message // nil grants

	mu    sync.Mutex
	lines []string
	seq   uint64
	state protocol.Keyboard
	Typed []string
	Bye   []string // notes of released grants
	// Decided are an owner's decisions.
	Decided []*protocol.ControlDecide
	// Said are messages; waiting sets what happens to them.
	Said    []*protocol.Note
	Waiting protocol.Waiting

	// Asked and cancelled receive the ids of waits for the program's end, which never comes; they
	// may be nil.
	Asked, Cancelled chan string
}

// ShareTerminal publishes the only session of the local gateway, for a test that runs alone.
func ShareTerminal(t *testing.T) *Terminal {
	t.Helper()
	p := &Terminal{ID: "sh-1"}
	p.ShareIn(t, Isolate(t))
	return p
}

// ShareIn publishes the terminal in the local gateway of dir until the test ends.
func (p *Terminal) ShareIn(t *testing.T, dir string) {
	t.Helper()
	local := local.New(dir, nil)
	p.Publish(t, "ws://localhost", local.Dial, "")
	t.Cleanup(func() { require.NoError(t, local.Close()) })
}

// Publish opens the session at a gateway until the test ends.
func (p *Terminal) Publish(t *testing.T, base string, dial fake.Dialer, token string) {
	t.Helper()
	p.lines, p.seq, p.state = []string{
		"$ ",
		"",
		"",
	}, 1, protocol.Keyboard{Holder: protocol.HolderUser}
	header := map[string][]string{}
	if token != "" {
		header["Authorization"] = []string{"Bearer " + token}
	}
	ws, resp, err := dial.Connect(t.Context(), base+protocol.PathProxy, header)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	ended := make(chan struct{})
	require.NoError(t,
		ws.Send(&protocol.SessionOpen{
			ID:        "o",
			SessionID: p.ID,
			Name:      "sh",
			Command:   "sh",
			Args:      []string{"-i"},
			Cols:      40,
			Rows:      3,
			ResumeKey: "k",
		}))
	require.NoError(t,
		ws.Send(&protocol.Snapshot{
			ID:        "s",
			SessionID: p.ID,
			Seq:       1,
			Screen:    &p.currentFrame().Screen,
			Keyboard:  &p.state,
		}))
	// The gateway reads in order: once it answers the ping, it knows the session.
	known := make(chan struct{})
	ws.SetPongHandler(func(string) error { close(known); return nil })
	require.NoError(t, ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(fake.Soon)))
	go func() { // ends when the cleanup closes the socket
		defer close(ended)
		_ = ws.Answer(p.answerMessage)
	}()
	t.Cleanup(func() { _ = ws.Close(); <-ended })
	select {
	case <-known:
	case <-ended:
		t.Fatal("the gateway closed the connection")
	}
}

func (p *Terminal) currentFrame() *protocol.Frame {
	return &protocol.Frame{
		Seq: p.seq, Settled: true, Keyboard: p.state,
		Screen: protocol.Screen{
			Cols:   40,
			Rows:   3,
			Lines:  slices.Clone(p.lines),
			Cursor: protocol.Cursor{Visible: true},
		},
	}
}

func (p *Terminal) answerMessage(m protocol.Message) protocol.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m := m.(type) {
	case *protocol.Read:
		return p.readScreen(m)
	case *protocol.Wait:
		if m.Until.Exit {
			offer(p.Asked, m.RequestID)
			return nil
		}
		return p.waitForText(m)
	case *protocol.Cancel:
		offer(p.Cancelled, m.RequestID)
	case *protocol.Input:
		return p.typeInput(m)
	case *protocol.ControlRequest:
		if p.Decide != nil {
			return p.Decide(m)
		}
		p.state = protocol.Keyboard{
			Holder:    protocol.HolderAgent,
			AgentID:   m.AgentID,
			AgentName: m.AgentName,
			Level:     m.Level,
			Epoch:     2,
		}
		return &protocol.ControlGrant{
			ID:        "g",
			SessionID: p.ID,
			RequestID: m.RequestID,
			AgentID:   m.AgentID,
			AgentName: m.AgentName,
			Level:     m.Level,
			Epoch:     2,
		}
	case *protocol.ControlDecide:
		p.Decided = append(p.Decided, m)
		return &protocol.Done{RequestID: m.RequestID}
	case *protocol.Note:
		p.Said = append(p.Said, m)
		return &protocol.Done{RequestID: m.RequestID, Waiting: p.Waiting}
	case *protocol.ControlRelease:
		p.state = protocol.Keyboard{Holder: protocol.HolderUser, Epoch: 3}
		p.Bye = append(p.Bye, m.Note)
		return &protocol.ControlRevoke{
			ID:        "v",
			SessionID: p.ID,
			RequestID: m.RequestID,
			AgentID:   m.AgentID,
			Reason:    protocol.ReasonReleased,
		}
	}
	return nil
}

func offer(to chan string, id string) {
	select {
	case to <- id:
	default:
	}
}

func (p *Terminal) readScreen(m *protocol.Read) protocol.Message {
	out := &protocol.ReadResult{ID: "r", RequestID: m.RequestID, SessionID: p.ID, Frame: p.currentFrame()}
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

func (p *Terminal) waitForText(m *protocol.Wait) protocol.Message {
	met := slices.ContainsFunc(p.lines, func(l string) bool {
		return strings.Contains(l, m.Until.Text)
	})
	return &protocol.WaitResult{
		ID:        "w",
		RequestID: m.RequestID,
		SessionID: p.ID,
		Met:       met,
		Frame:     p.currentFrame(),
	}
}

func (p *Terminal) typeInput(m *protocol.Input) protocol.Message {
	out := &protocol.InputResult{
		ID:        "i",
		RequestID: m.RequestID,
		SessionID: p.ID,
		Status:    protocol.StatusRefused,
	}
	switch {
	case p.state.Holder != protocol.HolderAgent || p.state.AgentID != m.AgentID:
		out.Reason = protocol.CodeNoGrant
		return out
	case m.Expect != nil && m.Expect.Seq != nil && *m.Expect.Seq != p.seq:
		out.Reason, out.Frame = protocol.CodeScreenChanged, p.currentFrame()
		return out
	}
	for _, part := range m.All() {
		done := protocol.PartResult{
			InputKind: part.InputKind, WrittenBytes: len(part.Data), FromSeq: p.seq,
		}
		p.seq++
		p.Typed = append(p.Typed, string(part.InputKind)+" "+part.Data)
		p.lines[1] += part.Data
		if part.InputKind == protocol.InputKeys && part.Data == "enter" {
			p.lines[2] = "ran"
		}
		out.WrittenBytes += done.WrittenBytes
		if len(m.Parts) > 0 {
			out.Parts = append(out.Parts, done)
		}
	}
	out.Status, out.Seq, out.Frame = protocol.StatusWritten, p.seq, p.currentFrame()
	return out
}

// Configure writes the user's configuration, for tests that run alone.
func Configure(t *testing.T, text string) (path string) {
	t.Helper()
	path, err := settingsfile.Path()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Parse reads the JSON that a command printed.
func Parse(t *testing.T, got Result, into any) {
	t.Helper()
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.NoError(t, json.Unmarshal([]byte(got.Out), into), got.Out)
}

// OwnerFile makes the owner's token in its usual place.
func OwnerFile(t *testing.T) string {
	t.Helper()
	got := Command(t, "token", "create", "owner", "--role", "owner", "--save")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	path, err := userdirs.OwnerTokenPath()
	require.NoError(t, err)
	require.Equal(t, "saved in "+path+"\n", got.Out)
	return path
}

// SettingsFile writes a file of settings that serve accepts.
func SettingsFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.toml")
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// Add returns the table of these commands.
func Add(commands ...func(*cli.Env) *cobra.Command) cli.Table {
	return func(env *cli.Env, root *cobra.Command) {
		for _, newCommand := range commands {
			root.AddCommand(newCommand(env))
		}
	}
}
