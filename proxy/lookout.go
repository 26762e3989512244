package proxy

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/screen"
)

// Times of the lookout.
const (
	// lookGap is the least time between two looks at the processes while something happens.
	lookGap = 5 * time.Millisecond
	// lookShare bounds what looks may cost where the foreground has hundreds of processes: no more than one part in so many
	// of the time.
	lookShare = 20
	// pollStill is how long nothing of the foreground may have run for a poll of the terminal to meet a wait: a program
	// that works polls its terminal now and then, or waits for its own helpers.
	pollStill = 20 * time.Millisecond
	// guessAfter is how long nothing may have run or changed on the screen for a guess.
	guessAfter = time.Second
)

// attention is what is known of the program's waiting for input at one moment.
type attention struct {
	evidence []string // facts, the strongest first; none when it is not known to wait
	guess    string   // why it may wait all the same, "" for no reason
	exit     *int     // exit status of the last command, as the shell's marks say
	polls    bool     // the evidence is that of a poll alone
}

// lookout finds out whether the program waits for input, while somebody asks. The facts are from the kernel: where the
// processes in the foreground sleep. They count only once the program has read what was typed before and the model has
// been fed what it printed, so that a wait after an input is not met by the prompt before. The marks of a shell (OSC 133 and
// 633) come with the output, and any program can print them; they say what no kernel sees, as behind ssh. The lookout
// belongs to the screen loop.
type lookout struct {
	child  *child.Child
	writes func() uint64 // how often something was written to the program, or has begun to be
	wrote  func() uint64 // how often that has ended
	// drained reports whether the model was fed all that the program has printed; nil for always.
	drained func() bool

	at     time.Time     // of the last look
	took   time.Duration // how long that was
	now    attention
	seen   moment
	asleep bool
	still  time.Time // since when every look found the same moment
	empty  uint64    // all of so many writes has been read

	marks  screen.Marks
	prompt struct { // the last prompt that the marks told of
		group  int
		writes uint64
	}
}

// moment is what is the same as long as nothing happens.
type moment struct {
	rev, writes, ran uint64
	group            int
}

// hear takes the shell's marks after output. Which shell speaks is known by the group that has the terminal.
func (o *lookout) hear(m screen.Marks) {
	if m == o.marks {
		return
	}
	if o.marks = m; m.State == screen.AtInput {
		o.prompt.group, o.prompt.writes = o.child.ForegroundGroup(), o.writes()
	}
}

// runs reports whether the shell that has the terminal said that it runs a command.
func (o *lookout) runs() bool {
	return o.marks.State == screen.RunningCommand && o.prompt.group != 0 && o.child.ForegroundGroup() == o.prompt.group
}

// next is when to look again for somebody who waits: soon when something happened since the last look.
func (o *lookout) next(now time.Time, rev uint64) time.Time {
	if soon := o.at.Add(o.gap()); soon.After(now) && (rev != o.seen.rev || o.writes() != o.seen.writes) {
		return soon
	}
	return later(now, o.at).Add(max(waitingEvery, o.gap()))
}

// gap is the least time between two looks.
func (o *lookout) gap() time.Duration { return max(lookGap, lookShare*o.took) }

// look is what is known now. A look that follows another too fast knows nothing, unless nothing happened since that one;
// who answers a question looks all the same.
func (o *lookout) look(now time.Time, rev uint64, asked bool) attention {
	if age := now.Sub(o.at); age >= 0 && age < o.gap() {
		if rev == o.seen.rev && o.writes() == o.seen.writes {
			return o.now
		}
		if !asked {
			return attention{}
		}
	}
	o.at = now
	before := moment{rev: rev, writes: o.writes()}
	// First what was typed, then the processes, then what they printed: in this order a program that is found asleep has
	// dealt with all that was typed, and all that it printed before it slept is on the screen.
	if before.writes != o.empty && o.wrote() == before.writes && o.child.Unread() == 0 {
		o.empty = before.writes
	}
	began := time.Now()
	a, known := o.child.Attention()
	o.took = time.Since(began)
	before.ran, before.group = a.Ran, a.Group
	if before != o.seen || !a.Asleep {
		o.still = now
	}
	o.seen, o.asleep, o.now = before, a.Asleep, attention{}
	if o.writes() == before.writes && o.empty == before.writes && (o.drained == nil || o.drained()) {
		o.now = o.judge(a, known)
	}
	return o.now
}

// judge weighs what the kernel says and what the shell's marks say.
func (o *lookout) judge(a child.Attention, known bool) attention {
	var out attention
	shell := a.Group != 0 && a.Group == o.prompt.group // the shell that spoke last is in the foreground
	prompts := shell && o.marks.State == screen.AtInput
	switch {
	case a.Reads:
		out.evidence = []string{protocol.EvidenceRead}
	case a.Polls:
		out.evidence, out.polls = []string{protocol.EvidencePoll}, true
	case a.Relay == "" && known && !a.Unclear:
		return out // everybody in the foreground is seen, and nobody waits for the terminal
	case prompts && o.prompt.writes == o.seen.writes: // nothing was typed since
	case shell && !prompts: // a command runs, says the shell behind the relay
		return out
	case known && a.Asleep && a.Relay != "":
		out.guess = protocol.GuessRelay
	case known && a.Asleep:
		out.guess = protocol.GuessSleeping
	default:
		return out
	}
	if prompts && out.guess == "" {
		out.evidence = append([]string{protocol.EvidencePrompt}, out.evidence...)
		if o.marks.HasExit {
			status := o.marks.Exit
			out.exit = &status
		}
	}
	if len(out.evidence) > 0 && a.Canonical && (a.Reads || a.Polls) {
		out.evidence = append(out.evidence, protocol.EvidenceCanonical)
	}
	return out
}

// word is the word for the program's waiting that meets a wait, "" when it is not met.
func (o *lookout) word(now time.Time, rev uint64, idle time.Duration) string {
	a := o.look(now, rev, false)
	still := now.Sub(o.still)
	switch {
	case len(a.evidence) > 0 && (!a.polls || o.asleep && still >= pollStill):
		return protocol.MatchedWaiting
	case a.guess != "" && still >= guessAfter && idle >= guessAfter:
		return protocol.MatchedWaiting + " (guess: " + a.guess + ")"
	}
	return ""
}

// report adds what is known to an activity.
func (o *lookout) report(now time.Time, rev uint64, a *protocol.Activity) {
	got := o.look(now, rev, true)
	a.LastExit = got.exit
	if len(got.evidence) > 0 {
		a.State, a.Evidence = "waiting", got.evidence
	} else if got.guess != "" && a.SinceMs >= guessAfter.Milliseconds() {
		a.Guess = got.guess
	}
}

// drained reports whether the model was fed everything that the program has printed. It runs in the screen loop. The order
// matters: output goes from the kernel to the copier's hand to the loop.
func (s *session) drained() bool {
	if s.child.HasOutput() || s.output.inHand.Load() {
		return false
	}
	s.loop.mu.Lock()
	defer s.loop.mu.Unlock()
	return len(s.loop.spool) == 0
}
