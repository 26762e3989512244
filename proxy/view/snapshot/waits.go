package snapshot

import (
	"errors"
	"slices"
	"time"

	"terminalproxy/protocol"
)

// MaxWaits bounds the open waits of one session.
const MaxWaits = 256

// Errors of [Waits.Add].
var (
	ErrTooManyWaits = errors.New("too many waits are open in this session: end some first")
	ErrWaitOpen     = errors.New("a wait with this id is open already")
)

// End tells why a wait ended.
type End uint8

// The ends of a wait.
const (
	Met      End = iota // its condition is met
	TimedOut            // its deadline passed
	Exited              // the program ended, so the condition can no longer come true
	Stopped             // the session stopped answering
	Costly              // its regular expression took too long
)

// Result is the end of a wait.
type Result struct {
	ID  string
	End End
	// Matched is the text that matched, or the word for the fact: "gone", "quiet", "settled",
	// "changed", "exit", the word of [View.InputWait], or the one given to [Waits.EndControlWaits].
	// It is empty unless End is Met, and if a command failed.
	Matched string
	// Line is the line that holds Matched, if that is a text, or the cursor's line if the program
	// waits for input.
	Line string
	// Alternative is the alternative that was met, nil if the wait's own condition was.
	Alternative *Alternative
	// Stood tells that the match is not new: see [protocol.WaitResult].
	Stood string
	// Repainting lists the rows that kept changing until a wait for quiet was met or timed out.
	Repainting []int
}

// Alternative is a further condition that ends a wait.
type Alternative struct {
	Condition *Condition
	Stop      bool           // its match makes further waiting pointless
	Until     protocol.Until // the source of Condition
}

// Wait is one wait for a condition.
type Wait struct {
	ID           string // unique among the open waits
	Condition    *Condition
	Alternatives []Alternative
	// AfterSeq, if not 0, is the revision that the waiter has seen: only later changes and output
	// count.
	AfterSeq uint64
	// SinceSeq, if not 0, is the revision that the waiter was shown: lines that have left the
	// screen since then count, besides the screen.
	SinceSeq uint64
	// InputSeq, if not 0, is the revision before the input whose effect is awaited: once the
	// program waits for input again, a text counts that came with that input, or is on the screen.
	InputSeq uint64
	// NotBefore, if not zero, is the time of an input whose effect is awaited: earlier quiet does
	// not count.
	NotBefore time.Time
	// Deadline ends the wait, unless it is zero.
	Deadline time.Time
	// Done is called once, from the method that ends the wait, with the wait already removed: it
	// may use the Waits. [Waits.Cancel] does not call it.
	Done func(Result)
}

// Waits holds the open waits of one session. Output is examined line by line as it is printed, and
// the screen whenever [Waits.EvaluateAll] is called, which must follow every change of the screen.
// So a flood hides nothing, and a row is examined again only after a change.
//
// Text and regular expressions match within one line, wrapped rows joined. They match the screen,
// and output since the wait began, or after AfterSeq while it is held. A line that was there at
// AfterSeq and only scrolled since does not count. A title counts if it was set after AfterSeq.
//
// Gone needs a screen newer than AfterSeq without the text. Changed needs a screen newer than
// AfterSeq, or than the one at the start of the wait.
//
// Quiet and settled count from the last change, which may precede the wait; but not from before
// NotBefore and, while the screen is still that of AfterSeq, not from before the wait: the program
// gets time to react.
//
// Waiting ignores AfterSeq, since not every input shows: a [View] knows what was typed and what the
// program has read of it. But see [Waits.NoteSecretPrompt].
//
// Once the program has exited, every wait that its last screen does not meet ends.
//
// It is owned by the goroutine that owns the Rolling and the Throttle.
type Waits struct {
	text     *Rolling
	throttle *Throttle
	open     []*waiter
	// revisions holds the newest revisions with the bytes printed until each, oldest first: they
	// lead from AfterSeq to its text.
	revisions []revisionMark
	// blind forbids looking at the screen.
	blind bool
	// secretPrompt is the last prompt for a secret.
	secretPrompt struct {
		open  bool
		since time.Time
		rev   uint64
	}
	ahead typedAhead
	// sawInputWait: a wait found the program waiting for input, so that it has read all that was
	// typed ahead.
	sawInputWait bool
	// conceal returns a text as the waiters may see it.
	conceal func(text string, ahead int) string
	allowed allowance
}

type revisionMark struct{ rev, printed uint64 }

// maxRevisions bounds Waits.revisions. More would not help: the text before them is gone.
const maxRevisions = 128

// waiter is one condition of an open wait, with the progress of its examination.
type waiter struct {
	Wait
	lead        *waiter      // the waiter of the wait's own condition
	alternative *Alternative // nil for that one
	over        bool         // of a lead: the wait has ended
	result      Result       // of a lead that is over
	began       time.Time
	after       uint64     // rows up to this revision do not count any longer
	base        uint64     // changed and gone need a higher revision; 0 if they do not
	printed     uint64     // text before this total does not count
	foundAt     int        // kindGone: the last row that had the text
	old         []seenLine // kindShown: matching lines that were on the screen of AfterSeq
	met         bool
	matched     string
	line        string // see [Result].Line
	heldMatch   string // the match in heldLine, an echo: see [Waits.findNewText]
	heldLine    string
	searchedRev uint64        // the revision last searched for older text
	standing    string        // how such a text matched: see [Result].Stood
	searchTime  time.Duration // time that its regular expression took
	costly      bool          // searchTime is too long
	pace        repaintPace   // of a wait for quiet that lets rows repaint
	repainting  []int
}

// NewWaits returns a value without waits, over a session's rolling text and its throttle. It
// replaces any earlier one over the same text.
func NewWaits(text *Rolling, throttle *Throttle) *Waits {
	return &Waits{
		text: text, throttle: throttle, conceal: func(text string, _ int) string { return text },
		revisions: []revisionMark{{rev: protocol.FirstSeq}}, // the first screen is blank
	}
}

// SetConcealer sets the function that returns printed text as the waiters may see it. The program
// prints before the last ahead bytes of the text, or elsewhere if ahead is -1. The rows of a [View]
// must be concealed already: a wait must not confirm a guess at hidden text.
func (w *Waits) SetConcealer(hide func(text string, ahead int) string) { w.conceal = hide }

// Add opens a wait, or answers it at once if its condition is met already.
func (w *Waits) Add(wait Wait, v View, now time.Time) error {
	if slices.ContainsFunc(w.open, func(o *waiter) bool { return o.ID == wait.ID }) {
		return ErrWaitOpen
	}
	if len(w.open)+len(wait.Alternatives) >= MaxWaits {
		return ErrTooManyWaits
	}
	w.noteRevision(v)
	lead := w.openWait(wait, v, now)
	lead.lead = lead
	for i := range wait.Alternatives {
		further := wait
		further.Condition = wait.Alternatives[i].Condition
		o := w.openWait(further, v, now)
		o.lead, o.alternative = lead, &wait.Alternatives[i]
	}
	w.updateWatch()
	w.endReady(v, now, func(o *waiter) bool { return o.lead == lead })
	return nil
}

// openWait opens the wait for one condition.
func (w *Waits) openWait(wait Wait, v View, now time.Time) *waiter {
	o := &waiter{
		Wait:    wait,
		began:   now,
		after:   wait.AfterSeq,
		base:    wait.AfterSeq,
		printed: w.text.Total(),
	}
	if wait.Condition.kind == kindChanged && o.base == 0 {
		o.base = v.Rev()
	}
	w.examinePast(o, v)
	w.open = append(w.open, o)
	return o
}

// EvaluateAll evaluates every open wait. Call it after every change, at the time that [Waits.Next]
// returns, and when the program exits or begins to wait for input.
func (w *Waits) EvaluateAll(v View, now time.Time) {
	w.noteRevision(v)
	w.endReady(v, now, func(*waiter) bool { return true })
}

// noteRevision notes how much has been printed at this revision.
func (w *Waits) noteRevision(v View) {
	now := revisionMark{rev: v.Rev(), printed: w.text.Total()}
	if n := len(w.revisions); n > 0 && w.revisions[n-1].rev == now.rev {
		w.revisions[n-1] = now
		return
	}
	if len(w.revisions) == maxRevisions {
		w.revisions = slices.Delete(w.revisions, 0, maxRevisions/2)
	}
	w.revisions = append(w.revisions, now)
}

// endReady evaluates the chosen waits and ends those that are over.
func (w *Waits) endReady(v View, now time.Time, chosen func(*waiter) bool) {
	if len(w.open) == 0 {
		return
	}
	_, exited := v.ExitStatus()
	w.finishWaits(func(o *waiter) (Result, bool) {
		switch {
		case !chosen(o):
			return Result{}, false
		case !w.isBlindTo(o) && o.checkCondition(v, w, now):
			return Result{
				ID:          o.ID,
				End:         Met,
				Matched:     o.matched,
				Line:        o.line,
				Alternative: o.alternative,
				Stood:       o.standing,

				Repainting: o.repainting,
			}, true
		case o.costly:
			return Result{ID: o.ID, End: Costly}, true
		case exited:
			return Result{ID: o.ID, End: Exited}, true
		case !o.Deadline.IsZero() && !now.Before(o.Deadline):
			return Result{ID: o.ID, End: TimedOut, Repainting: o.repainting}, true
		}
		return Result{}, false
	})
}

// finishWaits removes the waits that are over and calls their Done, in the order in which they were
// added. Of a wait's conditions the first one met decides; if all fail, the first failure does.
func (w *Waits) finishWaits(over func(*waiter) (Result, bool)) {
	var done []*waiter
	for _, o := range w.open {
		result, yes := over(o)
		switch lead := o.lead; {
		case !yes:
		case !lead.over:
			lead.over, lead.result = true, result
			done = append(done, lead)
		case lead.result.Matched == "" && result.End == Met:
			lead.result = result
		}
	}
	w.open = slices.DeleteFunc(w.open, func(o *waiter) bool { return o.lead.over })
	w.updateWatch()
	if w.sawInputWait {
		w.forgetTypedAhead()
	}
	for _, lead := range done {
		lead.Done(lead.result)
	}
}

// SetBlind sets whether waits must not look at the screen. Then only quiet, the exit and time can
// meet a wait.
func (w *Waits) SetBlind(on bool) { w.blind = on }

// NoteSecretPrompt notes whether a prompt for a secret, which the user answers, is open, since
// when, and at which revision that was noticed. If a waiter has seen that prompt, its wait for
// input means the prompt after it.
func (w *Waits) NoteSecretPrompt(open bool, since time.Time, rev uint64) {
	w.secretPrompt.open, w.secretPrompt.since, w.secretPrompt.rev = open, since, rev
}

// hasSeen reports whether the waiter has seen the screen of a time and revision.
func (o *waiter) hasSeen(since time.Time, rev uint64) bool {
	if o.AfterSeq > 0 {
		return o.AfterSeq >= rev
	}
	return o.began.After(since)
}

// isBlindTo reports whether o depends on facts that it may not see now.
func (w *Waits) isBlindTo(o *waiter) bool {
	switch o.Condition.kind {
	case kindShown, kindTitle, kindGone, kindChanged:
		return w.blind
	case kindWaiting:
		return w.blind || w.secretPrompt.open && o.hasSeen(w.secretPrompt.since, w.secretPrompt.rev)
	case kindQuiet, kindSettled, kindExit, kindControl:
	}
	return false
}

// EndControlWaits ends those waits for a decision about control for which wordFor returns a word,
// as met with that.
func (w *Waits) EndControlWaits(wordFor func(id string) string) {
	w.finishWaits(func(o *waiter) (r Result, over bool) {
		if o.Condition.kind == kindControl {
			r = Result{ID: o.ID, Matched: wordFor(o.ID)}
		}
		return r, r.Matched != ""
	})
}

// Cancel removes a wait without calling its Done, and reports whether it was open.
func (w *Waits) Cancel(id string) bool {
	before := len(w.open)
	w.open = slices.DeleteFunc(w.open, func(o *waiter) bool { return o.ID == id })
	w.updateWatch()
	return len(w.open) < before
}

// Stop ends all waits: the session stops checking them.
func (w *Waits) Stop() {
	w.finishWaits(func(o *waiter) (Result, bool) { return Result{ID: o.ID, End: Stopped}, true })
}

// Len returns the number of open waits.
func (w *Waits) Len() int { return len(w.open) }

// Next returns when to call EvaluateAll even if nothing changes before; false for never.
func (w *Waits) Next() (at time.Time, ok bool) {
	for _, o := range w.open {
		for _, t := range []time.Time{o.Deadline, o.quietFrom(w)} {
			if !t.IsZero() && (!ok || t.Before(at)) {
				at, ok = t, true
			}
		}
	}
	return at, ok
}
