package observer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/screen"
)

// Every case of the kernel's report combined with the shell's marks.
func TestJudge(t *testing.T) {
	const group = 7
	marked := func(state screen.MarkState, typed bool) func(*inputWait) {
		return func(w *inputWait) {
			w.marks = screen.Marks{State: state, Exit: 2, HasExit: true}
			w.prompt.group, w.prompt.writes = group, w.seen.writes
			if typed {
				w.prompt.writes--
			}
		}
	}
	another := func(w *inputWait) { marked(screen.AtInput, false)(w); w.prompt.group = group + 1 }
	none := func(*inputWait) {}
	lines := func(w *inputWait) { w.program = stagedProgram{&stage{line: cooked}} }
	const prompt, read, poll, canonical = protocol.EvidencePrompt, protocol.EvidenceRead, protocol.EvidencePoll, protocol.EvidenceCanonical
	for _, c := range []struct {
		name  string
		a     child.Blocked
		deaf  bool // the system reports nothing
		marks func(*inputWait)
		want  waitState
	}{
		{"busy", child.Blocked{}, false, none, waitState{}},
		{"reads", child.Blocked{Reads: true}, false, none, waitState{evidence: []string{read}}},
		{"reads lines", child.Blocked{Reads: true}, false, lines, waitState{evidence: []string{read, canonical}}},
		{"reads and polls", child.Blocked{Reads: true, Polls: true}, false, none, waitState{evidence: []string{read}}},
		{"polls", child.Blocked{Polls: true, Asleep: true}, false, none, waitState{evidence: []string{poll}, polls: true}},
		{"shares", child.Blocked{Shares: true, Asleep: true}, false, none, waitState{guess: protocol.GuessLoop}},
		{"loops", child.Blocked{Loops: true}, false, none, waitState{guess: protocol.GuessLoop}},
		{"polls among loops", child.Blocked{Polls: true, Loops: true}, false, none, waitState{evidence: []string{poll}, polls: true}},
		{"reads beside a relay", child.Blocked{Reads: true, Relay: "ssh"}, false, none, waitState{evidence: []string{read}}},
		{"asleep elsewhere", child.Blocked{Asleep: true}, false, lines, waitState{}},
		{"relay", child.Blocked{Relay: "ssh", Asleep: true}, false, none, waitState{guess: protocol.GuessRelay}},
		{"relay that runs", child.Blocked{Relay: "ssh"}, false, none, waitState{}},
		{"unclear", child.Blocked{Unclear: true, Asleep: true}, false, none, waitState{guess: protocol.GuessSleeping}},
		{"unclear and running", child.Blocked{Unclear: true}, false, none, waitState{}},
		{"nothing known", child.Blocked{}, true, none, waitState{}},

		{"prompt, polls", child.Blocked{Polls: true}, false, marked(screen.AtInput, false), waitState{evidence: []string{prompt, poll}, polls: true, exit: new(2)}},
		{"prompt, half a command", child.Blocked{Polls: true}, false, marked(screen.AtInput, true), waitState{evidence: []string{prompt, poll}, polls: true, exit: new(2)}},
		{"prompt, shares", child.Blocked{Shares: true}, false, marked(screen.AtInput, true), waitState{evidence: []string{prompt, poll}, polls: true, exit: new(2)}},
		{"prompt, loops", child.Blocked{Loops: true}, false, marked(screen.AtInput, false), waitState{evidence: []string{prompt}, exit: new(2)}},
		{"prompt, loops, half a command", child.Blocked{Loops: true}, false, marked(screen.AtInput, true), waitState{guess: protocol.GuessLoop}},
		{"prompt around a loop", child.Blocked{Shares: true}, false, another, waitState{guess: protocol.GuessLoop}},
		{"prompt of a shell without C, busy", child.Blocked{Asleep: true}, false, marked(screen.AtInput, false), waitState{}},
		{"prompt of the shell around", child.Blocked{Reads: true}, false, another, waitState{evidence: []string{read}}},
		{"prompt around a relay", child.Blocked{Relay: "ssh", Asleep: true}, false, another, waitState{guess: protocol.GuessRelay}},
		{"builtin that reads", child.Blocked{Reads: true}, false, marked(screen.RunningCommand, true), waitState{evidence: []string{read}}},
		{"prompt behind a relay", child.Blocked{Relay: "ssh"}, false, marked(screen.AtInput, false), waitState{evidence: []string{prompt}, exit: new(2)}},
		{"typed behind a relay", child.Blocked{Relay: "ssh", Asleep: true}, false, marked(screen.AtInput, true), waitState{guess: protocol.GuessRelay}},
		{"command behind a relay", child.Blocked{Relay: "ssh", Asleep: true}, false, marked(screen.RunningCommand, true), waitState{}},
		{"prompt, nothing else known", child.Blocked{}, true, marked(screen.AtInput, false), waitState{evidence: []string{prompt}, exit: new(2)}},
		{"typed, nothing else known", child.Blocked{}, true, marked(screen.AtInput, true), waitState{}},
		{"unclear at its prompt", child.Blocked{Unclear: true}, false, marked(screen.AtInput, false), waitState{evidence: []string{prompt}, exit: new(2)}},
	} {
		w := &inputWait{
			seen: moment{writes: 3}, line: stagedSession{new(stage)}.Line, program: stagedProgram{new(stage)},
		}
		c.marks(w)
		c.a.Group = group
		require.Equal(t, c.want, w.weighEvidence(time.Now(), c.a, !c.deaf), c.name)
	}
}

// An event loop always listens. It counts as waiting after it and the screen were quiet for a
// second since the last key, with no process started since; a known program that edits a line waits
// at once.
func TestAnEventLoopWaitsByAGuess(t *testing.T) {
	word := func(s *stage, after time.Duration) string {
		s.passes(after)
		return s.waitView().InputWait(s.now)
	}
	begun := func(loop child.Blocked) *stage {
		s := newStage(t, 20, 3)
		s.print("hello")
		s.blocked, s.blocked.Group = loop, 7
		return s
	}
	const guess = protocol.MatchedWaiting + " (guess: event-loop)"
	s := begun(child.Blocked{Loops: true}) // and never asleep for long
	require.Empty(t, word(s, 900*time.Millisecond))
	require.Equal(t, guess, word(s, 100*time.Millisecond))
	a := s.AnswerFrame(s.now).Activity
	require.Equal(t, [2]string{"busy", protocol.GuessLoop}, [2]string{a.State, a.Guess})
	s.blocked.Ran++
	require.Equal(t, guess, word(s, 100*time.Millisecond), "its timers run")
	s.print("!")
	require.Empty(t, word(s, 900*time.Millisecond), "it has drawn")

	s = begun(child.Blocked{Shares: true, Asleep: true, Leads: time.Minute})
	s.passes(time.Minute)
	s.pressed = s.now
	require.Empty(t, word(s, 900*time.Millisecond), "the key may have an effect yet")
	require.Equal(t, guess, word(s, 100*time.Millisecond))
	s.blocked.Youngest = 30 * time.Second
	require.Equal(t, guess, word(s, 100*time.Millisecond), "an old server")
	s.blocked.Youngest = 900 * time.Millisecond
	require.Empty(t, word(s, 100*time.Millisecond), "it runs a tool")
	s.blocked.Youngest = 0
	require.Empty(t, word(s, 900*time.Millisecond), "it may have yet to hear of its end")
	require.Equal(t, guess, word(s, 100*time.Millisecond))
	s.blocked.Youngest, s.blocked.Leads = 900*time.Millisecond, time.Second
	require.Equal(t, guess, word(s, 100*time.Millisecond), "the key started it, and so its own servers")
	s.blocked.Leads, s.edits = time.Minute, true
	s.passes(100 * time.Millisecond)
	require.Equal(t, protocol.MatchedWaiting, word(s, 100*time.Millisecond), "a shell at its prompt")
	s.blocked.Shares, s.blocked.Loops, s.blocked.Youngest = false, true, 0
	require.Equal(t, guess, word(s, 100*time.Millisecond), "the timer may be that of what it evaluates")
}

// The next look comes soon after an event, otherwise at the usual interval, and never in the past.
func TestNextLook(t *testing.T) {
	s := new(stage)
	s.writes.Store(1)
	now := time.Unix(1000, 0)
	w := &inputWait{at: now, seen: moment{rev: 5, writes: 1}, program: stagedProgram{s}}
	require.Equal(t, now.Add(waitingEvery), w.nextCheck(now, 5))
	require.Equal(t, now.Add(lookGap), w.nextCheck(now, 6), "output came")
	s.writes.Add(1)
	require.Equal(t, now.Add(lookGap), w.nextCheck(now, 5), "something was typed")
	late := now.Add(time.Hour)
	require.Equal(t, late.Add(waitingEvery), w.nextCheck(late, 6), "nobody looked, as the screen is hidden")
}
