package mcp

import (
	"context"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

func TestOneCallTypesIntoATerminal(t *testing.T) {
	s := newToolset(Config{})
	free, err := s.turns.lockTerminal(t.Context(), "a")
	require.NoError(t, err)
	ended, end := context.WithCancelCause(t.Context())
	gone := errors.New("the client has gone")
	end(gone)
	_, err = s.turns.lockTerminal(ended, "a")
	require.ErrorIs(t, err, gone)
	other, err := s.turns.lockTerminal(t.Context(), "b")
	require.NoError(t, err)
	other()
	free()
	free, err = s.turns.lockTerminal(t.Context(), "a")
	require.NoError(t, err)
	free()
}

func TestAnAgentKeepsItsID(t *testing.T) {
	var i identity
	require.Empty(t, i.ownID())
	i.learnID("a-1")
	i.learnID("") // a frame without a grant
	require.Equal(t, "a-1", i.ownID())
}

func TestNoTaskStartsAfterTheEnd(t *testing.T) {
	ts := New(Config{}).tasks
	ts.cancelAll()
	_, _, err := ts.startTask(t.Context(), &mcp.CallToolRequest{Session: new(mcp.ServerSession)})
	require.ErrorContains(t, err, "connect again")
	require.Empty(t, ts.byID)
}

func TestNewsBeginWhereTheReaderStopped(t *testing.T) {
	a := newToolset(Config{}).answers
	reader := func() context.Context {
		return readBy(t.Context(), &mcp.CallToolRequest{Session: &mcp.ServerSession{}})
	}
	one, other := reader(), reader()
	require.EqualValues(t, 5, a.newsSince(one, "vim", 5))
	a.mu.Lock()
	*a.knownLocked(one, "vim") = text.Known{Rev: protocol.FirstSeq + 8}
	a.mu.Unlock()
	require.EqualValues(t, protocol.FirstSeq+8, a.newsSince(one, "vim", 5))
	require.EqualValues(t, 5, a.newsSince(one, "less", 5))
	require.EqualValues(t, 5, a.newsSince(other, "vim", 5))
	a.forgetReader(one)
	require.EqualValues(t, 5, a.newsSince(one, "vim", 5))
}

// A list that lacks sessions does not say that a terminal does not exist.
func TestATerminalMissesOnlyFromAWholeList(t *testing.T) {
	f := newFake()
	require.False(t, isMissing(t.Context(), f, "vim-k3f9"))
	require.True(t, isMissing(t.Context(), f, "less-1"))
	lacking(f)
	require.False(t, isMissing(t.Context(), f, "less-1"))
	f.lacks, f.failing = nil, errGone
	require.False(t, isMissing(t.Context(), f, "less-1"))
}
