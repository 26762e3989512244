package hub

import "terminalproxy/protocol"

// following is a stream of a session with its followers: its snapshots, rows, live output or
// conversation. F is the hub's state for one follower. The proxy sends a stream once, while it has
// followers. Guarded by Hub.mu.
type following[F any] struct {
	session   *session
	followers map[*Peer]*F
	// begin returns the message that starts the stream, and end the one that stops it. Either
	// returns nil if the proxy needs no message. end also drops the data kept for followers.
	begin, end func() protocol.Message
}

func newFollowing[F any](s *session, begin, end func() protocol.Message) following[F] {
	return following[F]{s, make(map[*Peer]*F), begin, end}
}

// add adds a follower. The first one makes the proxy send the stream.
func (f *following[F]) add(p *Peer, follower *F) {
	if f.followers[p] = follower; len(f.followers) == 1 {
		f.resume()
	}
}

// remove removes a participant and returns its state, or nil. The proxy stops sending when the last
// one is removed.
func (f *following[F]) remove(p *Peer) (removed *F) {
	removed = f.followers[p]
	if delete(f.followers, p); removed != nil && len(f.followers) == 0 {
		f.session.sendToProxy(f.end())
	}
	return removed
}

// resume asks the session's proxy for the stream, if it has followers.
func (f *following[F]) resume() {
	if f.session.owner != nil && len(f.followers) > 0 {
		f.session.sendToProxy(f.begin())
	}
}
