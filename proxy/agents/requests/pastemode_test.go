package requests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/child"
)

// A paste waits for a program that has just been started, until it enables bracketed paste, waits
// for input, or is too old to do so.
func TestInputWaitsForAStartingProgram(t *testing.T) {
	const paste, lines = protocol.InputPaste, protocol.InputLines
	young := child.Blocked{Group: 7, Leads: time.Second}
	with := func(change func(b *child.Blocked)) child.Blocked { b := young; change(&b); return b }
	for _, c := range []struct {
		name    string
		kind    protocol.InputKind
		data    string
		blocked child.Blocked
		modes   string // that the program has set
		cooked  bool
		blank   bool
		behind  bool
		waited  time.Duration
		want    bool
	}{
		{name: "a paste", kind: paste, data: "a", blocked: young, want: true},
		{name: "lines", kind: lines, data: "a\nb", blocked: young, want: true},
		{name: "one line", kind: lines, data: "a", blocked: young},
		{name: "keys", kind: protocol.InputKeys, data: "a", blocked: young},
		{name: "text", kind: protocol.InputText, data: "a\nb", blocked: young},
		{name: "it asked", kind: paste, data: "a", blocked: young, modes: "\x1b[?2004h"},
		{name: "and has yet to take the line", kind: paste, data: "a", blocked: young, modes: "\x1b[?2004h", cooked: true, want: true},
		{name: "it reads", kind: paste, data: "a", blocked: with(func(b *child.Blocked) { b.Reads = true })},
		{name: "it reads, and has just asked", kind: paste, data: "a", blocked: with(func(b *child.Blocked) { b.Reads = true }), behind: true, want: true},
		{name: "it polls", kind: paste, data: "a", blocked: with(func(b *child.Blocked) { b.Polls = true })},
		{name: "it polls, and shows nothing", kind: paste, data: "a", blocked: with(func(b *child.Blocked) { b.Polls = true }), blank: true, want: true},
		{name: "an event loop", kind: paste, data: "a", blocked: with(func(b *child.Blocked) { b.Shares = true }), want: true},
		{name: "an old program", kind: paste, data: "a", blocked: with(func(b *child.Blocked) { b.Leads = 2 * time.Second })},
		{name: "nobody knows how old", kind: paste, data: "a", blocked: with(func(b *child.Blocked) { b.Leads = 0 })},
		{name: "nobody knows anything", kind: paste, data: "a"},
		{name: "keys, and it shows nothing", kind: protocol.InputKeys, data: "a", blocked: young, blank: true, want: true},
		{name: "keys, and it reads", kind: protocol.InputKeys, data: "a", blocked: with(func(b *child.Blocked) { b.Reads = true }), blank: true},
		{name: "it has waited", kind: paste, data: "a", blocked: young, waited: 2 * time.Second},
	} {
		s := newStage(nil)
		s.blocked, s.cooked, s.blank, s.behind = c.blocked, c.cooked, c.blank, c.behind
		s.Observer.Model().Feed([]byte(c.modes))
		in := &delivery{steps: splitSteps(&protocol.Input{Parts: []protocol.InputPart{{InputKind: protocol.InputKeys, Data: "i"}, {InputKind: c.kind, Data: c.data}}})}
		now := time.Now()
		require.Equal(t, c.want, s.line.isStarting(in.nextStep([]pump.Piece{{Step: 2}}), now.Add(-c.waited), now), c.name)
		require.Equal(t, c.blank && c.want, s.line.isStarting(in.nextStep(nil), now, now), "the key before it")
	}
}
