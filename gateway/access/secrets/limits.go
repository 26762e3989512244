package secrets

import (
	"sync"
	"time"

	"terminalproxy/protocol"
)

// Bounds of questions.
const (
	// askersPerProgram questions of one kind may come from one process: a program that takes no
	// answer asks for ever.
	askersPerProgram = 3
	askersPerAgent   = 10 // in a minute
	askersInAll      = 30 // in a minute: any process can look like another agent
	agentPause       = time.Minute
	rememberedFor    = 10 * time.Minute
	maxRemembered    = 256
)

// The refusals of what asks too much, and of what the user has refused.
const (
	refusedOften Refusal = "the program has asked too often: it got no usable answer"
	refusedFlood Refusal = "too many questions to the user in a short time: wait a minute"
	// refusedByUser is for a program that asks again although the user has refused.
	refusedByUser Refusal = "the user refused. Do not try again or another way; say what you " +
		"wanted to do"
)

// identity tells a process from a later one with its number.
type identity struct {
	pid     int
	started int64
}

// use is what a program, or an agent, has asked.
type use struct {
	at      time.Time // of the newest question
	kinds   map[string]int
	words   map[string]bool // of its prompts, with an answer
	refused bool
	recent  []time.Time
	shut    time.Time // until when it may not ask
}

// countRecent notes a question, unless most of them came within the last minute.
func (u *use) countRecent(now time.Time, most int) (isFew bool) {
	for len(u.recent) > 0 && now.Sub(u.recent[0]) >= time.Minute {
		u.recent = u.recent[1:]
	}
	switch {
	case now.Before(u.shut):
		return false
	case len(u.recent) >= most:
		u.shut = now.Add(agentPause)
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

// admit counts a question. again means that the program has had an answer to these words.
func (l *limits) admit(
	now time.Time, program, agent identity, kind, words string,
) (again bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, a := l.useLocked(now, program), l.useLocked(now, agent)
	most := askersPerProgram
	if kind == protocol.SecretConfirm { // an answer that ssh does not take is asked for again
		most = 1
	}
	p.kinds[kind]++
	switch {
	case p.refused:
		return false, refusedByUser
	case p.kinds[kind] > most:
		return false, refusedOften
	case !a.countRecent(now, askersPerAgent), !l.all.countRecent(now, askersInAll):
		return false, refusedFlood
	}
	return p.words[words], nil
}

// noteAnswer notes what the user said to a program.
func (l *limits) noteAnswer(now time.Time, program identity, words string, refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.useLocked(now, program)
	p.refused = p.refused || refused
	p.words[words] = true
}

// useLocked returns the use of a process, and forgets those of long ago.
func (l *limits) useLocked(now time.Time, of identity) *use {
	u := l.uses[of]
	if u == nil {
		l.makeRoomLocked(now)
		u = &use{kinds: make(map[string]int), words: make(map[string]bool)}
		l.uses[of] = u
	}
	u.at = now
	return u
}

// makeRoomLocked forgets the uses of long ago, and the oldest one if there are too many.
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
