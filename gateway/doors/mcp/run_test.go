package mcp

import (
	"context"
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
	h.sessions = []protocol.SessionInfo{info("vim-k3f9")}
	return "vim-k3f9", nil
}

func (h *host) EndSession(_ context.Context, m *protocol.Close) error {
	h.ended = m
	return h.refuse
}

func newHost() *host {
	h := &host{fake: newFake()}
	h.sessions = nil
	holding(h.fake)
	return h
}

func TestRunStartsAndShowsTheFirstSettledScreen(t *testing.T) {
	h := newHost()
	s := connectTo(t, h.fake, h, eras[2], nil)
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

func TestClosedByForce(t *testing.T) {
	h := newHost()
	h.sessions = []protocol.SessionInfo{info("vim-k3f9")}
	h.wait = func(context.Context, *protocol.Wait) (*protocol.WaitResult, error) {
		return &protocol.WaitResult{Met: true, ExitCode: new(129), Frame: &h.frame}, nil
	}
	s := connectTo(t, h.fake, h, eras[2], nil)
	for force, signal := range map[bool]string{false: "", true: "KILL"} {
		_, isError := call(t, s, "terminal_close", args{"terminal": "vim-k3f9", "force": force})
		require.False(t, isError)
		require.Equal(t, signal, h.ended.Signal)
	}
}
