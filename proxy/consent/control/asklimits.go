package control

import (
	"fmt"
	"time"
)

// Times until an agent may ask again after the user refused.
const (
	// FirstRefusalWait is the wait of the refused agent after the first refusal, and of any other
	// agent after every refusal. SecondRefusalWait is the wait of the refused agent after the
	// second. After the third the user must open the menu.
	FirstRefusalWait  = 10 * time.Second
	SecondRefusalWait = time.Minute
	// CrowdFor is how long refusals of all agents count together: an agent may return under another
	// name.
	CrowdFor = 10 * time.Minute
	// asksBurst questions of agents may be drawn at once without any answer of the user, and one
	// more in every asksEvery.
	asksBurst = 5
	asksEvery = 10 * time.Second
)

// maxRefusals bounds the agents that are remembered as refused or muted.
const maxRefusals = 64

// NotNow is the error for an agent that may not ask now.
type NotNow struct {
	// For is how long it has to wait; 0 means that waiting does not help.
	For time.Duration
	// Muted means that the user muted this agent.
	Muted bool
	// Times counts the user's refusals of this agent; 0 if another agent was refused.
	Times int
	// Flood means that too many questions came, without a refusal.
	Flood bool
}

// Error implements error: a sentence for the agent.
func (e *NotNow) Error() string {
	wait := (e.For + time.Second - 1).Truncate(time.Second)
	switch {
	case e.Muted:
		return "the user muted you until the end of the session"
	case e.Flood:
		return fmt.Sprintf(
			"too many questions to the user in a short time: the next one may come in %s", wait,
		)
	case e.Times > 0 && e.For > 0:
		return fmt.Sprintf("the user refused you: you may ask again in %s", wait)
	case e.Times > 0:
		return fmt.Sprintf(
			"the user refused you %d times: you may ask again when they have opened the proxy's menu",
			e.Times,
		)
	case e.For > 0:
		return fmt.Sprintf("the user has just refused an agent: you may ask in %s", wait)
	}
	return "the user refused agents too often in a row: they may ask again when the user has opened the proxy's menu"
}

// streak counts refusals in a row.
type streak struct {
	times int
	at    time.Time // of the newest, zero if the user opened the menu since
}

// refusal is the record of an agent that the user refused or muted.
type refusal struct {
	streak // a grant ends it
	agent  Agent
	asks   streak // of questions in a conversation; an answer that allows ends it
	muted  bool
}

// askLimits limits how often agents ask.
type askLimits struct {
	refusals []*refusal // the oldest first
	crowd    streak     // of all agents together
	paid     time.Time  // when the rate limit has recovered from all drawn questions
}

// isSameAgent reports whether two agents count as one: by id, or by what identifies them under
// another id.
func (a Agent) isSameAgent(b Agent) bool {
	return a.ID == b.ID || a.Identity != "" && a.Identity == b.Identity || a.Token != "" && a.Token == b.Token
}

func (n *askLimits) findRefusal(a Agent) *refusal {
	for _, r := range n.refusals {
		if r.agent.isSameAgent(a) {
			return r
		}
	}
	return nil
}

// findOrAdd returns the entry of an agent. Over the limit it drops the oldest unmuted one.
func (n *askLimits) findOrAdd(a Agent) *refusal {
	if r := n.findRefusal(a); r != nil {
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

// noteRefusal notes that the user refused an agent. It reports whether that agent may not ask again
// before the user opens the menu.
func (n *askLimits) noteRefusal(now time.Time, a Agent) (shut bool) {
	r := n.findOrAdd(a)
	r.times, r.at = r.times+1, now
	if !isWithin(now, n.crowd.at, CrowdFor) {
		n.crowd.times = 0
	}
	n.crowd.times, n.crowd.at = n.crowd.times+1, now
	return r.times > 2
}

// noteTrust notes that the user gave an agent control.
func (n *askLimits) noteTrust(a Agent) {
	if r := n.findRefusal(a); r != nil {
		r.streak = streak{}
	}
	n.crowd, n.paid = streak{}, time.Time{}
}

// endWaits lets all unmuted agents ask again: the user opened the menu. The refusals still count:
// the next one makes an agent wait longer.
func (n *askLimits) endWaits() {
	for _, r := range n.refusals {
		r.at, r.asks.at = time.Time{}, time.Time{}
	}
	n.crowd.at, n.paid = time.Time{}, time.Time{}
}

// AskRefusal returns why a question of an agent in a conversation is not put to people now: a
// *NotNow, or nil. An agent refused there may ask something else at once; a second refusal in a
// row, and each further one, makes it wait. Its other requests do not wait for that.
func (n *askLimits) AskRefusal(now time.Time, a Agent) error {
	r := n.findRefusal(a)
	if r == nil {
		return nil
	}
	if r.muted {
		return &NotNow{Muted: true}
	}
	if wait, ok := r.asks.remainingWait(now, min(r.asks.times-1, 2)); !ok {
		return &NotNow{For: wait, Times: r.asks.times}
	}
	return nil
}

// NoteReply notes how a person answered an agent's question in a conversation.
func (n *askLimits) NoteReply(now time.Time, a Agent, refused bool) {
	if refused {
		r := n.findOrAdd(a)
		r.asks = streak{times: r.asks.times + 1, at: now}
	} else if r := n.findRefusal(a); r != nil {
		r.asks = streak{}
	}
}

// IsMuted reports whether the user muted an agent.
func (n *askLimits) IsMuted(a Agent) bool {
	r := n.findRefusal(a)
	return r != nil && r.muted
}

// mayAsk returns why an agent may not ask now. If it may, it returns nil and the question counts.
func (n *askLimits) mayAsk(now time.Time, a Agent) *NotNow {
	if r := n.findRefusal(a); r != nil && r.times > 0 {
		if wait, ok := r.remainingWait(now, r.times); !ok {
			return &NotNow{For: wait, Times: r.times}
		}
	}
	// The step grows more slowly for other agents, which did not see the earlier refusals.
	if wait, ok := n.crowd.remainingWait(now, (n.crowd.times+1)/2); !ok {
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

// remainingWait returns how long the step after a refusal lasts from now on; ok means that it is
// over. 0 without ok means until the menu opens.
func (r *streak) remainingWait(now time.Time, step int) (wait time.Duration, ok bool) {
	if r.at.IsZero() || step <= 0 {
		return 0, true
	}
	switch step {
	case 1:
		wait = FirstRefusalWait
	case 2:
		wait = SecondRefusalWait
	default:
		return 0, false
	}
	wait -= now.Sub(r.at)
	return max(0, wait), wait <= 0
}
