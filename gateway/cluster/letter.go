package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
)

// call sends a letter to another gateway and waits for its answer; once more where the first was not answered in time: letters are
// numbered, and none is taken twice. The end of ctx is the end of waiting.
func (c *Cluster) call(ctx context.Context, to, where string, l *letter) (reply, error) {
	l.From, l.Bond = c.name, c.bondOf(to)
	data, err := l.seal()
	if err != nil {
		return reply{}, err
	}
	for try := 0; ; try++ {
		r, err := c.send(ctx, prefix+to+where, data)
		if try == 1 || !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil || !c.alive(to) {
			return r, err
		}
	}
}

func (c *Cluster) send(ctx context.Context, subject string, data []byte) (r reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	c.stats.sent.Add(1)
	c.stats.sentBytes.Add(uint64(len(data)))
	largest := c.bus.largest()
	if largest <= partHead {
		return r, errOffline
	}
	for _, m := range cut(data, rand.Uint64(), largest) {
		answer, err := c.bus.request(ctx, subject, m)
		if err != nil {
			return r, err
		}
		if err := json.Unmarshal(answer, &r); err != nil {
			return r, errWire
		}
	}
	return r, nil
}

// received takes what comes to a subject, letter by letter. What is none is refused, named and logged.
func (c *Cluster) received(limit int, take func(*letter) reply) func(data []byte, answer func([]byte)) {
	return func(data []byte, answer func([]byte)) {
		c.stats.got.Add(1)
		c.stats.gotBytes.Add(uint64(len(data)))
		var r reply
		data, done, err := c.parts.join(data)
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
			c.refuse(from, err.Error())
			r.Wrong = err.Error()
		case done && !c.bonded(l):
			r.Lost = true
		case done:
			r = take(l)
		}
		if data, err := json.Marshal(r); err == nil {
			answer(data)
		}
	}
}

// refuse logs what another gateway may not do, or does wrong.
func (c *Cluster) refuse(from, why string) {
	c.stats.refused.Add(1)
	c.log.Warn("cluster: refused", "gateway", from, "cause", why)
}
