package question

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
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

// maxAgents bounds the remembered agents.
const maxAgents = 64

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
	// Open is how many questions wait for the user, if those are too many.
	Open int
}

// Error implements error: a sentence for the agent.
func (e *NotNow) Error() string {
	wait := (e.For + time.Second - 1).Truncate(time.Second)
	switch {
	case e.Muted:
		return "the user muted you until the end of the session"
	case e.Open > 0:
		return fmt.Sprintf("%d questions wait for the user already: ask again later", e.Open)
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

// Refusal returns the answer to a request that is not put to the user.
func (e *NotNow) Refusal(requestID string) *protocol.Error {
	code := protocol.CodeBusy
	if e.Muted {
		code = protocol.CodeUserRefused
	}
	return &protocol.Error{
		RequestID: requestID, Code: code, Message: e.Error(),
		RetryAfterMs: int64((e.For + time.Millisecond - 1) / time.Millisecond),
	}
}

// streak counts refusals in a row.
type streak struct {
	times int
	at    time.Time // of the newest, zero if the user opened the menu since
}

// record is what the user did to an agent that has asked for something.
type record struct {
	streak // of refusals; a grant or an answer ends it
	agent  Agent
	asks   streak // of refused questions in a conversation; an answer that allows ends it
	muted  bool
}

// limits limits how often agents ask, whatever they ask.
type limits struct {
	records []*record // the oldest first
	crowd   streak    // of all agents together
	paid    time.Time // when the rate limit has recovered from all drawn questions
	// LastAgent is the agent that the user last dealt with.
	LastAgent Agent
}

// Agent identifies an agent. ID comes from the gateway, "" for one that is known only by the
// program that it started. Name is for people. Identity stays the same under another id: the name
// of its token, or the name that it gives itself; it may be "".
//
// Token is the name of the local token that it proved, or "".
type Agent struct{ ID, Name, Identity, Token string }

// IsSame reports whether two agents count as one: by id, or by what identifies them under another
// id.
func (a Agent) IsSame(b Agent) bool {
	return a.ID != "" && a.ID == b.ID || a.Identity != "" && a.Identity == b.Identity ||
		a.Token != "" && a.Token == b.Token
}

// find returns the record of an agent, or nil.
func (n *limits) find(a Agent) *record {
	for _, r := range n.records {
		if r.agent.IsSame(a) {
			return r
		}
	}
	return nil
}

// findOrAdd returns the record of an agent. Over the limit it drops the oldest record that matters
// least: without a refusal, or else without a mute.
func (n *limits) findOrAdd(a Agent) *record {
	if r := n.find(a); r != nil {
		return r
	}
	if len(n.records) >= maxAgents {
		at := slices.IndexFunc(n.records, func(r *record) bool {
			return !r.muted && r.times+r.asks.times == 0
		})
		if at < 0 {
			at = max(0, slices.IndexFunc(n.records, func(r *record) bool { return !r.muted }))
		}
		n.records = slices.Delete(n.records, at, at+1)
	}
	r := &record{agent: a}
	n.records = append(n.records, r)
	return r
}

// countEnding counts the answer to a question for its agent.
func (n *limits) countEnding(now time.Time, c *Question, how Ending) {
	switch {
	case !c.Kind.isLimited():
	case how == Refused:
		n.noteRefusal(now, c.Agent)
	case how == Answered:
		n.NoteTrust(c.Agent)
	}
}

func (n *limits) noteRefusal(now time.Time, a Agent) {
	r := n.findOrAdd(a)
	r.times, r.at = r.times+1, now
	if !isWithin(now, n.crowd.at, CrowdFor) {
		n.crowd.times = 0
	}
	n.crowd.times, n.crowd.at = n.crowd.times+1, now
}

// IsBlocked reports whether an agent may not ask again before the user opens the menu.
func (n *limits) IsBlocked(a Agent) bool {
	r := n.find(a)
	return r != nil && r.times > 2 && !r.at.IsZero()
}

// NoteTrust notes that the user gave an agent control, or an answer.
func (n *limits) NoteTrust(a Agent) {
	if r := n.find(a); r != nil {
		r.streak = streak{}
	}
	n.crowd, n.paid = streak{}, time.Time{}
}

// endWaits lets all unmuted agents ask again: the user opened the menu. The refusals still count:
// the next one makes an agent wait longer.
func (n *limits) endWaits() {
	for _, r := range n.records {
		r.at, r.asks.at = time.Time{}, time.Time{}
	}
	n.crowd.at, n.paid = time.Time{}, time.Time{}
}

// AskRefusal returns why a question of an agent in a conversation is not put to people now: a
// *NotNow, or nil. An agent refused there may ask something else at once; a second refusal in a
// row, and each further one, makes it wait. Its other requests do not wait for that.
func (n *limits) AskRefusal(now time.Time, a Agent) error {
	r := n.find(a)
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
func (n *limits) NoteReply(now time.Time, a Agent, refused bool) {
	if refused {
		r := n.findOrAdd(a)
		r.asks = streak{times: r.asks.times + 1, at: now}
	} else if r := n.find(a); r != nil {
		r.asks = streak{}
	}
}

// IsMuted reports whether the user muted an agent.
func (n *limits) IsMuted(a Agent) bool {
	r := n.find(a)
	return r != nil && r.muted
}

// Mute mutes an agent until the end of the session.
func (n *limits) Mute(a Agent) { n.findOrAdd(a).muted = true }

// Unmute unmutes the agent of that name, or all if name is "". It reports whether one was muted.
func (n *limits) Unmute(name string) (did bool) {
	for _, r := range n.records {
		if r.muted && (name == "" || r.agent.Name == name) {
			r.muted, did = false, true
		}
	}
	return did
}

// MutedNames joins the names of the muted agents.
func (n *limits) MutedNames() string {
	var names []string
	for _, r := range n.records {
		if r.muted {
			names = append(names, r.agent.Name)
		}
	}
	return strings.Join(names, ",")
}

// FindByName finds an agent of that name that has asked for something.
func (n *limits) FindByName(name string) (a Agent, ok bool) {
	for _, r := range n.records {
		if r.agent.Name == name {
			return r.agent, true
		}
	}
	return Agent{}, false
}

// mayAsk returns why an agent may not ask now. If it may, it returns nil and the question counts.
func (n *limits) mayAsk(now time.Time, a Agent) *NotNow {
	if r := n.find(a); r != nil {
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
