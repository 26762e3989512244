package link

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

func output(seq uint64, n int) *protocol.Output {
	return &protocol.Output{ID: "o", SessionID: "vim-1", Seq: seq, DataB64: make([]byte, n)}
}

// A stalled gateway costs the session neither memory nor its connection; when it continues, it
// needs a repaint.
func TestAStalledGatewayIsRepainted(t *testing.T) {
	stall, seen := make(chan struct{}), make(chan uint64, 1<<16)
	dial := fake.Gateway(t, func(conn fake.Conn) {
		<-stall
		for m := hear(t, conn); m != nil; m = hear(t, conn) {
			if o, ok := m.(*protocol.Output); ok {
				seen <- o.Seq
			}
		}
	})
	ready, behind := make(chan struct{}), make(chan struct{}, 16)
	l, _ := link(t, Config{Dial: dial, Up: func() { close(ready) }, Behind: func() { behind <- struct{}{} }})
	<-ready
	const pieces = 1000
	for i := range pieces {
		l.SendLive(output(uint64(i), 32<<10))
		l.mu.Lock()
		require.LessOrEqual(t, l.live.bytes, liveMax)
		l.mu.Unlock()
	}
	close(stall)
	for last := uint64(0); last != pieces; {
		select {
		case <-behind:
			l.SendLive(output(pieces, 1))
		case last = <-seen:
		case <-time.After(fake.Soon):
			require.FailNow(t, "nothing comes any more")
		}
	}
}
