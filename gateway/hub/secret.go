package hub

import (
	"sort"

	"terminalproxy/protocol"
)

// watchSecrets sends a participant the open questions for secrets, and each later one. Participants
// of other gateways do not get them, because they may belong to another person.
func (p *Peer) watchSecrets(m *protocol.SecretWatch) {
	h := p.hub
	if p.member.Remote {
		p.failRequest(m, protocol.CodeForbidden, "questions for secrets are not sent to participants of other gateways")
		return
	}
	h.secretWatchers[p] = struct{}{}
	var open []*pending
	for owner := range h.peers {
		for _, q := range owner.unanswered {
			if p.maySeeSecret(q) {
				open = append(open, q)
			}
		}
	}
	sort.Slice(open, func(i, k int) bool { return open[i].number < open[k].number })
	for _, q := range open {
		p.out.put(q.request)
	}
	p.out.put(&protocol.Done{RequestID: m.RequestID})
}

// maySeeSecret reports whether q is a question for a secret that this watcher may see.
func (p *Peer) maySeeSecret(q *pending) bool {
	_, asks := q.request.(*protocol.SecretAsk)
	return asks && q.session.key.namespace == p.member.Namespace &&
		p.member.Rights.CanSee(q.session.key.id)
}

// offerSecret sends a question for a secret to its watchers, and marks it as sent to them. It
// ignores other requests.
func (q *pending) offerSecret() {
	ask, asks := q.request.(*protocol.SecretAsk)
	if !asks {
		return
	}
	for p := range q.owner.hub.secretWatchers {
		if p.maySeeSecret(q) {
			ask.Watched = true
		}
	}
	q.sendSecretWatchers(ask)
}

// endSecret informs the watchers that a question for a secret has ended. answer is the proxy's, or
// nil if the program has stopped waiting.
func (q *pending) endSecret(answer protocol.Message) {
	if _, asks := q.request.(*protocol.SecretAsk); !asks {
		return
	}
	end := &protocol.SecretEnded{Question: q.wireID, SessionID: q.session.key.id}
	switch answer := answer.(type) {
	case *protocol.SecretAnswer:
		end.Verdict, end.By = answer.Verdict, answer.By
	case *protocol.Error:
		end.Moved = true
	}
	q.sendSecretWatchers(end)
}

func (q *pending) sendSecretWatchers(m protocol.Message) {
	for p := range q.owner.hub.secretWatchers {
		if p.maySeeSecret(q) {
			p.out.put(m)
		}
	}
}
