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

// limits bound how often programs ask.
type limits struct {
	mu   sync.Mutex
	uses map[identity]*use
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
	for len(a.recent) > 0 && now.Sub(a.recent[0]) >= time.Minute {
		a.recent = a.recent[1:]
	}
	switch {
	case p.refused:
		return false, refusedByUser
	case p.kinds[kind] > most:
		return false, refusedOften
	case now.Before(a.shut):
		return false, refusedFlood
	case len(a.recent) >= askersPerAgent:
		a.shut = now.Add(agentPause)
		return false, refusedFlood
	}
	a.recent = append(a.recent, now)
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
