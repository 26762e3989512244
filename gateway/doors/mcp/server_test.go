package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// The tools are listed in the order of their use, those for programs only with a host. Their
// annotations are true.
func TestToolsInTheOrderOfTheirUse(t *testing.T) {
	const hosted = "run close"
	inEachEra(t, func(t *testing.T, era string) {
		for _, programs := range []Programs{nil, newHost()} {
			got, err := connectTo(t, newFake(), programs, era, nil).ListTools(t.Context(), nil)
			require.NoError(t, err)
			var told []string
			for _, tool := range got.Tools {
				name, a := strings.TrimPrefix(tool.Name, "terminal_"), tool.Annotations
				require.NotEmpty(t, tool.Description)
				require.Nil(t, tool.OutputSchema)
				require.Equal(t, strings.Contains("read wait send", name), tool.Meta["anthropic/alwaysLoad"] == true, name)
				schema, err := json.Marshal(tool.InputSchema)
				require.NoError(t, err)
				require.NotContains(t, string(schema), `"null"`)
				require.NotContains(t, string(schema), `"type":[`)
				// An omitted annotation has the specification's default.
				destructive := !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
				openWorld := a.OpenWorldHint == nil || *a.OpenWorldHint
				told = append(told, fmt.Sprint(name, " ", a.ReadOnlyHint, destructive, a.IdempotentHint, openWorld))
			}
			want := []string{ // read-only, destructive, idempotent, open world
				"list true false true false", "read true false true false", "wait true false true false", "request_control false false false false",
				"send false true false true", "run false true false true", "release false false true false", "close false true true false",
				"say false false false false",
			}
			if programs == nil {
				want = slices.DeleteFunc(want, func(tool string) bool { return strings.Contains(hosted, strings.Fields(tool)[0]) })
			}
			require.Equal(t, want, told)
		}
	})
}

func TestTheUserReadsACleanNameAndReasonR47(t *testing.T) {
	f := newFake()
	_, isError := call(t, connect(t, f, eras[2], nil), "terminal_request_control", args{"reason": "fix\u202e the\n\ttypo\u200b"})
	require.False(t, isError)
	require.Equal(t, `request by "claude-code" level drive for 0: fix the typo`, f.said[0])
}

func TestAfterItsGrantTheAgentReadsYou(t *testing.T) {
	f := newFake()
	holding(f)
	s := connect(t, f, eras[2], nil)
	out, _ := call(t, s, "terminal_read", nil)
	require.Contains(t, out, "keyboard: claude-code (drive)", "it does not know its id yet")
	out, _ = call(t, s, "terminal_request_control", args{"reason": "type"})
	require.Contains(t, out, "keyboard: you (drive)")
	_, _ = call(t, s, "terminal_send", args{"text": "x"})
	require.Contains(t, f.said[len(f.said)-1], `input text "x" epoch 3`)
}

func TestAWaitAfterTypingCountsFromTheLastKey(t *testing.T) {
	f := newFake()
	rev := f.frame.Seq
	f.input = func(_ *protocol.Input) (*protocol.InputResult, error) {
		rev++
		return &protocol.InputResult{Status: protocol.StatusWritten, Seq: rev}, nil
	}
	out, isError := call(t, connect(t, f, eras[2], nil), "terminal_send", args{"text": "make", "enter": true, "wait_for": "text", "value": "make"})
	require.False(t, isError, out)
	require.Contains(t, f.said[len(f.said)-1], "after 413", "the echo of the text came with 413, before Enter")
}

func TestChangedCountsFromNow(t *testing.T) {
	f := newFake()
	_, _ = call(t, connect(t, f, eras[2], nil), "terminal_wait", args{"for": "changed"})
	require.Contains(t, f.said[1], "after 412 for 10000")
}

func TestSendsToOneTerminalDoNotMix(t *testing.T) {
	f := newFake()
	entered, leave := make(chan string, 8), make(chan struct{})
	f.input = func(in *protocol.Input) (*protocol.InputResult, error) {
		entered <- in.Data
		<-leave
		return &protocol.InputResult{Status: protocol.StatusWritten}, nil
	}
	s := connect(t, f, eras[2], nil)
	done := make(chan struct{})
	for _, out := range []string{"one", "two"} {
		go func() { // ends with its call
			_, _ = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "terminal_send", Arguments: args{"text": out, "enter": true}})
			done <- struct{}{}
		}()
	}
	first := <-entered
	var order []string
	for range 3 {
		leave <- struct{}{}
		order = append(order, <-entered)
	}
	leave <- struct{}{}
	<-done
	<-done
	second := map[string]string{"one": "two", "two": "one"}[first]
	require.Equal(t, []string{"enter", second, "enter"}, order)
}

func TestProgressWhileWaiting(t *testing.T) {
	inEachEra(t, func(t *testing.T, era string) {
		f := newFake()
		noted := make(chan *mcp.ProgressNotificationParams, 100)
		enough := make(chan struct{})
		f.wait = func(context.Context, *protocol.Wait) (*protocol.WaitResult, error) {
			<-enough
			return &protocol.WaitResult{Met: true, Frame: &f.frame}, nil
		}
		s := connect(t, f, era, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			select {
			case noted <- r.Params:
			default:
			}
		}})
		params := &mcp.CallToolParams{Name: "terminal_wait", Arguments: args{"for": "idle"}}
		params.SetProgressToken("p")
		ended := make(chan error, 1)
		go func() { // ends with the call
			_, err := s.CallTool(t.Context(), params)
			ended <- err
		}()
		one, two := <-noted, <-noted
		close(enough)
		require.NoError(t, <-ended)
		require.Equal(t, "waiting for idle", one.Message)
		require.EqualValues(t, 10, one.Total)
		require.Greater(t, two.Progress, one.Progress)
	})
}

func TestResultsStayUnderTheBudget(t *testing.T) {
	var long []string
	for i := range 1000 {
		long = append(long, fmt.Sprintf("%04d %s", i, strings.Repeat("x", 990)))
	}
	f := newFake()
	f.frame.Screen = protocol.Screen{Cols: 1000, Rows: 1000, Lines: long}
	for i, out := range long {
		f.frame.Changed = append(f.frame.Changed, protocol.Row{Row: i, Text: out})
	}
	f.read = func(m *protocol.Read) (*protocol.ReadResult, error) {
		frame := f.frame
		if m.SinceSeq > 0 {
			frame.Screen.Lines = nil
		}
		return &protocol.ReadResult{Frame: &frame, Text: strings.Join(long, "\n")}, nil
	}
	for range 1000 {
		f.sessions = append(f.sessions, info(fmt.Sprintf("vim-%04d", len(f.sessions))))
	}
	s := connect(t, f, eras[2], nil)
	for _, at := range []struct {
		name, tool string
		args       args
	}{
		{"list", "terminal_list", nil},
		{"wrong id", "terminal_read", args{"terminal": "x"}},
		{"screen", "terminal_read", args{"terminal": "vim-k3f9"}},
		{"history", "terminal_read", args{"terminal": "vim-k3f9", "view": "history"}},
		{"changes", "terminal_read", args{"terminal": "vim-k3f9", "view": "changes", "since_rev": 1}},
		{"wait", "terminal_wait", args{"terminal": "vim-k3f9", "for": "exit", "since_rev": 1}},
	} {
		out, _ := call(t, s, at.tool, at.args)
		require.Less(t, len(out), text.MaxBytes, at.name)
		require.Greater(t, len(out), text.MaxBytes/2, at.name)
		require.Regexp(t, `left out|\n\.\.\.`, out, at.name)
	}
}

// Progress notes keep a long call alive in some clients; another one gets an answer before it would
// give up, which says so.
func TestALongWaitNeedsProgress(t *testing.T) {
	for _, c := range []struct {
		client string
		token  any
		given  int64
		waits  int64
		shorts bool
	}{
		{"opencode", "p", maxTimeoutMs, maxTimeoutMs, false},
		{"copilot-cli", "p", maxTimeoutMs, maxTimeoutMs, false},
		{"opencode", nil, maxTimeoutMs, maxSilentMs, true},
		{"codex-mcp-client", "p", maxTimeoutMs, maxSilentMs, true},
		{"claude-code", "p", maxTimeoutMs, maxSilentMs, true},
		{"claude-code", nil, maxSilentMs, maxSilentMs, false},
		{"claude-code", nil, 100, 100, false},
	} {
		f := newFake()
		f.client = c.client
		var asked int64
		f.wait = func(_ context.Context, m *protocol.Wait) (*protocol.WaitResult, error) {
			asked = m.TimeoutMs
			return &protocol.WaitResult{Frame: &f.frame}, nil
		}
		params := &mcp.CallToolParams{Name: "terminal_wait", Arguments: args{"for": "idle", "timeout_ms": c.given}}
		if c.token != nil {
			params.SetProgressToken(c.token)
		}
		got, err := connect(t, f, eras[1], nil).CallTool(t.Context(), params)
		require.NoError(t, err)
		require.Equal(t, c.waits, asked)
		said := got.Content[0].(*mcp.TextContent).Text
		require.Contains(t, said, "no match: timeout")
		require.Equal(t, c.shorts, strings.Contains(said, "no match: timeout; waited only 50 s"), said)
	}
}
