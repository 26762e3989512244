package observer

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/screen"
)

// Times of checks of the program.
const (
	// lookGap is the shortest time between two checks of the processes while something happens.
	lookGap = 5 * time.Millisecond
	// lookShare bounds the cost of checks when the foreground has hundreds of processes: at most
	// one part in lookShare of the time.
	lookShare = 20
	// pollStill is how long the foreground must have been idle before a poll of the terminal counts
	// as waiting for input: a program that works also polls its terminal now and then, or waits for
	// its own helpers.
	pollStill = 20 * time.Millisecond
	// guessAfter is how long the foreground and the screen must have been idle before a guess.
	guessAfter = time.Second
	// startedTick is the precision of a process's start time, with room for the time between two
	// reads of a clock.
	startedTick = 20 * time.Millisecond
)

// waitState describes whether the program waits for input at one moment, and why.
type waitState struct {
	evidence []string // facts, the strongest first; empty if it is not known to wait
	guess    string   // why it may wait all the same, or ""
	exit     *int     // exit status of the last command, from the shell's marks
	polls    bool     // the only evidence is a poll
}

// inputWait finds out whether the program waits for input, while an agent asks. The facts come from
// the kernel: where the foreground processes sleep. They count only once the program has read what
// was typed before, and the model has been fed what the program printed: the prompt before an input
// must not end a wait after it. The marks of a shell (OSC 133 and 633) come with the output, and
// any program can print them; they show what the kernel cannot see, such as a shell behind ssh. The
// observer's goroutine owns it.
type inputWait struct {
	program Program
	// hasFedAll reports whether the model was fed everything that the program has printed.
	hasFedAll func() bool
	// isSilentStart reports whether the program has shown nothing yet and may still: then only a
	// read counts.
	isSilentStart func(latest time.Time) bool
	// line returns the line that the user and agents type on. It is nil if agents may not observe.
	line func() Line

	at     time.Time     // of the last check
	took   time.Duration // the last check's duration
	latest waitState
	seen   moment
	leader string    // the program in the foreground, "" if unknown
	asleep bool      // the foreground slept at the last check
	still  time.Time // since when each check found the same moment
	worked time.Time // when a check last found a process that the input had started
	empty  uint64    // the program has read all up to this write

	marks  screen.Marks
	prompt struct { // the last prompt in the marks
		group  int
		writes uint64
	}
}

// moment stays the same as long as nothing happens.
type moment struct {
	rev, writes, ran uint64
	group            int
}

// setMarks notes the shell's marks after output. The shell that sent them is known by the process
// group that has the terminal.
func (w *inputWait) setMarks(m screen.Marks) {
	if m == w.marks {
		return
	}
	if w.marks = m; m.State == screen.AtInput {
		w.prompt.group, w.prompt.writes = w.program.ForegroundGroup(), w.countWrites()
	}
}

// countWrites counts the writes to the program, including one that has begun.
func (w *inputWait) countWrites() uint64 {
	begun, _ := w.program.CountWrites()
	return begun
}

// runsCommand reports whether the shell that has the terminal said that it runs a command.
func (w *inputWait) runsCommand() bool {
	return w.marks.State == screen.RunningCommand && w.prompt.group != 0 &&
		w.program.ForegroundGroup() == w.prompt.group
}

// nextCheck returns when to check again for a wait: soon if something happened since the last
// check.
func (w *inputWait) nextCheck(now time.Time, rev uint64) time.Time {
	if soon := w.at.Add(w.minInterval()); soon.After(now) &&
		(rev != w.seen.rev || w.countWrites() != w.seen.writes) {
		return soon
	}
	if w.at.After(now) {
		now = w.at
	}
	return now.Add(max(waitingEvery, w.minInterval()))
}

// minInterval is the shortest time between two checks.
func (w *inputWait) minInterval() time.Duration { return max(lookGap, lookShare*w.took) }

// checkProgram returns the present state. If the last check was too recent, the state is unknown,
// unless nothing happened since then. The answer to an agent's question sets asked, to check in any
// case.
func (w *inputWait) checkProgram(now time.Time, rev uint64, asked bool) waitState {
	if age := now.Sub(w.at); age >= 0 && age < w.minInterval() {
		if rev == w.seen.rev && w.countWrites() == w.seen.writes {
			return w.latest
		}
		if !asked {
			return waitState{}
		}
	}
	w.at = now
	before := moment{rev: rev, writes: w.countWrites()}
	// First what was typed, then the processes, then what they printed. In this order a program
	// found asleep has dealt with all that was typed, and what it printed before is on the screen.
	if _, ended := w.program.CountWrites(); before.writes != w.empty && ended == before.writes &&
		w.program.CountUnread() == 0 {
		w.empty = before.writes
	}
	began := time.Now()
	a, known := w.program.BlockedOn()
	w.took = time.Since(began)
	before.ran, before.group = a.Ran, a.Group
	if before != w.seen || !a.Asleep {
		w.still = now
	}
	w.seen, w.leader, w.asleep, w.latest = before, a.Leader, a.Asleep, waitState{}
	if w.countWrites() == before.writes && w.empty == before.writes && w.hasFedAll() {
		w.latest = w.weighEvidence(now, a, known)
	}
	if (w.latest.polls || w.latest.guess != "") && w.isSilentStart(now) {
		w.latest = waitState{}
	}
	return w.latest
}

// weighEvidence combines what the kernel says with the shell's marks.
func (w *inputWait) weighEvidence(now time.Time, a child.Blocked, known bool) waitState {
	var out waitState
	// The shell that sent the last marks is in the foreground.
	shell := a.Group != 0 && a.Group == w.prompt.group
	prompts := shell && w.marks.State == screen.AtInput
	switch {
	case a.Reads:
		out.evidence = []string{protocol.EvidenceRead}
	case a.Polls, a.Shares && prompts, a.PollsTerminal() && w.line().IsEditing(a.Loops):
		out.evidence, out.polls = []string{protocol.EvidencePoll}, true
	// no input since the prompt
	case a.PollsTerminal() && prompts && w.prompt.writes == w.seen.writes:
	case a.PollsTerminal():
		if w.isLoopIdle(now, a) {
			out.guess = protocol.GuessLoop
		}
		return out
	case a.Relay == "" && known && !a.Unclear:
		return out // all of the foreground is visible, and no process waits for the terminal
	case prompts && w.prompt.writes == w.seen.writes: // no input since the prompt
	case shell && !prompts: // the shell behind the relay runs a command
		return out
	case known && a.Asleep && a.Relay != "":
		if w.line().IsBehindText() { // a program that works has usually left the cursor at the start of a row
			out.guess = protocol.GuessRelay
		}
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
	if len(out.evidence) > 0 && (a.Reads || out.polls) {
		if settings, err := w.program.Line(); err == nil && settings.Canonical {
			out.evidence = append(out.evidence, protocol.EvidenceCanonical)
		}
	}
	return out
}

// isLoopIdle reports whether an event loop may be waiting for input: the last typing is a while
// ago, and so is the end of the processes started since, of which the loop may not have heard yet.
// Typing from before the program began was not for it.
func (w *inputWait) isLoopIdle(now time.Time, a child.Blocked) bool {
	pressed := w.line().LastKeyTime()
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

// waitReason returns why the program counts as waiting for input, for an agent that waits for that.
// It is "" if it does not.
func (w *inputWait) waitReason(now time.Time, rev uint64, idle time.Duration) string {
	a := w.checkProgram(now, rev, false)
	still := now.Sub(w.still)
	switch {
	case len(a.evidence) > 0 && (!a.polls || w.asleep && still >= pollStill):
		return protocol.MatchedWaiting
	case a.guess != "" && idle >= guessAfter &&
		(still >= guessAfter || a.guess == protocol.GuessLoop):
		return protocol.MatchedWaiting + " (guess: " + a.guess + ")"
	}
	return ""
}

// addTo adds the present state to an activity.
func (w *inputWait) addTo(now time.Time, rev uint64, a *protocol.Activity) {
	got := w.checkProgram(now, rev, true)
	name := w.leader
	if name == "" {
		name = w.program.Foreground()
	}
	a.Foreground, a.LastExit = protocol.Visible(name), got.exit
	if len(got.evidence) > 0 {
		a.State, a.Evidence = "waiting", got.evidence
	} else if got.guess != "" && a.SinceMs >= guessAfter.Milliseconds() {
		a.Guess = got.guess
	}
}
