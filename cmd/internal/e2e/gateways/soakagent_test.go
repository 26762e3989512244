package gateways_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/assert"
)

const (
	// soakLimit bounds an input, waitLimit a wait for its effect, and longLimit a wait for the end.
	soakLimit = 10 * time.Second
	waitLimit = 2 * time.Minute
	longLimit = 9 * time.Minute
)

// soakAgent types into its own sessions, one after another, and waits for the effect.
type soakAgent struct {
	*client.Client
	s    *soak
	name string

	mu   sync.Mutex
	mine []*soakSession
}

// soakWord is what was typed into a session, with its receipt.
type soakWord struct {
	text    string
	enter   bool
	receipt *protocol.InputResult // nil: not known
}

func (w soakWord) parts() []protocol.InputPart {
	parts := []protocol.InputPart{{InputKind: protocol.InputText, Data: w.text}}
	if w.enter {
		parts = append(parts, protocol.InputPart{InputKind: protocol.InputKeys, Data: "enter"})
	}
	return parts
}

// part returns how many bytes of a part the receipt claims.
func (w soakWord) part(i int) int {
	switch r := w.receipt; {
	case i < len(r.Parts):
		return r.Parts[i].WrittenBytes
	case i == 0 && len(r.Parts) == 0:
		return r.WrittenBytes
	}
	return 0
}

// least and most bound how many of its bytes the program has read.
func (w soakWord) least() int {
	if w.receipt == nil {
		return 0
	}
	return w.part(0) + w.part(1)
}

func (w soakWord) most() int {
	if w.receipt == nil {
		return len(w.text) + 1
	}
	return w.least()
}

// work types until it is over.
func (a *soakAgent) work(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		default:
		}
		if b := a.any(); b != nil {
			a.typeWord(b, "word")
		} else {
			time.Sleep(world.Glance) // its only session was killed
		}
	}
}

// any returns one of its sessions, or nil.
func (a *soakAgent) any() *soakSession {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.mine) == 0 {
		return nil
	}
	return a.mine[rand.IntN(len(a.mine))]
}

// typeWord types one word, waits for the program to read it, and reports whether it did.
func (a *soakAgent) typeWord(b *soakSession, kind string) bool {
	ctx, cancel := context.WithTimeout(a.s.w.Ctx, waitLimit)
	defer cancel()
	n := a.s.number.Add(1)
	word := soakWord{text: fmt.Sprintf("[%s.%d]", kind, n), enter: n%4 == 0}
	heard := make(chan world.Answer, 1)
	go func() { // ends with the wait, which cancel ends
		r, err := a.Wait(ctx, &protocol.Wait{SessionID: b.id, Until: protocol.Until{Text: "heard " + word.text}, TimeoutMs: waitLimit.Milliseconds()})
		heard <- world.Answer{Fails: err != nil || !r.Met, Err: err}
	}()
	typed, err := client.Type(ctx, a, client.Typing{
		Session: protocol.SessionInfo{SessionID: b.id}, Parts: word.parts(), Deadline: time.Now().Add(soakLimit),
		Mine: func(k protocol.Keyboard) bool { return k.AgentName == a.name },
	})
	if typed == nil {
		return false // nothing was sent
	}
	if err == nil {
		word.receipt = typed.Result
	}
	b.mu.Lock()
	b.words = append(b.words, word)
	b.mu.Unlock()
	switch {
	case err != nil:
		a.s.unknown.Add(1)
	case typed.Result.Status == protocol.StatusWritten:
		a.s.typed.Add(1)
		return a.waitMet(b, word, heard)
	case typed.Result.Status == protocol.StatusRefused:
		a.s.refused.Add(1)
	default:
		a.s.partly.Add(1)
	}
	_, _, _ = a.Request(ctx, &protocol.ControlRequest{SessionID: b.id, Level: protocol.LevelDrive, Why: "to type"}) // the next word shows whether it was granted
	return false
}

// waitMet waits for the answer to a wait, which a live session gives.
func (a *soakAgent) waitMet(b *soakSession, word soakWord, heard <-chan world.Answer) bool {
	said := <-heard
	if said.Fails {
		assert.True(a.s.w.T, b.killed.Load(), "%s: nobody said that %s was heard: %v", b.id, word.text, said.Err)
		return false
	}
	a.s.met.Add(1)
	return true
}

// waitForTheEnd waits at one session for the last word, across all gateways until then.
func (a *soakAgent) waitForTheEnd() {
	b := a.any()
	r, err := a.Wait(a.s.w.Ctx, &protocol.Wait{SessionID: b.id, Until: protocol.Until{Text: "heard [last."}, TimeoutMs: longLimit.Milliseconds()})
	if b.killed.Load() {
		return
	}
	if assert.NoError(a.s.w.T, err, b.id) && assert.True(a.s.w.T, r.Met, b.id) {
		a.s.long.Add(1)
	}
}

// last types a last word into each of its sessions: all of them work.
func (a *soakAgent) last() {
	for _, b := range a.mine {
		for end := time.Now().Add(world.Patience); !a.typeWord(b, "last"); {
			if !assert.True(a.s.w.T, time.Now().Before(end), "%s takes no input", b.id) {
				return
			}
		}
	}
}
