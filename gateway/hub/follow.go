package hub

import "terminalproxy/protocol"

// following is a stream of a session with its followers: its snapshots, rows, live output or
// conversation. F is what the hub knows of a follower. The proxy sends a stream once, while it is
// followed. Guarded by Hub.mu.
type following[F any] struct {
	session   *session
	followers map[*Peer]*F
	// begin returns the request for the stream, end what ends it; nil if the proxy need not know.
	// end also drops the data that is kept for followers.
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

// remove removes a participant and returns what was known of it, or nil. The proxy stops sending
// after the last one.
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
