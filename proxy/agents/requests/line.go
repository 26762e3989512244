package requests

import (
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/snapshot"
)

// Times of the shared line.
const (
	// lineEvery is the interval of checks whether the line is free, beside each output, while an
	// agent's input waits for it: the kernel does not report a change of the foreground program.
	lineEvery = 100 * time.Millisecond
	// maxConfirmWait bounds the time until control learns that an input waits, on a busy machine.
	// An input that was withdrawn before that is not watched longer.
	maxConfirmWait = 30 * time.Second
	// Input under level type is judged once nothing has moved for stillFor and the program waits
	// for input: the line is then the one that the user reads, and no program is starting. After
	// maxStillWait it is judged in any case.
	stillFor     = 50 * time.Millisecond
	maxStillWait = 2 * time.Second
	stillEvery   = 10 * time.Millisecond
	// maxBusyWait replaces maxStillWait for text sent to a working program: the text is for its
	// next prompt.
	maxBusyWait = 10 * time.Second
	// maxAnswerWait is the usual [Line.MaxAnswerWait], and pendingEvery the interval of checks.
	maxAnswerWait = 2 * time.Second
	pendingEvery  = 5 * time.Millisecond
	// maxQuote bounds a quoted line, in characters.
	maxQuote = 200
)

// Line is the line that the user and agents share. Owned by the observer's goroutine.
type Line struct {
	*Config
	// MaxAnswerWait bounds how long agents wait until a program has processed what the user typed; a
	// program that computes answers only when it is done.
	MaxAnswerWait time.Duration
	waited        time.Time // an agent's input waits for the line since then, or zero
	occupied      bool      // control has confirmed it
	looked        time.Time
	sentQuote     string // the quote that control was sent last
	// The program has not answered the first pendingKeys keys of the user, seen at pendingSince.
	pendingKeys  uint64
	pendingSince time.Time
	hasNewOutput bool // there was output since the last check
}

// gatherFacts returns what the kernel and the shell's marks report now, and the spell of the line
// settings. blockedOn looks at the foreground, once at most.
func (l *Line) gatherFacts(blockedOn func() blocked) (f line.Facts, spell uint64) {
	settings, spell, err := l.Program.SettingsInSpell()
	if err != nil {
		return line.Facts{}, 0
	}
	typed := l.Tracker.TypedLine()
	f = line.Facts{
		Settings:    line.Settings(settings),
		Alt:         l.screen().Alt(),
		Paste:       l.screen().Modes().BracketedPaste,
		RunsCommand: l.Observer.RunsCommand(),
		KeysChanged: typed.KeysChanged,
		MayAskKey:   typed.MayAskKey,
	}
	if f.Settings.Canonical {
		f.Reads = blockedOn().waits()
		return f, spell
	}
	if leader, ok := l.Program.GroupLeader(); ok {
		f.Program = line.Program{Exe: leader.Exe, Args: leader.Args, Crowd: leader.Crowd}
	}
	return f, spell
}

// blocked is what the foreground waits for, if the system can tell.
type blocked struct {
	child.Blocked
	known bool
}

// waits reports whether the foreground is known to wait for input.
func (b blocked) waits() bool { return b.Reads || b.PollsTerminal() }

// isBusy reports whether the program is known to work rather than to wait for input.
func (b blocked) isBusy() bool {
	return b.known && !b.waits() && b.Relay == "" && !b.Unclear
}

// blockedOn looks at the foreground, which takes the most system calls of all facts.
func (l *Line) blockedOn() blocked {
	a, known := l.Program.BlockedOn()
	return blocked{a, known}
}

// currentFacts returns what the kernel and the shell's marks report now.
func (l *Line) currentFacts() line.Facts {
	f, _ := l.gatherFacts(l.blockedOn)
	return f
}

// factsWithBlocked is [Line.gatherFacts], and returns what the foreground waits for. It looks at
// the foreground once, and last.
func (l *Line) factsWithBlocked() (f line.Facts, spell uint64, b blocked) {
	looked := false
	look := func() blocked { b, looked = l.blockedOn(), true; return b }
	if f, spell = l.gatherFacts(look); !looked {
		look()
	}
	return f, spell, b
}

// lineOwner returns the owner of the line, and quotes the user's text on it.
func (l *Line) lineOwner(now time.Time) (owner line.Owner, quote string) {
	// This comes first: a key that arrives meanwhile must not be judged by the facts below.
	typed := l.Tracker.TypedLine()
	if !typed.MayHaveUserText() && !l.hasNewOutput &&
		l.Tracker.HasPrompt(l.Program.ForegroundGroup()) {
		return line.Free, ""
	}
	doing, _ := l.programActivity(now)
	if doing.HasProcessedKeys() { // the prompt is complete
		l.hasNewOutput = false
		l.Tracker.ReadPrompt(l.screen())
		if doing.Prompt == line.Editor {
			l.Tracker.NotePrompt(doing.Group)
		}
		typed = l.Tracker.RefreshTyped(typed)
	}
	owner, b := line.OwnerOf(l.screen(), doing, typed)
	if l.pendingKeys != typed.Keys() || owner != line.Pending {
		l.pendingKeys, l.pendingSince = typed.Keys(), now
	}
	switch {
	case owner == line.Pending && now.Sub(l.pendingSince) >= l.MaxAnswerWait:
		if owner = line.Free; !b.Empty() {
			owner = line.Taken
		}
	case owner == line.Free && doing.Prompt != line.None:
		// later text on the line is not the user's
		l.Tracker.NoteLineFree(typed, doing.Read && doing.Waits)
	}
	return owner, l.quoteLine(b)
}

// programActivity returns what the program does with the terminal now, and the facts that show it.
func (l *Line) programActivity(now time.Time) (d line.Activity, f line.Facts) {
	// The order matters: a program found waiting after its input was found empty has processed
	// that input, and what it printed before is on the screen at the end.
	read := l.Observer.HasCaughtUp()
	f, spell, b := l.factsWithBlocked()
	d = line.Activity{
		Spell:     spell,
		Group:     b.Group,
		Prompt:    line.PromptOfUserLine(f),
		KeepsLine: line.KeepsLineAtInterrupt(f),
		Quiet:     !now.Before(l.Observer.SettleTime()),
	}
	d.Waits, d.Known = b.known && b.waits(), b.known && !b.Unclear
	d.Sleeps = d.Known && b.Asleep && !d.Waits
	d.Read = read && l.Observer.HasStayedCaughtUp(f.Settings.Canonical)
	return d, f
}

// quoteLine returns a line as agents may read it.
func (l *Line) quoteLine(b line.Buffer) string {
	return l.quote(strings.ReplaceAll(b.Text(), "\n", " ⏎ "), 0)
}

// quote returns text of the screen as agents may read it. at is where the program is printing, -1
// if elsewhere.
func (l *Line) quote(text string, at int) string {
	text = l.Observer.Redact(protocol.Visible(text), at)
	if r := []rune(text); len(r) > maxQuote {
		text = string(r[:maxQuote]) + "…"
	}
	return text
}

// blockedBy returns the error of an input that has to wait for the user's line, or nil. pending
// means that this is not known yet.
func (l *Line) blockedBy(now time.Time) (pending bool, blocked *pump.OccupiedError) {
	l.noteSettled(now)
	switch owner, quote := l.lineOwner(now); owner {
	case line.Taken:
		l.waited, l.occupied, l.sentQuote, l.looked = now, false, quote, now
		return false, &pump.OccupiedError{Line: quote}
	case line.Pending:
		return true, nil
	case line.Free:
	}
	return false, nil
}

// IsEditing implements [observer.Line].
func (l *Line) IsEditing(timed bool) bool {
	f := l.currentFacts()
	edits := line.PromptOf(f) == line.Editor || line.EditsInWindow(f)
	return edits && line.HasPromptText(l.screen()) &&
		(!timed || !line.KeepsModeWhileWaiting(f))
}

// IsBehindText implements [observer.Line].
func (l *Line) IsBehindText() bool { return l.screen().Alt() || line.HasPromptText(l.screen()) }

// LastKeyTime implements [observer.Line].
func (l *Line) LastKeyTime() time.Time { return l.Tracker.LastKeyTime() }

// recheckBlocked tells control when the line that an input waits for is free, or changes.
func (l *Line) recheckBlocked(now time.Time) {
	if l.waited.IsZero() {
		return
	}
	l.looked = now
	holds := l.Control.NewestState().Occupied
	if l.occupied = l.occupied || holds; !holds && (l.occupied || now.Sub(l.waited) > maxConfirmWait) {
		l.waited = time.Time{} // the input is gone
		return
	}
	switch owner, quote := l.lineOwner(now); {
	case owner == line.Free:
		l.waited = time.Time{}
		l.Pump.Post(l.Control.VacateLine)
	case owner == line.Taken && quote != l.sentQuote:
		l.sentQuote = quote
		l.Pump.Post(func(now time.Time) {
			if st := l.Control.State(now); st.Occupied {
				l.Control.OccupyLine(now, quote, st.Types)
			}
		})
	}
}

// NextServe implements [observer.Line].
func (l *Line) NextServe() (at time.Time, ok bool) {
	if !l.waited.IsZero() {
		at, ok = l.looked.Add(lineEvery), true
	}
	if rests := l.Observer.SettleTime(); l.hasNewOutput && (!ok || rests.Before(at)) {
		at, ok = rests, true
	}
	return at, ok
}

// Serve implements [observer.Line].
func (l *Line) Serve(now time.Time) {
	l.noteSettled(now)
	if !now.Before(l.looked.Add(lineEvery)) {
		l.recheckBlocked(now)
	}
}

// noteSettled notes the prompt once the output pauses. The observer reports the pause only at
// intervals, and a user who types at once is faster.
func (l *Line) noteSettled(now time.Time) {
	if l.hasNewOutput && !now.Before(l.Observer.SettleTime()) {
		l.Tracker.ReadPrompt(l.screen())
		if !l.screen().Alt() {
			l.lineOwner(now) // forget a key without effect before the program redraws its prompt
		}
		l.hasNewOutput = false
	}
}

// NoteScreenChange implements [observer.Line].
func (l *Line) NoteScreenChange(now time.Time) {
	l.noteMoved()
	l.recheckBlocked(now)
}

// noteMoved notes the cursor's place after output.
func (l *Line) noteMoved() {
	v := l.screen()
	row, col := v.Cursor()
	l.Tracker.SetPlace(line.Place{Alt: v.Alt(), Line: v.Line(row), Col: col})
	l.hasNewOutput = true
}

// quoteLeftover quotes the text that an agent may have left on the line. It returns "" if the line
// is empty or unknown.
func (l *Line) quoteLeftover() string {
	typed := l.Tracker.TypedLine()
	if !typed.Line.Set || line.PromptOfUserLine(l.currentFacts()) == line.None {
		return ""
	}
	b := line.ReadBuffer(l.screen(), typed.Line)
	if !b.Known || b.Empty() {
		return ""
	}
	return l.quoteLine(b)
}

// callWithLeftover calls do with an agent's leftover once the program has shown it, on the
// observer's goroutine. If that has ended, it calls gone.
func (l *Line) callWithLeftover(do func(quote string), gone func()) {
	time.AfterFunc(stillFor, func() {
		if !l.Observer.Post(func(time.Time) { do(l.quoteLeftover()) }) {
			gone()
		}
	})
}

// assessLine judges the line for an input under level type. still reports whether the line is
// settled: the program has read what was typed, and the screen does not change. text means that the
// input would pass without a question at a prompt.
func (l *Line) assessLine(now, began time.Time, text bool) (j judgement, still bool) {
	// The order matters: a program found waiting for a key has processed all that was typed, and
	// has shown its question.
	read := l.Observer.HasCaughtUp()
	typed := l.Tracker.TypedLine()
	j.group = l.Program.ForegroundGroup()
	facts, _, b := l.factsWithBlocked()
	j.facts, j.prompt = facts, line.PromptOf(facts)
	quiet := now.Sub(l.Observer.LastChange()) >= stillFor
	edits, busy := j.prompt == line.Editor, false
	if edits {
		busy = !b.awaitsKey(j.group, quiet)
		if busy || !line.AtCommand(l.screen(), j.group, typed) {
			j.prompt = line.None
		}
	} else {
		busy = j.prompt == line.None && b.isBusy()
	}
	j.read = read && l.Observer.HasCaughtUp()
	most := maxStillWait
	if text && (busy || edits && !j.read) {
		most = maxBusyWait
	}
	late := now.Sub(began) >= most
	if late && !j.read && j.prompt == line.Editor {
		j.prompt = line.None // the unread input may start another program
	}
	still = late || !busy && j.read && quiet
	j.buffer, j.before = line.ReadBuffer(l.screen(), typed.Line), line.PromptText(l.screen(), typed)
	j.cols, j.rows = l.screen().Size()
	return j, still
}

// awaitsKey reports whether a group is known to wait for a key. If the kernel cannot tell, a quiet
// screen must suffice: between Enter and the start of the submitted command, a shell keeps the mode
// of its line editor for a moment.
func (b blocked) awaitsKey(group int, quiet bool) bool {
	switch {
	case b.waits():
		return b.Group == group
	case !b.known || b.Unclear:
		return quiet
	}
	return false
}

// isCooked reports whether the kernel collects lines for the program.
func (l *Line) isCooked() bool {
	settings, err := l.Program.Line()
	return err == nil && settings.Canonical
}

// isBusy reports whether the program is known to work now rather than to wait for input.
func (l *Line) isBusy() bool { return l.blockedOn().isBusy() }

// readinessForInput returns whether the program waits for what is typed now. If the system cannot
// tell, as behind ssh, the cursor decides: a program that works has usually left it at the start of
// a row. passing means that the system may be able to tell in a moment: between two commands of a
// shell no process may be in the foreground.
func (l *Line) readinessForInput() (r snapshot.Readiness, passing bool) {
	caughtUp := l.Observer.HasCaughtUp()
	a, known := l.Program.BlockedOn()
	switch {
	case l.screen().Alt():
		return snapshot.Waiting, false // a full-screen program shows what was typed once
	case a.Reads || a.PollsTerminal():
		if caughtUp {
			return snapshot.Waiting, false
		}
	case !known || a.Unclear || a.Relay != "":
		passing = known && a.Relay == ""
		if line.HasPromptText(l.screen()) {
			return snapshot.MaybeWaiting, passing
		}
		return snapshot.MaybeWorking, passing
	}
	return snapshot.Working, false
}

// isRunning reports whether the program is known to use a processor, or to be about to.
func (l *Line) isRunning() bool {
	a, known := l.Program.BlockedOn()
	return known && !a.Reads && !a.Asleep
}

// judgement is the state by which an input under level type is judged.
type judgement struct {
	facts      line.Facts
	group      int // has the terminal
	prompt     line.Prompt
	read       bool   // all input is read, and all output is on the screen
	before     string // the prompt before the line
	buffer     line.Buffer
	cols, rows int
}

// isStillValid reports whether the program still has the terminal, in the same mode. It is safe for
// concurrent use.
func (j *judgement) isStillValid(p Program) bool {
	settings, err := p.Settings()
	return err == nil && line.Settings(settings) == j.facts.Settings &&
		p.ForegroundGroup() == j.group
}

// screen returns the terminal model.
func (l *Line) screen() screenView { return screenView{l.Observer.Model()} }

// screenView is the terminal model as package line reads it.
type screenView struct{ *screen.Screen }

func (v screenView) Wrapped(row int) bool {
	if row < 0 {
		return v.HistoryWrapped(v.HistoryLen() + row)
	}
	return v.RowWrapped(row)
}

func (v screenView) Cursor() (row, col int) {
	c := v.Screen.Cursor()
	if c.Pending {
		c.Col++
	}
	return c.Row, c.Col
}

func (v screenView) Line(row int) uint64 {
	return v.HistoryNumber() + uint64(v.HistoryLen()) + uint64(row)
}

func (v screenView) Cell(row, col int) (content string, width int) {
	c := v.Screen.Cell(row, col)
	return c.Content, c.Width
}
