package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// An agent that looks keeps nobody from telling the user that it asks.
func TestAnAgentThatLooksIsNobody(t *testing.T) {
	s := new(session)
	s.viewMessage(&protocol.View{Agents: true})
	require.False(t, s.viewed.Load())
	s.viewMessage(&protocol.View{})
	require.True(t, s.viewed.Load())
	s.viewMessage(&protocol.View{Agents: true})
	left := s.looked() // when the person went
	require.False(t, s.viewed.Load())
	require.NotZero(t, left.UnixMilli())
}
