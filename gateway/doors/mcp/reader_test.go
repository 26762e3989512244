package mcp

import (
	"context"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// program is in the first line of an answer for a reader that was not told of the terminal before.
const program = `"vim notes.txt"`

// The agents of one token share a server, and have not read each other's answers.
func TestEachReaderIsToldSeparately(t *testing.T) {
	inEachEra(t, func(t *testing.T, era string) {
		_, server := overHTTP(t, newFake())
		reader := func() *mcp.ClientSession {
			s, err := mcp.NewClient(&mcp.Implementation{Name: "c"}, nil).Connect(t.Context(),
				&mcp.StreamableClientTransport{Endpoint: server.URL, HTTPClient: server.Client()}, &mcp.ClientSessionOptions{ProtocolVersion: era})
			require.NoError(t, err)
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
		looks := func(s *mcp.ClientSession) string {
			out, isError := call(t, s, "terminal_wait", args{"for": "idle"})
			require.False(t, isError)
			return out
		}
		one, other := reader(), reader()
		require.Contains(t, looks(one), program)
		require.Contains(t, looks(other), program)
		if era < stateless {
			require.NotContains(t, looks(one), program)
		} else {
			require.Contains(t, looks(one), program, "who asks cannot be known again")
		}
	})
}

func TestAnUnreadFactIsToldAgain(t *testing.T) {
	f := newFake()
	set := New(Config{Terminals: f}).tools
	tools := set.listTools()
	wait := set.toolHandler(tools[slices.IndexFunc(tools, func(t tool) bool { return t.def.Name == "terminal_wait" })])
	req := &mcp.CallToolRequest{Session: new(mcp.ServerSession), Params: &mcp.CallToolParamsRaw{Arguments: []byte(`{"for":"idle"}`)}}
	ctx, cancel := context.WithCancel(t.Context())
	f.wait = func(context.Context, *protocol.Wait) (*protocol.WaitResult, error) {
		cancel() // the client cancels the call as it is answered
		frame := f.frame
		return &protocol.WaitResult{Met: true, Frame: &frame}, nil
	}
	_, err := wait(ctx, req)
	require.ErrorIs(t, err, context.Canceled)
	got, err := wait(t.Context(), req)
	require.NoError(t, err)
	require.Contains(t, got.Content[0].(*mcp.TextContent).Text, program)
	got, err = wait(t.Context(), req)
	require.NoError(t, err)
	require.NotContains(t, got.Content[0].(*mcp.TextContent).Text, program)
}

func TestUnshownChangesStayNew(t *testing.T) {
	from := uint64(1)
	for name, c := range map[string]struct {
		args args
		seen uint64
	}{
		"the screen":    {nil, 412},
		"its last rows": {args{"lines": 2}, protocol.FirstSeq},
		"all history":   {args{"view": "history"}, 412},
		"older history": {args{"view": "history", "start": from, "lines": 3}, protocol.FirstSeq},
		"a search":      {args{"view": "history", "match": "row"}, protocol.FirstSeq},
		"no match":      {args{"view": "history", "match": "none"}, protocol.FirstSeq},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.frame.Screen.Scrollback = 20
			f.read = func(m *protocol.Read) (*protocol.ReadResult, error) {
				frame := f.frame
				got := &protocol.ReadResult{Frame: &frame, OldestLine: 1}
				switch {
				case m.Match == "row":
					got.Found = &protocol.Found{Count: 1, Rows: []protocol.FoundRow{{Line: 3, Text: "row", Match: true}}}
				case m.Match != "":
					got.Found = &protocol.Found{}
				case m.FromLine != nil:
					got.Text, got.FirstLine, got.NextLine = "a\nb\nc", 1, 4
				case m.Scrollback > 0:
					got.Text, got.FirstLine, got.NextLine = "a\nb\nc", 18, 21
				}
				return got, nil
			}
			s := connect(t, f, eras[1], nil)
			_, isError := call(t, s, "terminal_read", c.args)
			require.False(t, isError)
			var since uint64
			f.wait = func(_ context.Context, m *protocol.Wait) (*protocol.WaitResult, error) {
				since = m.SinceSeq
				frame := f.frame
				return &protocol.WaitResult{Met: true, Frame: &frame}, nil
			}
			_, isError = call(t, s, "terminal_wait", args{"for": "text", "value": "x", "any": []string{"y"}})
			require.False(t, isError)
			require.Equal(t, c.seen, since)
		})
	}
}
