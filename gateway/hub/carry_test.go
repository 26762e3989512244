package hub

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// However many goroutines put messages for many participants, each participant gets each message,
// in order, and never has two turns at once.
func TestTurnsComeOneAtATime(t *testing.T) {
	const participants, messages = 300, 50
	h := New(nil)
	var all sync.WaitGroup
	peers := make([]*Peer, participants)
	for i := range peers {
		p := h.Join(Member{Role: RoleViewer, ID: fmt.Sprint("v-", i)})
		peers[i] = p
		next := 0
		all.Add(messages)
		p.SetNotify(func() {
			for {
				m, err := p.TryNext()
				require.NoError(t, err)
				if m == nil {
					return
				}
				// Without a lock: the race detector sees two turns at once.
				require.Equal(t, fmt.Sprint(next), m.(*protocol.Error).Message)
				next++
				all.Done()
			}
		})
	}
	for i := range messages {
		h.carrier.deferDelivery()
		for _, p := range peers {
			p.Refuse(&protocol.Error{Code: protocol.CodeBusy, Message: fmt.Sprint(i)})
		}
		h.carrier.runDeferred()
	}
	all.Wait()
}

// The last turn has the reason of the end, and no turn follows.
func TestTheLastTurnHasTheReason(t *testing.T) {
	h := New(nil)
	p, ends := h.Join(Member{Role: RoleViewer}), make(chan error, 2)
	p.SetNotify(func() {
		for {
			if m, err := p.TryNext(); err != nil || m == nil {
				if err != nil {
					ends <- err
				}
				return
			}
		}
	})
	p.End(ErrClosed)
	p.End(ErrSlow)
	p.Refuse(&protocol.Error{Code: protocol.CodeBusy})
	require.ErrorIs(t, <-ends, ErrClosed)
	h.carrier.mu.Lock()
	for h.carrier.workers > 0 {
		h.carrier.mu.Unlock()
		time.Sleep(time.Millisecond)
		h.carrier.mu.Lock()
	}
	h.carrier.mu.Unlock()
	require.Empty(t, ends)
}
