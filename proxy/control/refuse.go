package control

import (
	"fmt"
	"time"
)

// Times of asking again after the user refused.
const (
	// AgainSoon is when the refused agent may ask again after the first time, and any other agent after every time;
	// AgainLater that after the second time. After the third it is when the user opens the menu.
	AgainSoon  = 10 * time.Second
	AgainLater = time.Minute
	// CrowdFor is how long refusals count together, whomever they met: an agent is free to come under another name.
	CrowdFor = 10 * time.Minute
	// asksBurst questions of agents may be drawn at once, without any answer of the user's, and one more in every asksEvery.
	asksBurst = 5
	asksEvery = 10 * time.Second
)

// maxRefusals bounds the agents that are remembered as refused or muted.
const maxRefusals = 64

// NotNow is why an agent may not ask now.
type NotNow struct {
	// For is how long it has to wait, 0 for more than time.
	For time.Duration
	// Muted says that the user wants to hear nothing of this agent.
	Muted bool
	// Times is how often the user refused this agent, 0 where it is another one that was refused.
	Times int
	// Flood says that nobody was refused, but too many questions came.
	Flood bool
}

// Error implements error: a sentence for the agent.
func (e *NotNow) Error() string {
	wait := (e.For + time.Second - 1).Truncate(time.Second)
	switch {
	case e.Muted:
		return "the user muted you until the end of the session"
	case e.Flood:
		return fmt.Sprintf("too many questions to the user in a short time: the next one may come in %s", wait)
	case e.Times > 0 && e.For > 0:
		return fmt.Sprintf("the user refused you: you may ask again in %s", wait)
	case e.Times > 0:
		return fmt.Sprintf("the user refused you %d times: you may ask again when they have opened the proxy's menu", e.Times)
	case e.For > 0:
		return fmt.Sprintf("the user has just refused an agent: you may ask in %s", wait)
	}
	return "the user refused agents too often in a row: they may ask again when the user has opened the proxy's menu"
}

// row are refusals one after the other.
type row struct {
	times int
	at    time.Time // of the newest, zero if the user opened the menu since
}

// refusal is what is remembered of an agent that the user refused or muted.
type refusal struct {
	row   // control that is given ends it
	agent Agent
	asks  row // of what it asked in a conversation: an answer that allows ends it
	muted bool
}

// manners bound how often agents ask. They belong to the machine.
type manners struct {
	refusals []*refusal // the oldest first
	crowd    row        // all of them together
	paid     time.Time  // when every question that was drawn would be paid for
}

// same reports whether two agents count as one: by id, or by what it is known by when it comes back under another id.
func (a Agent) same(b Agent) bool {
	return a.ID == b.ID || a.Kin != "" && a.Kin == b.Kin || a.Token != "" && a.Token == b.Token
}

func (n *manners) find(a Agent) *refusal {
	for _, r := range n.refusals {
		if r.agent.same(a) {
			return r
		}
	}
	return nil
}

// remember is the entry of an agent, made if need be. Where there are too many the oldest goes that is not muted.
func (n *manners) remember(a Agent) *refusal {
	if r := n.find(a); r != nil {
		return r
	}
	if len(n.refusals) >= maxRefusals {
		at := 0
		for at < len(n.refusals)-1 && n.refusals[at].muted {
			at++
		}
		n.refusals = append(n.refusals[:at], n.refusals[at+1:]...)
	}
	r := &refusal{agent: a}
	n.refusals = append(n.refusals, r)
	return r
}

// refused notes that the user refused an agent. It reports whether that agent may not ask again before the user opens the
// menu.
func (n *manners) refused(now time.Time, a Agent) (shut bool) {
	r := n.remember(a)
	r.times, r.at = r.times+1, now
	if !within(now, n.crowd.at, CrowdFor) {
		n.crowd.times = 0
	}
	n.crowd.times, n.crowd.at = n.crowd.times+1, now
	return r.times > 2
}

// trusted notes that the user gave an agent control.
func (n *manners) trusted(a Agent) {
	if r := n.find(a); r != nil {
		r.row = row{}
	}
	n.crowd, n.paid = row{}, time.Time{}
}

// relent lets everybody ask that is not muted: the user opened the menu. Who is refused once more waits as long as before.
func (n *manners) relent() {
	for _, r := range n.refusals {
		r.at, r.asks.at = time.Time{}, time.Time{}
	}
	n.crowd.at, n.paid = time.Time{}, time.Time{}
}

// MayAsk says why what an agent asks in a conversation is not put to its people now, nil if it is: a *NotNow. Who is refused there goes on
// with something else, and may at once; a second refusal in a row, and each one more, has it wait. Nothing else of an agent's waits for that.
func (m *Machine) MayAsk(now time.Time, a Agent) error {
	r := m.manners.find(a)
	if r == nil {
		return nil
	}
	if r.muted {
		return &NotNow{Muted: true}
	}
	if wait, ok := r.asks.rest(now, min(r.asks.times-1, 2)); !ok {
		return &NotNow{For: wait, Times: r.asks.times}
	}
	return nil
}

// Replied notes how a person answered what an agent asked in a conversation.
func (m *Machine) Replied(now time.Time, a Agent, refused bool) {
	if refused {
		r := m.manners.remember(a)
		r.asks = row{times: r.asks.times + 1, at: now}
	} else if r := m.manners.find(a); r != nil {
		r.asks = row{}
	}
}

// muted reports whether the user muted an agent.
func (n *manners) muted(a Agent) bool {
	r := n.find(a)
	return r != nil && r.muted
}

// mayAsk says why an agent may not ask now, nil if it may; then its question counts.
func (n *manners) mayAsk(now time.Time, a Agent) *NotNow {
	if r := n.find(a); r != nil && r.times > 0 {
		if wait, ok := r.rest(now, r.times); !ok {
			return &NotNow{For: wait, Times: r.times}
		}
	}
	// The second of each two steps is for another agent that knows nothing of the refusal before.
	if wait, ok := n.crowd.rest(now, (n.crowd.times+1)/2); !ok {
		return &NotNow{For: wait}
	}
	paid := now
	if n.paid.After(now) {
		paid = n.paid
	}
	if wait := paid.Sub(now) - (asksBurst-1)*asksEvery; wait > 0 {
		return &NotNow{For: wait, Flood: true}
	}
	n.paid = paid.Add(asksEvery)
	return nil
}

// rest is how long the step after a refusal lasts from now on; ok if it is over. 0 and not ok is until the menu opens.
func (r *row) rest(now time.Time, step int) (wait time.Duration, ok bool) {
	if r.at.IsZero() || step <= 0 {
		return 0, true
	}
	switch step {
	case 1:
		wait = AgainSoon
	case 2:
		wait = AgainLater
	default:
		return 0, false
	}
	wait -= now.Sub(r.at)
	return max(0, wait), wait <= 0
}
