package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// host is a scripted host: what it starts is the only session of f.
type host struct {
	*fake
	refuse error
	ended  *protocol.Close
}

func (h *host) Start(_ context.Context, m *protocol.ProxyStart) (string, error) {
	h.note("start %s %q in %q %dx%d for %q", m.Command, m.Args, m.Cwd, m.Cols, m.Rows, m.AgentName)
	if h.refuse != nil {
		return "", h.refuse
	}
	h.sessions = []protocol.SessionInfo{info("vim-k3f9", nil)}
	return "vim-k3f9", nil
}

func (h *host) EndSession(_ context.Context, m *protocol.Close) error {
	h.ended = m
	return h.refuse
}

func newHost() *host {
	h := &host{fake: newFake()}
	h.sessions = nil
	holding(protocol.LevelDrive)(h.fake)
	return h
}

// The tools for programs exist only with a host (see TestToolsAreListedInTheOrderOfTheirUse), and
// their annotations are true.
func TestToolsWithAHost(t *testing.T) {
	got, err := connectTo(t, newFake(), newHost(), eras[2], nil).ListTools(t.Context(), nil)
	require.NoError(t, err)
	var said []string
	for _, tool := range got.Tools {
		a := tool.Annotations
		// An omitted annotation has the specification's default.
		destructive := !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
		openWorld := a.OpenWorldHint == nil || *a.OpenWorldHint
		said = append(said, fmt.Sprintln(strings.TrimPrefix(tool.Name, "terminal_"), a.ReadOnlyHint, destructive, a.IdempotentHint, openWorld))
	}
	require.Equal(t, []string{ // read-only, destructive, idempotent, open world
		"list true false true false\n", "read true false true false\n", "wait true false true false\n", "request_control false false false false\n",
		"send false true false true\n", "run false true false true\n", "release false false true false\n", "close false true true false\n",
		"say false false false false\n",
	}, said)
}

func TestRunStartsAndShowsTheFirstSettledScreen(t *testing.T) {
	for _, era := range eras {
		h := newHost()
		s := connectTo(t, h.fake, h, era, nil)
		text, _ := call(t, s, "terminal_list", nil)
		require.Contains(t, text, "start one of your own with terminal_run")
		text, isError := call(t, s, "terminal_run", args{"program": "vim", "args": []string{"notes.txt"}, "cwd": "/tmp", "cols": 100, "rows": 30})
		require.False(t, isError, text)
		require.True(t, strings.HasPrefix(text, "vim-k3f9 rev "), text)
		require.Contains(t, text, "keyboard: you (drive)", "it learns its own id from the terminal that is its own")
		require.Contains(t, text, "eggs")
		require.Equal(t, `start vim ["notes.txt"] in "/tmp" 100x30 for "claude-code"`, h.said[0])
		require.Contains(t, h.said[1], "Changed:true")
		require.Contains(t, h.said[2], "QuietMs:300")
	}
}

func TestRunSaysWhatBecameOfTheWait(t *testing.T) {
	for name, c := range map[string]struct {
		args   args
		result protocol.WaitResult
		want   string
	}{
		"met":           {args{"wait_for": "text", "value": "eggs"}, protocol.WaitResult{Met: true}, "matched\nvim-k3f9 rev 412 cursor 2,4 running "},
		"time over":     {args{"wait_for": "text", "value": "x"}, protocol.WaitResult{}, "no match: timeout\nvim-k3f9 rev 412 cursor 2,4 running "},
		"ended":         {args{"wait_for": "text", "value": "x"}, protocol.WaitResult{ExitCode: new(3)}, "no match: the program ended first\nvim-k3f9 rev 412 cursor 2,4 exited 3 "},
		"not settled":   {nil, protocol.WaitResult{}, "not settled in time\nvim-k3f9 rev 412 cursor 2,4 running "},
		"ended already": {nil, protocol.WaitResult{ExitCode: new(0)}, "vim-k3f9 rev 412 cursor 2,4 exited 0 "},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost()
			h.wait = func(context.Context, *protocol.Wait) (*protocol.WaitResult, error) {
				got := c.result
				got.Frame = &h.frame
				return &got, nil
			}
			with := args{"program": "vim"}
			for k, v := range c.args {
				with[k] = v
			}
			text, isError := call(t, connectTo(t, h.fake, h, eras[1], nil), "terminal_run", with)
			require.False(t, isError, "a timeout is no error, and the program was started")
			require.Contains(t, text, c.want)
			require.Contains(t, text, "eggs")
		})
	}
}

func TestRunThatFailsSaysWhatIsTrue(t *testing.T) {
	h := newHost()
	s := connectTo(t, h.fake, h, eras[2], nil)
	h.refuse = errors.New("vim: command not found: is it installed, and in your PATH?")
	text, isError := call(t, s, "terminal_run", args{"program": "vim"})
	require.True(t, isError)
	require.Equal(t, "error: cannot start the program: vim: command not found: is it installed, and in your PATH?", text)

	h.refuse = nil
	h.wait = func(context.Context, *protocol.Wait) (*protocol.WaitResult, error) {
		return nil, &protocol.Error{Code: protocol.CodeUnavailable, Message: "the gateway went away"}
	}
	text, isError = call(t, s, "terminal_run", args{"program": "vim"})
	require.True(t, isError)
	require.Contains(t, text, "the gateway went away")
	require.Contains(t, text, "\nstarted vim-k3f9", "what was started has to be known")

	before := len(h.said)
	for _, c := range []struct {
		with args
		want string
	}{
		{args{}, `parameter "program" is missing`},
		{args{"program": "vim", "wait_for": "control"}, `"wait_for" is "control", must be one of`},
		{args{"program": "vim", "wait_for": "regex", "value": "("}, "does not compile"},
		{args{"program": "vim", "args": "x"}, `parameter "args" is a JSON string, must be of type array`},
	} {
		text, isError = call(t, s, "terminal_run", c.with)
		require.True(t, isError)
		require.Contains(t, text, c.want)
	}
	require.Len(t, h.said, before, "nothing was started")
}

func TestCloseSaysHowItEnded(t *testing.T) {
	h := newHost()
	s := connectTo(t, h.fake, h, eras[2], nil)
	_, _ = call(t, s, "terminal_run", args{"program": "vim"})
	h.wait = func(_ context.Context, m *protocol.Wait) (*protocol.WaitResult, error) {
		require.True(t, m.Until.Exit)
		return &protocol.WaitResult{Met: true, ExitCode: new(129), Frame: &h.frame}, nil
	}
	text, isError := call(t, s, "terminal_close", args{"terminal": "vim-k3f9"})
	require.False(t, isError, text)
	require.Equal(t, "closed: vim-k3f9 has ended (exit status 129: signal 1); terminal_read still shows what it printed", text)
	require.Empty(t, h.ended.Signal)
	_, _ = call(t, s, "terminal_close", args{"terminal": "vim-k3f9", "force": true})
	require.Equal(t, "KILL", h.ended.Signal)

	h.refuse = &protocol.Error{Code: protocol.CodeForbidden, Message: "another agent started this terminal: it is not yours to close"}
	text, isError = call(t, s, "terminal_close", args{"terminal": "vim-k3f9"})
	require.True(t, isError)
	require.Contains(t, text, "another agent started this terminal")
	h.refuse = &protocol.Error{Code: protocol.CodeExited, Message: "it has ended"}
	_, isError = call(t, s, "terminal_close", args{"terminal": "vim-k3f9"})
	require.False(t, isError, "closing what has just ended changes nothing")

	h.refuse = nil
	h.wait = func(context.Context, *protocol.Wait) (*protocol.WaitResult, error) {
		return &protocol.WaitResult{Frame: &h.frame}, nil
	}
	text, isError = call(t, s, "terminal_close", args{"terminal": "vim-k3f9"})
	require.True(t, isError)
	require.Contains(t, text, "terminal_close with force kills it")

	h.sessions[0].State, h.sessions[0].ExitCode = protocol.StateExited, 2
	h.ended = nil
	text, isError = call(t, s, "terminal_close", args{"terminal": "vim-k3f9"})
	require.False(t, isError)
	require.Equal(t, "closed: vim-k3f9 had ended (exit status 2); what it printed is no longer kept", text)
	require.Equal(t, "vim-k3f9", h.ended.SessionID)
	h.refuse = &protocol.Error{Code: protocol.CodeExited, Message: "it has ended"}
	text, isError = call(t, s, "terminal_close", args{"terminal": "vim-k3f9"})
	require.False(t, isError, "a gateway that does not forget it")
	require.Equal(t, "closed: vim-k3f9 has ended (exit status 2)", text)
	h.refuse = &protocol.Error{Code: protocol.CodeNoSession, Message: "unknown session"}
	_, isError = call(t, s, "terminal_close", args{"terminal": "vim-k3f9"})
	require.True(t, isError)
}
