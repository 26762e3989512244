package proxy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/screen"
)

func newStatus() *status {
	return &status{name: "bash", line: true, title: true, key: `Ctrl+\`, repaint: func() {}}
}

// SAFETY R25: the bell rings once for each prompt, where there is an agent that it keeps away, and nowhere else.
func TestR25TheUserIsTold(t *testing.T) {
	now := time.Now()
	s := newStatus()
	prompt := control.State{Secret: control.HardSecret}
	s.show(prompt)
	line, title, ring, question := s.compose(now, 100, 24, "")
	require.Empty(t, line)
	require.Equal(t, "[observed] bash", title)
	require.False(t, ring || question != 0, "nobody looks on: no bell for every sudo")

	s.attended()
	line, title, ring, question = s.compose(now, 100, 24, "")
	require.Contains(t, line, "password prompt: what you type is not shown to agents")
	require.Equal(t, "[secret, agents blocked] bash", title)
	require.True(t, ring)
	require.Zero(t, question, "there is nothing to answer")
	_, _, ring, _ = s.compose(now, 100, 24, "")
	require.False(t, ring, "once")

	s.show(control.State{})
	_, title, _, _ = s.compose(now, 100, 24, "")
	require.Equal(t, "[observed] bash", title)
	prompt = control.State{Phase: control.Granted, Agent: control.Agent{Name: "claude"}, Secret: control.HardSecret, Dismissible: true, Question: 1}
	s.show(prompt)
	line, _, ring, question = s.compose(now.Add(2*company), 100, 24, "")
	require.Contains(t, line, "claude's input is blocked")
	require.Contains(t, line, "Ctrl+G lets claude answer")
	require.True(t, ring && question != 0)

	prompt.Secret = control.SoftSecret
	s.show(prompt)
	line, _, _, _ = s.compose(now, 100, 24, "")
	require.Contains(t, line, "Ctrl+G: this is no password")
	s.line = false
	_, title, _, question = s.compose(now, 100, 24, "")
	require.Equal(t, "[secret, agents blocked: Ctrl+G: this is no password] bash", title)
	require.NotZero(t, question)
}

func TestTheLineDoesNotCoverThePrompt(t *testing.T) {
	s := newStatus()
	s.attended()
	m := screen.New(screen.Config{Cols: 80, Rows: 5})
	s.show(control.State{Secret: control.SoftSecret})
	s.compose(time.Now(), 80, 24, "")
	require.Equal(t, 4, s.row(m, "a line"))
	m.Feed([]byte("\x1b[5;1HPassword: "))
	require.Equal(t, 0, s.row(m, "a line"))
	s.show(control.State{Phase: control.Asked, Secret: control.SoftSecret})
	s.compose(time.Now(), 80, 24, "")
	require.Equal(t, 4, s.row(m, "a line"), "an agent's question stands where it always does")
}

func TestHiddenIsSaid(t *testing.T) {
	s := newStatus()
	s.show(control.State{Hidden: true})
	defer s.close()
	line, title, _, _ := s.compose(time.Now(), 100, 24, "mine")
	require.Contains(t, line, `agents do not see this screen any more: Ctrl+\, then h, shows it again`)
	require.Equal(t, "[hidden] mine", title)
	s.show(control.State{Hidden: true, Menu: true, Question: 1})
	line, _, _, question := s.compose(time.Now(), 120, 24, "")
	require.Contains(t, line, "agents do not see this screen")
	require.Contains(t, line, "h shows it")
	require.NotZero(t, question)
	for _, hidden := range []bool{true, false} {
		s.show(control.State{Hidden: hidden, Menu: true})
		line, _, _, _ = s.compose(time.Now(), 80, 24, "")
		require.Contains(t, line, "sends the key", "all of it fits a common terminal")
	}
	s.show(control.State{})
	line, _, _, _ = s.compose(time.Now(), 100, 24, "")
	require.Contains(t, line, "agents see this screen again")
}
