package headless

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runs is a runner of sessions without a program: each ends with its context.
func runs(ctx context.Context, s *Session) (Result, error) {
	if s.Command == "no-such-program" {
		return Result{}, errors.New("command not found")
	}
	s.NoteStarted("id-" + s.Name)
	<-ctx.Done()
	return Result{ID: "id-" + s.Name, Code: 129}, nil
}

func start(name string) *protocol.ProxyStart {
	return &protocol.ProxyStart{RequestID: "r-" + name, Command: "cat", Name: name, AgentID: "a-1", AgentName: "claude"}
}

// answered returns the host's answer to a start, or nil while it is under way.
func (h *Host) answered(m *protocol.ProxyStart) *protocol.ProxyStarted {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answers[m.RequestID]
}

func allow(*protocol.ProxyStart) error { return nil }

// The word of a gateway is not enough.
func TestAHostWithoutPermissionStartsNothingR33(t *testing.T) {
	h := New(Config{}, nil)
	m := start("one")
	h.handleMessage(t.Context(), m)
	require.Equal(t, "this host starts no programs", h.answered(m).Error)
}

// A host ends everything that it started, and then starts nothing. A start that fails is answered,
// and one that is repeated is not started twice.
func TestAHostEndsItsPrograms(t *testing.T) {
	ended := make(chan Result, maxHosted+2)
	h := New(Config{Allow: allow, Ended: func(r Result) { ended <- r }, Dial: nobody}, runs)
	ctx, stop := context.WithCancel(t.Context())
	bad := start("bad")
	bad.Command = "no-such-program"
	h.handleMessage(ctx, bad)
	h.wg.Wait()
	require.Equal(t, "command not found", h.answered(bad).Error)
	for i := range maxHosted {
		m := start(fmt.Sprint(i))
		h.handleMessage(ctx, m)
		h.handleMessage(ctx, m)
	}
	many := start("many")
	h.handleMessage(ctx, many)
	require.Equal(t, "256 programs run here already: close some first", h.answered(many).Error)
	stop()
	h.Run(ctx)
	require.Len(t, ended, maxHosted)
	require.Equal(t, 129, (<-ended).Code)
	late := start("late")
	h.handleMessage(ctx, late)
	require.Equal(t, "the host is ending", h.answered(late).Error)
}

func nobody(context.Context) (net.Conn, error) { return nil, errors.New("there is no gateway") }
