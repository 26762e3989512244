//go:build linux

package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/proxy/chat"
)

// silentAgent is a coding agent that inspects the user's terminal when it is told to end.
type silentAgent struct {
	report func(chat.Event)
	closed func()
}

func (a *silentAgent) Start(report func(chat.Event)) error { a.report = report; return nil }
func (a *silentAgent) Send(chat.Prompt) error              { return nil }
func (a *silentAgent) Interrupt(chat.MayAct) error         { return nil }
func (a *silentAgent) Answer(string, chat.Answer) error    { return nil }
func (a *silentAgent) Close() error {
	a.closed()
	a.report(chat.AgentExited{})
	return nil
}

// An agent, a hook or a gateway may take its time at the end, and the user's terminal does not wait
// for it.
func TestTheTerminalIsRestoredFirst(t *testing.T) {
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer slave.Close()
	settings := func() unix.Termios {
		now, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
		assert.NoError(t, err)
		return *now
	}
	before := settings()
	shown := make(chan struct{})
	go func() { // ends with the terminal
		defer close(shown)
		_, _ = io.Copy(io.Discard, master)
	}()
	asked := false
	agent := &silentAgent{closed: func() {
		asked = true
		assert.Equal(t, before, settings(), "the terminal is raw while the agent is waited for")
	}}
	result, err := Run(context.Background(), Config{
		Command: "sh", Args: []string{"-c", "stty -icanon -echo; exit 3"}, In: slave, Out: slave,
		Agent: &AgentConfig{
			Dial: func(context.Context) (net.Conn, error) { return nil, errors.New("nobody serves here") },
			Chat: &Chat{Session: chat.New("agent", agent)},
		},
	})
	require.NoError(t, err)
	require.Equal(t, 3, result.Code)
	require.True(t, asked)
	require.NoError(t, slave.Close())
	require.NoError(t, master.Close())
	<-shown
}
