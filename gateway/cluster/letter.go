package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
)

// callPeer sends a letter to another gateway and waits for its answer. It retries once after a
// timeout: letters are numbered, so each is taken once. The end of ctx ends the wait.
func (m *mesh) callPeer(ctx context.Context, to, where string, l *letter) (reply, error) {
	l.From, l.Bond = m.name(), m.bondOf(to)
	data, err := l.seal()
	if err != nil {
		return reply{}, err
	}
	for try := 0; ; try++ {
		r, err := m.sendLetter(ctx, prefix+to+where, data)
		if try == 1 || !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil ||
			!m.isKnown(to) {
			return r, err
		}
	}
}

func (m *mesh) sendLetter(ctx context.Context, subject string, data []byte) (r reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	m.stats.sent.Add(1)
	m.stats.sentBytes.Add(uint64(len(data)))
	largest := m.bus.maxMessageBytes()
	if largest <= partHead {
		return r, errOffline
	}
	for _, message := range cut(data, rand.Uint64(), largest) {
		answer, err := m.bus.request(ctx, subject, message)
		if err != nil {
			return r, err
		}
		if err := json.Unmarshal(answer, &r); err != nil {
			return r, errWire
		}
	}
	return r, nil
}

// handleLetters returns a handler for the letters on a subject. It rejects and logs a malformed
// letter, and names its sender.
func (m *mesh) handleLetters(
	limit int, take func(*letter) reply,
) func(data []byte, answer func([]byte)) {
	return func(data []byte, answer func([]byte)) {
		m.stats.got.Add(1)
		m.stats.gotBytes.Add(uint64(len(data)))
		var r reply
		data, done, err := m.parts.addPart(data)
		var l *letter
		if done {
			l, err = unseal(data, limit)
		}
		switch {
		case err != nil:
			from := ""
			if l != nil {
				from = l.From
			}
			m.logRefusal(from, err.Error())
			r.Wrong = err.Error()
		case done && !m.inCurrentBond(l):
			r.Lost = true
		case done:
			r = take(l)
		}
		if data, err := json.Marshal(r); err == nil {
			answer(data)
		}
	}
}

// logRefusal logs a forbidden or malformed letter of another gateway.
func (m *mesh) logRefusal(from, why string) {
	m.stats.refused.Add(1)
	m.log.Warn("cluster: refused", "gateway", from, "cause", why)
}
