package overlay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
)

func newStatus() *Status {
	return New(Config{Name: "bash", Line: true, Title: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() {}})
}

// SAFETY R25: the bell rings once for each prompt that keeps an agent away, and for no other.
func TestTheUserIsToldR25(t *testing.T) {
	now := time.Now()
	s := newStatus()
	prompt := control.State{Secret: protocol.SecretHard}
	s.ShowState(prompt)
	line, title, ring, turn := s.composeNow(now, 100, 24, "")
	require.Empty(t, line)
	require.Equal(t, "[observed] bash", title)
	require.False(t, ring || turn != 0, "nobody looks on: no bell for every sudo")

	s.NoteRequest()
	line, title, ring, turn = s.composeNow(now, 100, 24, "")
	require.Contains(t, line, "password prompt: what you type is not shown to agents")
	require.Equal(t, "[secret, agents blocked] bash", title)
	require.True(t, ring)
	require.Zero(t, turn, "there is nothing to answer")
	_, _, ring, _ = s.composeNow(now, 100, 24, "")
	require.False(t, ring, "once")

	s.ShowState(control.State{})
	_, title, _, _ = s.composeNow(now, 100, 24, "")
	require.Equal(t, "[observed] bash", title)
	prompt = asks(question.Prompt, control.State{Phase: control.Granted, Agent: control.Agent{Name: "claude"}, Secret: protocol.SecretHard})
	s.ShowState(prompt)
	line, _, ring, turn = s.composeNow(now.Add(2*attendedFor), 100, 24, "")
	require.Contains(t, line, "claude's input is blocked")
	require.Contains(t, line, "Ctrl+G lets claude answer")
	require.True(t, ring && turn != 0)

	prompt.Secret = protocol.SecretSoft
	s.ShowState(prompt)
	line, _, _, _ = s.composeNow(now, 100, 24, "")
	require.Contains(t, line, "Ctrl+G: this is not a password")
	s.conf.Line = false
	_, title, _, turn = s.composeNow(now, 100, 24, "")
	require.Equal(t, "[secret, agents blocked: Ctrl+G: this is not a password] bash", title)
	require.NotZero(t, turn)
}

func TestAHiddenScreenIsAnnounced(t *testing.T) {
	s := newStatus()
	s.ShowState(control.State{Hidden: true})
	defer s.Close()
	line, title, _, _ := s.composeNow(time.Now(), 100, 24, "mine")
	require.Contains(t, line, `agents no longer see this screen: Ctrl+\, then h, shows it again`)
	require.Equal(t, "[hidden] mine", title)
	s.ShowState(asks(question.Menu, control.State{Hidden: true}))
	line, _, _, turn := s.composeNow(time.Now(), 120, 24, "")
	require.Contains(t, line, "agents do not see this screen")
	require.Contains(t, line, "h shows it")
	require.NotZero(t, turn)
	for _, hidden := range []bool{true, false} {
		s.ShowState(asks(question.Menu, control.State{Hidden: hidden}))
		line, _, _, _ = s.composeNow(time.Now(), 80, 24, "")
		require.Contains(t, line, "sends the key", "all of it fits a common terminal")
	}
	s.ShowState(control.State{})
	line, _, _, _ = s.composeNow(time.Now(), 100, 24, "")
	require.Contains(t, line, "agents see this screen again")
}
