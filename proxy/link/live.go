package link

import "terminalproxy/protocol"

// liveMax bounds the live output that waits for the gateway, in bytes; beyond it all of it is left out.
const liveMax = 256 << 10

// live is the live output that waits. It belongs to the link's lock.
type live struct {
	waiting []protocol.Message
	bytes   int
	behind  bool // some was left out: more is of no use before a repaint
}

// Live queues live output. When the gateway is too slow for it, what waits is left out, and Config.Behind says when it is
// time for a repaint. Without a connection it is dropped.
func (l *Link) Live(m *protocol.Output) {
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
	l.signal()
}

// waits reports whether there is something for take.
func (v *live) waits() bool { return len(v.waiting) > 0 || v.behind }

// take is what waits now, and whether some was left out.
func (v *live) take() (waiting []protocol.Message, behind bool) {
	waiting, behind = v.waiting, v.behind
	*v = live{}
	return waiting, behind
}
