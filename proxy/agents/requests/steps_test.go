package requests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/child"
)

// It follows from how many bytes of the whole were written, in order.
func TestTheReceiptSaysHowFarEachPartCame(t *testing.T) {
	m := &protocol.Input{Parts: []protocol.InputPart{
		{InputKind: protocol.InputLines, Data: "a\nb"}, {InputKind: protocol.InputKeys, Data: "x enter"}, {InputKind: protocol.InputText, Data: "no"},
	}}
	in := &delivery{m: m, steps: splitSteps(m), rev: 7}
	require.Equal(t, []protocol.PartResult{
		{InputKind: protocol.InputText, DroppedBytes: 3}, {InputKind: protocol.InputKeys, DroppedBytes: 6}, {InputKind: protocol.InputText, DroppedBytes: 2},
	}, in.partResults(0), "nothing is encoded yet")
	piece := func(step int, b string) pump.Piece { return pump.Piece{Step: step, Bytes: []byte(b)} }
	rest := []pump.Piece{piece(2, "x"), piece(3, "\r"), piece(4, "n"), piece(0, "o")}
	in.noteOutgoing(append([]pump.Piece{piece(1, pasteBegins), piece(0, "a\rb"), piece(0, pasteEnds)}, rest...))
	in.rev = 9
	in.noteOutgoing(rest)
	in.noteOutgoing(rest[3:]) // after the user typed: the step continues
	of := func(kind protocol.InputKind, written, dropped int, from uint64) protocol.PartResult {
		return protocol.PartResult{InputKind: kind, WrittenBytes: written, DroppedBytes: dropped, FromSeq: from}
	}
	const paste = len(pasteBegins) + 3 + len(pasteEnds)
	for written, want := range map[int][]protocol.PartResult{
		paste - 1: {of("paste", paste-1, 1, 7), of("keys", 0, 2, 0), of("text", 0, 2, 0)},
		paste:     {of("paste", paste, 0, 7), of("keys", 0, 2, 0), of("text", 0, 2, 0)},
		paste + 1: {of("paste", paste, 0, 7), of("keys", 1, 1, 9), of("text", 0, 2, 0)},
		paste + 2: {of("paste", paste, 0, 7), of("keys", 2, 0, 9), of("text", 0, 2, 0)},
	} {
		require.Equal(t, want, in.partResults(written), "%d", written)
	}
	require.Nil(t, (&delivery{m: &protocol.Input{Data: "x"}, steps: splitSteps(&protocol.Input{Data: "x"})}).partResults(1), "it had none")
}

// For a shell's command the kernel collects lines, as for cat; but it may be about to ask for a
// secret.
func TestAShellsCommandIsWaitedFor(t *testing.T) {
	cooked := line.Facts{Settings: line.Settings{Canonical: true, Echo: true}}
	for _, c := range []struct {
		f      line.Facts
		edited bool
		until  protocol.Until
		most   time.Duration
	}{
		{cooked, false, protocol.Until{QuietMs: 10}, maxEchoGap},
		{cooked, true, protocol.Until{Waiting: true}, maxEnterGap},
		{line.Facts{}, false, protocol.Until{QuietMs: 250}, maxEnterGap},
	} {
		until, most, _ := pauseFor(c.f, c.edited)
		require.Equal(t, c.until, until)
		require.Equal(t, c.most, most)
	}
}

// Enter waits for a program that read the text, shows something else, and has not handled what it
// read.
func TestEnterWaitsForTheProgramToHandleTheText(t *testing.T) {
	polls := child.Blocked{Group: 1, Asleep: true, Shares: true}
	sleeps, runs := child.Blocked{Group: 1, Asleep: true}, child.Blocked{Group: 1}
	for _, c := range []struct {
		name         string
		blocked      child.Blocked
		shows, later bool // it shows something; it has more to read
		took         bool
	}{
		{name: "polls", blocked: polls, took: true},
		{name: "has more to read", blocked: polls, later: true},
		{name: "sleeps elsewhere", blocked: sleeps},
		{name: "sleeps elsewhere and shows", blocked: sleeps, shows: true, took: true},
		{name: "runs and shows", blocked: runs, shows: true},
		{name: "nobody knows", took: true},
	} {
		s := newStage(nil)
		s.blocked, s.behind = c.blocked, c.later
		in := s.deliveries.newDelivery(&protocol.Input{}, 0, nil)
		in.rev = s.Observer.Model().Rev()
		if c.shows {
			s.Observer.Model().Feed([]byte("spinner"))
		}
		require.Equal(t, c.took, in.hasConsumed(line.Facts{}), c.name)
	}
}
