package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
	peer "terminalproxy/protocol/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, peer.Lingering()) }

var clock = time.UnixMilli(1_800_000_000_000).UTC()

// The eras of the protocol: with a handshake, and without.
var eras = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

func inEachEra(t *testing.T, test func(t *testing.T, era string)) {
	t.Helper()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) { test(t, era) })
	}
}

// fake is a gateway with scripted sessions. A nil function gives the default answer.
type fake struct {
	looked bool // the agent has looked before

	mu       sync.Mutex
	sessions []protocol.SessionInfo
	frame    protocol.Frame
	said     []string // the requests, in order

	read    func(*protocol.Read) (*protocol.ReadResult, error)
	wait    func(context.Context, *protocol.Wait) (*protocol.WaitResult, error)
	input   func(*protocol.Input) (*protocol.InputResult, error)
	request func(context.Context, *protocol.ControlRequest) (*protocol.ControlGrant, *protocol.ControlRevoke, error)
	release func(*protocol.ControlRelease) error
	draw    func(protocol.Screen, int) ([]byte, image.Point, error)
	say     func(*protocol.Note) (protocol.Waiting, error)
	failing error
	lacks   *protocol.Incomplete // of the list
	client  string               // its name; "" is one with characters that no name has
	mark    func() string        // of the fences; nil is always the same
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func (f *fake) SessionList(context.Context) (*protocol.SessionsListResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &protocol.SessionsListResult{Sessions: f.sessions, Incomplete: f.lacks}, f.failing
}

func (f *fake) Read(_ context.Context, m *protocol.Read) (*protocol.ReadResult, error) {
	f.note("read %s since %d scrollback %d", m.SessionID, m.SinceSeq, m.Scrollback)
	if f.read != nil {
		return f.read(m)
	}
	frame := f.frame
	return &protocol.ReadResult{Frame: &frame}, nil
}

func (f *fake) Wait(ctx context.Context, m *protocol.Wait) (*protocol.WaitResult, error) {
	f.note("wait %+v after %d for %d", m.Until, m.AfterSeq, m.TimeoutMs)
	if f.wait != nil {
		return f.wait(ctx, m)
	}
	frame := f.frame
	return &protocol.WaitResult{Met: true, Matched: "IGNORE ALL", Frame: &frame}, nil
}

// Input types the parts one after another, as a proxy does: for input each is an input of its own.
func (f *fake) Input(_ context.Context, m *protocol.Input) (*protocol.InputResult, error) {
	var all *protocol.InputResult
	for _, p := range m.All() {
		got, err := f.part(&protocol.Input{InputKind: p.InputKind, Data: p.Data, At: p.At, On: p.On, To: p.To, Epoch: m.Epoch})
		if err != nil {
			return nil, err
		}
		part := protocol.PartResult{InputKind: p.InputKind, WrittenBytes: got.WrittenBytes, DroppedBytes: got.DroppedBytes, FromSeq: got.FromSeq}
		if p.InputKind == protocol.InputLines {
			part.InputKind = protocol.InputPaste
		}
		if all != nil {
			part.FromSeq = max(part.FromSeq, all.Seq)
			got.FromSeq, got.Parts = all.FromSeq, all.Parts
			got.Notes = append(all.Notes, got.Notes...)
			if got.Status == protocol.StatusRefused {
				got.Status = protocol.StatusDropped
			}
		}
		got.Parts = append(got.Parts, part)
		if all = got; got.Status != protocol.StatusWritten {
			break
		}
	}
	return all, nil
}

func (f *fake) part(m *protocol.Input) (*protocol.InputResult, error) {
	f.note("input %s %q epoch %d", m.InputKind, m.Data, m.Epoch)
	if f.input != nil {
		return f.input(m)
	}
	frame := f.frame
	return &protocol.InputResult{Status: protocol.StatusWritten, WrittenBytes: len(m.Data), Seq: frame.Seq, Frame: &frame}, nil
}

func (f *fake) Request(ctx context.Context, m *protocol.ControlRequest) (*protocol.ControlGrant, *protocol.ControlRevoke, error) {
	f.note("request by %q level %s for %d: %s", m.AgentName, m.Level, m.Seconds, m.Why)
	if f.request != nil {
		return f.request(ctx, m)
	}
	return &protocol.ControlGrant{AgentID: "a-1", Level: m.Level, Epoch: 3}, nil, nil
}

func (f *fake) Release(_ context.Context, m *protocol.ControlRelease) error {
	f.note("release %s: %s", m.SessionID, m.Note)
	if f.release != nil {
		return f.release(m)
	}
	return nil
}

func (f *fake) SendNote(_ context.Context, m *protocol.Note) (protocol.Waiting, error) {
	f.note("say %s by %q: %s", m.SessionID, m.AgentName, m.Text)
	if f.say != nil {
		return f.say(m)
	}
	return "", nil
}

func info(id string) protocol.SessionInfo {
	return protocol.SessionInfo{
		SessionID: id, Name: "vim", Command: "vim", Args: []string{"notes.txt"}, Cols: 40, Rows: 6, State: protocol.StateRunning,
		IdleMs: 340, Seq: 412, Keyboard: protocol.Keyboard{Holder: protocol.HolderUser},
	}
}

// notes is a screen of vim.
func notes() protocol.Frame {
	return protocol.Frame{
		Seq: 412, IdleMs: 340, Settled: true, Keyboard: protocol.Keyboard{Holder: protocol.HolderUser},
		Screen: protocol.Screen{
			Cols: 40, Rows: 6, Alt: true, Cursor: protocol.Cursor{Row: 1, Col: 3, Visible: true},
			Lines: []string{"milk   ", "eggs", "~", "~", "~", `"notes.txt" 2L, 10B`},
		},
	}
}

func newFake() *fake {
	return &fake{sessions: []protocol.SessionInfo{info("vim-k3f9")}, frame: notes()}
}

// connect makes a client of an era, on a server over f.
func connect(t *testing.T, f *fake, era string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return connectTo(t, f, nil, era, opts)
}

// connectTo is connect to a server that may start programs.
func connectTo(t *testing.T, f *fake, programs Programs, era string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	mark := f.mark
	if mark == nil {
		mark = func() string { return "m4rk" }
	}
	server := New(Config{
		Terminals: f, Programs: programs, Draw: f.draw, MissingGlyphs: func(p protocol.Screen) int { return strings.Count(strings.Join(p.Lines, ""), "漢") }, Version: "test", Now: func() time.Time { return clock }, Mark: mark,
		ProgressEvery: time.Millisecond,
	})
	near, far := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.serveTransport(ctx, far) }() // ends with cancel, below
	c := mcp.NewClient(&mcp.Implementation{Name: cmp.Or(f.client, "claude\u202e-code\n"), Version: "1"}, opts)
	session, err := c.Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: era})
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		cancel()
		if err := <-served; !errors.Is(err, io.ErrClosedPipe) { // a note may have been on its way
			require.NoError(t, err)
		}
	})
	return session
}

// call calls a tool and returns its only text, with a word for a picture.
func call(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) (text string, isError bool) {
	t.Helper()
	got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	require.NoError(t, err)
	require.Nil(t, got.StructuredContent, "clients hide the text when there is structured content")
	text = got.Content[0].(*mcp.TextContent).Text
	for _, more := range got.Content[1:] {
		picture := more.(*mcp.ImageContent)
		img, err := png.DecodeConfig(bytes.NewReader(picture.Data))
		require.NoError(t, err)
		text += fmt.Sprintf("\n[%s, %d by %d]", picture.MIMEType, img.Width, img.Height)
	}
	return text, got.IsError
}

var errGone = errors.New("no gateway answers at ws://localhost/v1/agent: start a session with `proxy --agent PROGRAM`")

type args = map[string]any

// ReadChat is a conversation with an open request.
func (f *fake) ReadChat(_ context.Context, id string) ([]protocol.ChatRecord, uint64, error) {
	f.note("chat %s", id)
	return []protocol.ChatRecord{
		{Number: 3, Item: &protocol.ChatItem{Kind: protocol.ChatUser, Author: "ada", Text: "run the tests"}},
		{Number: 4, Request: &protocol.ChatRequest{ID: "t1", Tool: "Bash", Input: json.RawMessage(`{"command":"make test"}`)}},
	}, 2, nil
}

// holding gives the agent of the tests the keyboard.
func holding(f *fake) {
	f.frame.Keyboard = protocol.Keyboard{Holder: protocol.HolderAgent, AgentID: "a-1", AgentName: "claude-code", Level: protocol.LevelDrive, Epoch: 3}
}

// drawing is a server that draws blank pictures of the right size.
func drawing(f *fake) {
	f.draw = func(s protocol.Screen, side int) ([]byte, image.Point, error) {
		if side != 1568 {
			return nil, image.Point{}, fmt.Errorf("a side of %d pixels", side)
		}
		var b bytes.Buffer
		err := png.Encode(&b, image.NewGray(image.Rect(0, 0, s.Cols*9, s.Rows*18)))
		return b.Bytes(), image.Pt(9, 18), err
	}
}
