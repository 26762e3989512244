package secrets

import (
	"sync"
	"time"

	"terminalproxy/protocol"
)

// Bounds of questions.
const (
	// questionsPerProgram bounds the questions of one kind from one process: a program that accepts
	// no answer would ask for ever.
	questionsPerProgram = 3
	questionsPerAgent   = 10 // in a minute
	questionsInAll      = 30 // in a minute: any process can pose as another agent
	agentPause          = time.Minute
	rememberedFor       = 10 * time.Minute
	maxRemembered       = 256
)

// The refusals of a program that asks too often, or that the user has refused.
const (
	refusedOften Refusal = "the program has asked too often: it got no usable answer"
	refusedFlood Refusal = "too many questions to the user in a short time: wait a minute"
	// refusedByUser is for a program that asks again after the user has refused.
	refusedByUser Refusal = "the user refused. Do not try again or another way; say what you " +
		"wanted to do"
)

// identity tells a process from a later one with its number.
type identity struct {
	pid     int
	started int64
}

// use records the questions of a program or of an agent.
type use struct {
	at      time.Time // of the newest question
	kinds   map[string]int
	prompts map[string]bool // those that had an answer
	refused bool
	recent  []time.Time
	blocked time.Time // it may not ask until then
}

// countRecent records a question. It returns false if there were too many within the last minute.
func (u *use) countRecent(now time.Time, limit int) (ok bool) {
	for len(u.recent) > 0 && now.Sub(u.recent[0]) >= time.Minute {
		u.recent = u.recent[1:]
	}
	switch {
	case now.Before(u.blocked):
		return false
	case len(u.recent) >= limit:
		u.blocked = now.Add(agentPause)
		return false
	}
	u.recent = append(u.recent, now)
	return true
}

// limits bound how often programs ask.
type limits struct {
	mu   sync.Mutex
	uses map[identity]*use
	all  use
}

// admit counts a question. answered means that the program has had an answer to the same prompt.
func (l *limits) admit(
	now time.Time, program, agent identity, kind, prompt string,
) (answered bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, a := l.useLocked(now, program), l.useLocked(now, agent)
	limit := questionsPerProgram
	if kind == protocol.SecretConfirm { // after an unusable answer ssh asks again
		limit = 1
	}
	p.kinds[kind]++
	switch {
	case p.refused:
		return false, refusedByUser
	case p.kinds[kind] > limit:
		return false, refusedOften
	case !a.countRecent(now, questionsPerAgent), !l.all.countRecent(now, questionsInAll):
		return false, refusedFlood
	}
	return p.prompts[prompt], nil
}

// noteAnswer records the user's answer to a program.
func (l *limits) noteAnswer(now time.Time, program identity, prompt string, refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.useLocked(now, program)
	p.refused = p.refused || refused
	p.prompts[prompt] = true
}

// useLocked returns the record of a process, and creates it if needed.
func (l *limits) useLocked(now time.Time, id identity) *use {
	u := l.uses[id]
	if u == nil {
		l.makeRoomLocked(now)
		u = &use{kinds: make(map[string]int), prompts: make(map[string]bool)}
		l.uses[id] = u
	}
	u.at = now
	return u
}

// makeRoomLocked removes old records, and the oldest one if there are too many.
func (l *limits) makeRoomLocked(now time.Time) {
	if l.uses == nil {
		l.uses = make(map[identity]*use)
	}
	var oldest identity
	for id, u := range l.uses {
		if now.Sub(u.at) > rememberedFor {
			delete(l.uses, id)
		} else if o := l.uses[oldest]; o == nil || u.at.Before(o.at) {
			oldest = id
		}
	}
	if len(l.uses) >= maxRemembered {
		delete(l.uses, oldest)
	}
}
