package proxy

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
	marked := func(state screen.MarkState, typed bool) func(*lookout) {
		return func(o *lookout) {
			o.marks = screen.Marks{State: state, Exit: 2, HasExit: true}
			o.prompt.group, o.prompt.writes = group, o.seen.writes
			if typed {
				o.prompt.writes--
			}
		}
	}
	another := func(o *lookout) { marked(screen.AtInput, false)(o); o.prompt.group = group + 1 }
	none := func(*lookout) {}
	const prompt, read, poll, canonical = protocol.EvidencePrompt, protocol.EvidenceRead, protocol.EvidencePoll, protocol.EvidenceCanonical
	for _, c := range []struct {
		name  string
		a     child.Attention
		deaf  bool // the system tells nothing
		marks func(*lookout)
		want  attention
	}{
		{"busy", child.Attention{}, false, none, attention{}},
		{"reads", child.Attention{Reads: true}, false, none, attention{evidence: []string{read}}},
		{"reads lines", child.Attention{Reads: true, Canonical: true}, false, none, attention{evidence: []string{read, canonical}}},
		{"reads and polls", child.Attention{Reads: true, Polls: true}, false, none, attention{evidence: []string{read}}},
		{"polls", child.Attention{Polls: true, Asleep: true}, false, none, attention{evidence: []string{poll}, polls: true}},
		{"reads beside a relay", child.Attention{Reads: true, Relay: "ssh"}, false, none, attention{evidence: []string{read}}},
		{"asleep elsewhere", child.Attention{Asleep: true, Canonical: true}, false, none, attention{}},
		{"relay", child.Attention{Relay: "ssh", Asleep: true}, false, none, attention{guess: protocol.GuessRelay}},
		{"relay that runs", child.Attention{Relay: "ssh"}, false, none, attention{}},
		{"unclear", child.Attention{Unclear: true, Asleep: true}, false, none, attention{guess: protocol.GuessSleeping}},
		{"unclear and running", child.Attention{Unclear: true}, false, none, attention{}},
		{"nothing known", child.Attention{}, true, none, attention{}},

		{"prompt, polls", child.Attention{Polls: true}, false, marked(screen.AtInput, false), attention{evidence: []string{prompt, poll}, polls: true, exit: new(2)}},
		{"prompt, half a command", child.Attention{Polls: true}, false, marked(screen.AtInput, true), attention{evidence: []string{prompt, poll}, polls: true, exit: new(2)}},
		{"prompt of a shell without C, busy", child.Attention{Asleep: true}, false, marked(screen.AtInput, false), attention{}},
		{"prompt of the shell around", child.Attention{Reads: true}, false, another, attention{evidence: []string{read}}},
		{"prompt around a relay", child.Attention{Relay: "ssh", Asleep: true}, false, another, attention{guess: protocol.GuessRelay}},
		{"builtin that reads", child.Attention{Reads: true}, false, marked(screen.RunningCommand, true), attention{evidence: []string{read}}},
		{"prompt behind a relay", child.Attention{Relay: "ssh"}, false, marked(screen.AtInput, false), attention{evidence: []string{prompt}, exit: new(2)}},
		{"typed behind a relay", child.Attention{Relay: "ssh", Asleep: true}, false, marked(screen.AtInput, true), attention{guess: protocol.GuessRelay}},
		{"command behind a relay", child.Attention{Relay: "ssh", Asleep: true}, false, marked(screen.RunningCommand, true), attention{}},
		{"prompt, nothing else known", child.Attention{}, true, marked(screen.AtInput, false), attention{evidence: []string{prompt}, exit: new(2)}},
		{"typed, nothing else known", child.Attention{}, true, marked(screen.AtInput, true), attention{}},
		{"unclear at its prompt", child.Attention{Unclear: true}, false, marked(screen.AtInput, false), attention{evidence: []string{prompt}, exit: new(2)}},
	} {
		o := &lookout{seen: moment{writes: 3}}
		c.marks(o)
		c.a.Group = group
		require.Equal(t, c.want, o.judge(c.a, !c.deaf), c.name)
	}
}

// The next look comes soon after something happened, else at the usual pace, and never in the past.
func TestNextLook(t *testing.T) {
	writes := uint64(1)
	now := time.Unix(1000, 0)
	o := &lookout{at: now, seen: moment{rev: 5, writes: 1}, writes: func() uint64 { return writes }}
	require.Equal(t, now.Add(waitingEvery), o.next(now, 5))
	require.Equal(t, now.Add(lookGap), o.next(now, 6), "output came")
	writes++
	require.Equal(t, now.Add(lookGap), o.next(now, 5), "something was typed")
	late := now.Add(time.Hour)
	require.Equal(t, late.Add(waitingEvery), o.next(late, 6), "nobody looked, as the screen is hidden")
}
