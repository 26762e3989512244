package observer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/screen"
)

// Every case of what the kernel says with what the shell's marks say.
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
	const prompt, read, poll, canonical = protocol.EvidencePrompt, protocol.EvidenceRead, protocol.EvidencePoll, protocol.EvidenceCanonical
	for _, c := range []struct {
		name  string
		a     child.Blocked
		deaf  bool // the system tells nothing
		marks func(*inputWait)
		want  waitState
	}{
		{"busy", child.Blocked{}, false, none, waitState{}},
		{"reads", child.Blocked{Reads: true}, false, none, waitState{evidence: []string{read}}},
		{"reads lines", child.Blocked{Reads: true, Canonical: true}, false, none, waitState{evidence: []string{read, canonical}}},
		{"reads and polls", child.Blocked{Reads: true, Polls: true}, false, none, waitState{evidence: []string{read}}},
		{"polls", child.Blocked{Polls: true, Asleep: true}, false, none, waitState{evidence: []string{poll}, polls: true}},
		{"reads beside a relay", child.Blocked{Reads: true, Relay: "ssh"}, false, none, waitState{evidence: []string{read}}},
		{"asleep elsewhere", child.Blocked{Asleep: true, Canonical: true}, false, none, waitState{}},
		{"relay", child.Blocked{Relay: "ssh", Asleep: true}, false, none, waitState{guess: protocol.GuessRelay}},
		{"relay that runs", child.Blocked{Relay: "ssh"}, false, none, waitState{}},
		{"unclear", child.Blocked{Unclear: true, Asleep: true}, false, none, waitState{guess: protocol.GuessSleeping}},
		{"unclear and running", child.Blocked{Unclear: true}, false, none, waitState{}},
		{"nothing known", child.Blocked{}, true, none, waitState{}},

		{"prompt, polls", child.Blocked{Polls: true}, false, marked(screen.AtInput, false), waitState{evidence: []string{prompt, poll}, polls: true, exit: new(2)}},
		{"prompt, half a command", child.Blocked{Polls: true}, false, marked(screen.AtInput, true), waitState{evidence: []string{prompt, poll}, polls: true, exit: new(2)}},
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
		w := &inputWait{seen: moment{writes: 3}}
		c.marks(w)
		c.a.Group = group
		require.Equal(t, c.want, w.judge(c.a, !c.deaf), c.name)
	}
}

// The next look comes soon after something happened, else at the usual pace, and never in the past.
func TestNextLook(t *testing.T) {
	s := &stage{writes: 1}
	now := time.Unix(1000, 0)
	w := &inputWait{at: now, seen: moment{rev: 5, writes: 1}, program: stagedProgram{s}}
	require.Equal(t, now.Add(waitingEvery), w.next(now, 5))
	require.Equal(t, now.Add(lookGap), w.next(now, 6), "output came")
	s.writes++
	require.Equal(t, now.Add(lookGap), w.next(now, 5), "something was typed")
	late := now.Add(time.Hour)
	require.Equal(t, late.Add(waitingEvery), w.next(late, 6), "nobody looked, as the screen is hidden")
}
