package events

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// An agent that looks does not count as a person, so the user is still told that it asks.
func TestALookingAgentIsNotAPerson(t *testing.T) {
	var used time.Time
	s := New(Config{LastTyped: func() time.Time { return used }})
	s.Handle(&protocol.View{Agents: true})
	require.False(t, s.viewed.Load())
	s.Handle(&protocol.View{})
	require.True(t, s.viewed.Load())
	s.Handle(&protocol.View{Agents: true})
	left := s.lastLook() // when the person went
	require.False(t, s.viewed.Load())
	require.NotZero(t, left.UnixMilli())
	s.Handle(&protocol.View{})
	s.NoteUnreached()
	require.False(t, s.viewed.Load())
	used = time.Now().Add(time.Hour)
	require.Equal(t, used, s.lastLook(), "the user typed after that")
}

// The notice says who waits and where.
func TestTheNoticeNamesAgentAndSession(t *testing.T) {
	var told, shown []string
	s := New(Config{
		Session: "vim-k3f9", Notify: func(text string) { told = append(told, text) }, Alert: func(text string) []byte { return []byte("<" + text + ">") },
		Show: func(question uint64, alert []byte) {
			require.EqualValues(t, 7, question)
			shown = append(shown, string(alert))
		},
	})
	defer s.Close()
	s.remindUser(openQuestion{number: 7, agent: "claude"})
	s.remindUser(openQuestion{number: 7, agent: "claude", held: true})
	require.Equal(t, []string{"claude asks in vim-k3f9", "claude waits in vim-k3f9"}, told)
	require.Equal(t, []string{"<claude asks in vim-k3f9>", "<claude waits in vim-k3f9>"}, shown)
}
