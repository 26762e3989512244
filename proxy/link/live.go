package link

import "terminalproxy/protocol"

// liveMax bounds the live output that waits for the gateway, in bytes; over it all of the output is
// dropped.
const liveMax = 256 << 10

// live is the live output that waits. Guarded by Link.mu.
type live struct {
	waiting []protocol.Message
	bytes   int
	behind  bool // some was dropped: more is useless before a repaint
}

// SendLive queues live output. If the gateway is too slow for it, the waiting output is dropped,
// and Config.Behind says when to repaint. Without a connection it is dropped.
func (l *Link) SendLive(m *protocol.Output) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.via == nil || l.live.behind:
		return
	case l.live.bytes > 0 && l.live.bytes+len(m.DataB64) > liveMax:
		l.live = live{behind: true}
	default:
		l.live.waiting = append(l.live.waiting, m)
		l.live.bytes += len(m.DataB64)
	}
	l.wakeWriter()
}

// isWaiting reports whether takeAll has something to return.
func (v *live) isWaiting() bool { return len(v.waiting) > 0 || v.behind }

// takeAll returns the waiting output, and whether some was dropped.
func (v *live) takeAll() (waiting []protocol.Message, behind bool) {
	waiting, behind = v.waiting, v.behind
	*v = live{}
	return waiting, behind
}
