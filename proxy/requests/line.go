package requests

import (
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/line"
	"terminalproxy/proxy/screen"
)

// Times of the shared line.
const (
	// lineEvery is how often it is looked whether the line is free again while an agent's input waits for that, beside each
	// output: nothing announces that another program has the terminal.
	lineEvery = 100 * time.Millisecond
	// holdMost is how long control may take to hear that an input waits, on a machine that is busy. An input that was taken
	// back before that is not looked for any longer.
	holdMost = 30 * time.Second
	// stillFor and stillMost: input under level type is judged when nothing has moved for stillFor, so that the line is the
	// one that the user reads, and the program waits for input, which one that starts does not yet; after stillMost in any case.
	stillFor   = 50 * time.Millisecond
	stillMost  = 2 * time.Second
	stillEvery = 10 * time.Millisecond
	// busyMost is stillMost for text that comes while a program works: its prompt is what the text is for.
	busyMost = 10 * time.Second
	// answerMost is the usual [Line.AnswerMost], and pendingEvery how often it is looked meanwhile.
	answerMost   = 2 * time.Second
	pendingEvery = 5 * time.Millisecond
	// quoteMost bounds what is quoted of a line, in characters.
	quoteMost = 200
)

// Line is the line that the user and agents share, for the observer's goroutine, which owns it.
type Line struct {
	Config
	// AnswerMost is how long agents wait at most for what a program makes of what the user typed: one that computes answers when it is
	// done.
	AnswerMost time.Duration
	waited     time.Time // since when an agent's input waits for the line, zero while none does
	held       bool      // control has said so since
	looked     time.Time
	told       string // what control knows of the line
	// pendingKeys is how often the user had typed when the program was first seen not to have answered that, and pendingSince when.
	pendingKeys  uint64
	pendingSince time.Time
	stirred      bool // there was output since the line was looked at
}

// facts are what the kernel and the shell's marks say now.
func (l *Line) facts() line.Facts {
	settings, err := l.Program.Settings()
	if err != nil {
		return line.Facts{}
	}
	typed := l.Tracker.Typed()
	f := line.Facts{
		Settings: line.Settings(settings), Alt: l.screen().Alt(), Paste: l.screen().Modes().BracketedPaste,
		Runs: l.Observer.RunsCommand(), Odd: typed.Odd, Asks: typed.Asks,
	}
	if f.Settings.Canonical {
		a, _ := l.Program.BlockedOn()
		f.Reads = a.Reads || a.Listens()
		return f
	}
	if leader, ok := l.Program.GroupLeader(); ok {
		f.Program = line.Program{Exe: leader.Exe, Args: leader.Args, Crowd: leader.Crowd}
	}
	return f
}

// whose says whose the line is, and quotes what stands there of the user's.
func (l *Line) whose(now time.Time) (owner line.Owner, quote string) {
	typed := l.Tracker.Typed() // before the rest is looked at: a key that comes meanwhile is not judged by it
	if !typed.Mine() && !l.stirred && l.Tracker.HasPrompt(l.Program.ForegroundGroup()) {
		return line.Free, ""
	}
	doing := l.doing(now)
	if doing.Answered() { // no more of the prompt is to come
		l.stirred = false
		l.Tracker.Rested(l.screen())
		if doing.Prompt == line.Editor {
			l.Tracker.Prompt(doing.Group)
		}
		typed = l.Tracker.Learned(typed)
	}
	owner, b := line.Whose(l.screen(), doing, typed)
	if l.pendingKeys != typed.Keys() || owner != line.Pending {
		l.pendingKeys, l.pendingSince = typed.Keys(), now
	}
	switch {
	case owner == line.Pending && now.Sub(l.pendingSince) >= l.AnswerMost:
		if owner = line.Free; !b.Empty() {
			owner = line.Users
		}
	case owner == line.Free && doing.Prompt != line.None:
		l.Tracker.Free(typed, doing.Read && doing.Waits) // what comes onto the line next is not the user's
	}
	return owner, l.quote(b)
}

// doing is what the program does with the terminal now.
func (l *Line) doing(now time.Time) line.Doing {
	read := l.Observer.CaughtUp()
	f := l.facts()
	d := line.Doing{Group: l.Program.ForegroundGroup(), Prompt: line.Shared(f), Keeps: line.Keeps(f), Rests: !now.Before(l.Observer.Settles())}
	d.Spell, _ = l.Program.Collects()
	a, known := l.Program.BlockedOn()
	d.Waits, d.Known = known && (a.Reads || a.Listens()), known && !a.Unclear
	d.Sleeps = d.Known && a.Asleep && !d.Waits
	d.Read = read && l.Observer.CaughtUp()
	return d
}

// quote is a line as agents may read it.
func (l *Line) quote(b line.Buffer) string {
	text := l.Observer.Redact(protocol.Visible(strings.ReplaceAll(b.Text(), "\n", " ⏎ ")), 0)
	if r := []rune(text); len(r) > quoteMost {
		text = string(r[:quoteMost]) + "…"
	}
	return text
}

// blocks is the error of an input that has to wait for the user's line, nil when it has not. pending says that it is not known yet
// whether it has.
func (l *Line) blocks(now time.Time) (pending bool, err error) {
	l.rest(now)
	switch owner, quote := l.whose(now); owner {
	case line.Users:
		l.waited, l.held, l.told, l.looked = now, false, quote, now
		return false, &input.Occupied{Line: quote}
	case line.Pending:
		return true, nil
	case line.Free:
	}
	return false, nil
}

// Edits implements [observer.Line].
func (l *Line) Edits(timed bool) bool {
	f := l.facts()
	return line.Prompted(l.screen()) && line.At(f) == line.Editor && (!timed || !line.Awaits(f))
}

// Pressed implements [observer.Line].
func (l *Line) Pressed() time.Time { return l.Tracker.Pressed() }

// check looks whether the line that an input waits for is free, and has control know.
func (l *Line) check(now time.Time) {
	if l.waited.IsZero() {
		return
	}
	l.looked = now
	holds := l.Control.Newest().Occupied
	if l.held = l.held || holds; !holds && (l.held || now.Sub(l.waited) > holdMost) {
		l.waited = time.Time{} // nobody waits any more
		return
	}
	switch owner, quote := l.whose(now); {
	case owner == line.Free:
		l.waited = time.Time{}
		l.Pump.Post(l.Control.Vacate)
	case owner == line.Users && quote != l.told:
		l.told = quote
		l.Pump.Post(func(now time.Time) {
			if l.Control.State(now).Occupied {
				l.Control.Occupy(now, quote)
			}
		})
	}
}

// Next implements [observer.Line].
func (l *Line) Next() (at time.Time, ok bool) {
	if !l.waited.IsZero() {
		at, ok = l.looked.Add(lineEvery), true
	}
	if rests := l.Observer.Settles(); l.stirred && (!ok || rests.Before(at)) {
		at, ok = rests, true
	}
	return at, ok
}

// Serve implements [observer.Line].
func (l *Line) Serve(now time.Time) {
	l.rest(now)
	if !l.waited.IsZero() && !now.Before(l.looked.Add(lineEvery)) {
		l.check(now)
	}
}

// rest notes the prompt as soon as the output pauses: observers hear of that at intervals, and a user who types at once is
// earlier.
func (l *Line) rest(now time.Time) {
	if l.stirred && !now.Before(l.Observer.Settles()) {
		l.Tracker.Rested(l.screen())
		if !l.screen().Alt() {
			l.whose(now) // a key that left nothing is forgotten before the program redraws its prompt
		}
		l.stirred = false
	}
}

// Moved implements [observer.Line].
func (l *Line) Moved(now time.Time) {
	l.moved()
	l.check(now)
}

// moved says where the cursor is after output.
func (l *Line) moved() {
	v := l.screen()
	row, col := v.Cursor()
	l.Tracker.Moved(line.Place{Alt: v.Alt(), Line: v.Line(row), Col: col})
	l.stirred = true
}

// left quotes what an agent may have left on the line, "" when there is nothing, or nobody knows.
func (l *Line) left() string {
	typed := l.Tracker.Typed()
	if !typed.Line.Set || line.Shared(l.facts()) == line.None {
		return ""
	}
	b := line.Find(l.screen(), typed.Line)
	if !b.Known || b.Empty() {
		return ""
	}
	return l.quote(b)
}

// leftBehind has do called with what an agent left on the line, quoted, once the program has shown it; "" when that is nothing
// or nobody knows. do runs on the observer's goroutine, or gone in its place when that has ended.
func (l *Line) leftBehind(do func(quote string), gone func()) {
	time.AfterFunc(stillFor, func() {
		if !l.Observer.Post(func(time.Time) { do(l.left()) }) {
			gone()
		}
	})
}

// judge is what is known of the line as an input under level type is about to go, and whether it stands still: what was typed
// before has been read, and the screen does not move. text says that the input would go unasked at a prompt.
func (l *Line) judge(now, began time.Time, text bool) (j judgement, still bool) {
	// In this order: who is found to wait for a key has dealt with all that was typed, and has
	// shown what it asks.
	read := l.Observer.CaughtUp()
	typed := l.Tracker.Typed()
	j.group = l.Program.ForegroundGroup()
	j.facts = l.facts()
	j.prompt = line.At(j.facts)
	quiet := now.Sub(l.Observer.LastChange()) >= stillFor
	edits, busy := j.prompt == line.Editor, false
	if edits {
		if busy = !l.awaitsKey(j.group, quiet); busy || !line.AtCommand(l.screen(), j.group, typed) {
			j.prompt = line.None
		}
	} else {
		busy = j.prompt == line.None && l.busy()
	}
	j.read = read && l.Observer.CaughtUp()
	most := stillMost
	if text && (busy || edits && !j.read) {
		most = busyMost
	}
	late := now.Sub(began) >= most
	if late && !j.read && j.prompt == line.Editor {
		j.prompt = line.None // what it has yet to read may start another program
	}
	still = late || !busy && j.read && quiet
	j.buffer, j.before = line.Find(l.screen(), typed.Line), line.PromptText(l.screen(), typed)
	j.cols, j.rows = l.screen().Size()
	return j, still
}

// awaitsKey reports whether a group is known to wait for a key. Where the kernel does not tell,
// that its screen is quiet has to do: a shell keeps the mode of its line editor for a moment after
// Enter, until it starts what was submitted.
func (l *Line) awaitsKey(group int, quiet bool) bool {
	a, known := l.Program.BlockedOn()
	switch {
	case a.Reads || a.Listens():
		return a.Group == group
	case !known || a.Unclear:
		return quiet
	}
	return false
}

// cooked reports whether the kernel collects lines for the program.
func (l *Line) cooked() bool {
	settings, err := l.Program.Line()
	return err == nil && settings.Canonical
}

// busy reports whether the program is known to do something else than to wait for input.
func (l *Line) busy() bool {
	a, known := l.Program.BlockedOn()
	return known && !a.Reads && !a.Listens() && a.Relay == "" && !a.Unclear
}

// runs reports whether the program is known to use a processor, or to be about to.
func (l *Line) runs() bool {
	a, known := l.Program.BlockedOn()
	return known && !a.Reads && !a.Asleep
}

// judgement is what an input under level type is judged by.
type judgement struct {
	facts      line.Facts
	group      int // has the terminal
	prompt     line.Prompt
	read       bool   // what was typed before has been read, and what was printed is on the screen
	before     string // what stands in front of the line
	buffer     line.Buffer
	cols, rows int
}

// holds reports whether the program still has the terminal, in the same mode. Any goroutine may
// ask.
func (j *judgement) holds(p Program) bool {
	settings, err := p.Settings()
	return err == nil && line.Settings(settings) == j.facts.Settings && p.ForegroundGroup() == j.group
}

// typeLevel reports whether input is under level type now.
func (h *Handler) typeLevel() bool {
	st := h.Control.Newest()
	return st.Phase == control.Granted && st.Level == protocol.LevelType
}

// screen is the terminal model.
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
