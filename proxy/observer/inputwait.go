package observer

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/screen"
)

// Times of looking at the program.
const (
	// lookGap is the least time between two looks at the processes while something happens.
	lookGap = 5 * time.Millisecond
	// lookShare bounds what looks may cost where the foreground has hundreds of processes: at most one part in lookShare of
	// the time.
	lookShare = 20
	// pollStill is how long nothing of the foreground may have run for a poll of the terminal to meet a wait: a program
	// that works polls its terminal now and then, or waits for its own helpers.
	pollStill = 20 * time.Millisecond
	// guessAfter is how long nothing may have run or changed on the screen for a guess.
	guessAfter = time.Second
	// startedTick is how exactly it is known when a process was started, with room for the time between two looks at a clock.
	startedTick = 20 * time.Millisecond
)

// waitState is what is known about the program's waiting for input at one moment.
type waitState struct {
	evidence []string // facts, the strongest first; empty when it is not known to wait
	guess    string   // why it may wait all the same, "" for no reason
	exit     *int     // exit status of the last command, as the shell's marks say
	polls    bool     // the evidence is a poll alone
}

// inputWait finds out whether the program waits for input, while somebody asks. The facts are from the kernel: where the
// processes in the foreground sleep. They count only once the program has read what was typed before and the model has
// been fed what it printed, so that a wait after an input is not met by the prompt before. The marks of a shell (OSC 133 and
// 633) come with the output, and any program can print them; they say what no kernel sees, as behind ssh. It belongs to the
// observer's goroutine.
type inputWait struct {
	program Program
	// drained reports whether the model was fed all that the program has printed.
	drained func() bool
	// starting reports whether the program has shown nothing yet and may still: then only a read counts.
	starting func(now time.Time) bool
	// line is the line that everybody types on; nil where no agent observes.
	line func() Line

	at     time.Time     // of the last look
	took   time.Duration // how long that was
	now    waitState
	seen   moment
	asleep bool
	still  time.Time // since when every look found the same moment
	worked time.Time // when a look last found a process that the input had started
	empty  uint64    // the program has read everything up to this write

	marks  screen.Marks
	prompt struct { // the last prompt that the marks told of
		group  int
		writes uint64
	}
}

// moment stays the same as long as nothing happens.
type moment struct {
	rev, writes, ran uint64
	group            int
}

// hear takes the shell's marks after output. Which shell speaks is known by the group that has the terminal.
func (w *inputWait) hear(m screen.Marks) {
	if m == w.marks {
		return
	}
	if w.marks = m; m.State == screen.AtInput {
		w.prompt.group, w.prompt.writes = w.program.ForegroundGroup(), w.writes()
	}
}

// writes counts how often something was written to the program, or has begun to be.
func (w *inputWait) writes() uint64 {
	begun, _ := w.program.Writes()
	return begun
}

// runs reports whether the shell that has the terminal said that it runs a command.
func (w *inputWait) runs() bool {
	return w.marks.State == screen.RunningCommand && w.prompt.group != 0 && w.program.ForegroundGroup() == w.prompt.group
}

// next is when to look again for a wait: soon when something happened since the last look.
func (w *inputWait) next(now time.Time, rev uint64) time.Time {
	if soon := w.at.Add(w.gap()); soon.After(now) && (rev != w.seen.rev || w.writes() != w.seen.writes) {
		return soon
	}
	if w.at.After(now) {
		now = w.at
	}
	return now.Add(max(waitingEvery, w.gap()))
}

// gap is the least time between two looks.
func (w *inputWait) gap() time.Duration { return max(lookGap, lookShare*w.took) }

// look is what is known now. A look that follows another too fast knows nothing, unless nothing happened since that one;
// who answers a question looks all the same.
func (w *inputWait) look(now time.Time, rev uint64, asked bool) waitState {
	if age := now.Sub(w.at); age >= 0 && age < w.gap() {
		if rev == w.seen.rev && w.writes() == w.seen.writes {
			return w.now
		}
		if !asked {
			return waitState{}
		}
	}
	w.at = now
	before := moment{rev: rev, writes: w.writes()}
	// First what was typed, then the processes, then what they printed: in this order a program that is found asleep has
	// dealt with all that was typed, and all that it printed before it slept is on the screen.
	if _, ended := w.program.Writes(); before.writes != w.empty && ended == before.writes && w.program.Unread() == 0 {
		w.empty = before.writes
	}
	began := time.Now()
	a, known := w.program.BlockedOn()
	w.took = time.Since(began)
	before.ran, before.group = a.Ran, a.Group
	if before != w.seen || !a.Asleep {
		w.still = now
	}
	w.seen, w.asleep, w.now = before, a.Asleep, waitState{}
	if w.writes() == before.writes && w.empty == before.writes && w.drained() {
		w.now = w.judge(now, a, known)
	}
	if (w.now.polls || w.now.guess != "") && w.starting(now) {
		w.now = waitState{}
	}
	return w.now
}

// judge weighs what the kernel says and what the shell's marks say.
func (w *inputWait) judge(now time.Time, a child.Blocked, known bool) waitState {
	var out waitState
	shell := a.Group != 0 && a.Group == w.prompt.group // the shell that spoke last is in the foreground
	prompts := shell && w.marks.State == screen.AtInput
	switch {
	case a.Reads:
		out.evidence = []string{protocol.EvidenceRead}
	case a.Polls, a.Shares && prompts, a.Listens() && w.line().Edits(a.Loops):
		out.evidence, out.polls = []string{protocol.EvidencePoll}, true
	case a.Listens() && prompts && w.prompt.writes == w.seen.writes: // nothing was typed since
	case a.Listens():
		if w.rests(now, a) {
			out.guess = protocol.GuessLoop
		}
		return out
	case a.Relay == "" && known && !a.Unclear:
		return out // everybody in the foreground is seen, and nobody waits for the terminal
	case prompts && w.prompt.writes == w.seen.writes: // nothing was typed since
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
		if w.marks.HasExit {
			status := w.marks.Exit
			out.exit = &status
		}
	}
	if len(out.evidence) > 0 && a.Canonical && (a.Reads || out.polls) {
		out.evidence = append(out.evidence, protocol.EvidenceCanonical)
	}
	return out
}

// rests reports whether nothing speaks against that an event loop waits for input: what was typed is a while ago, and so is the end of
// the processes that were started since, of which it may have yet to hear. What was typed before the program began was not for it.
func (w *inputWait) rests(now time.Time, a child.Blocked) bool {
	pressed := w.line().Pressed()
	if pressed.IsZero() {
		return true
	}
	ago := now.Sub(pressed)
	started := a.Youngest != 0 && a.Youngest <= ago+startedTick
	if started && a.Leads >= ago {
		w.worked = now
	}
	return ago >= guessAfter && now.Sub(w.worked) >= guessAfter
}

// word is the word for the program's waiting that meets a wait, "" when it is not met.
func (w *inputWait) word(now time.Time, rev uint64, idle time.Duration) string {
	a := w.look(now, rev, false)
	still := now.Sub(w.still)
	switch {
	case len(a.evidence) > 0 && (!a.polls || w.asleep && still >= pollStill):
		return protocol.MatchedWaiting
	case a.guess != "" && idle >= guessAfter && (still >= guessAfter || a.guess == protocol.GuessLoop):
		return protocol.MatchedWaiting + " (guess: " + a.guess + ")"
	}
	return ""
}

// report adds what is known to an activity.
func (w *inputWait) report(now time.Time, rev uint64, a *protocol.Activity) {
	got := w.look(now, rev, true)
	a.LastExit = got.exit
	if len(got.evidence) > 0 {
		a.State, a.Evidence = "waiting", got.evidence
	} else if got.guess != "" && a.SinceMs >= guessAfter.Milliseconds() {
		a.Guess = got.guess
	}
}
