package snapshot

import (
	"errors"
	"slices"
	"time"

	"terminalproxy/protocol"
)

// MaxWaits is the number of waits of one session that can be open at once.
const MaxWaits = 256

// Errors of [Waits.Add].
var (
	ErrTooManyWaits = errors.New("too many waits are open in this session: end some first")
	ErrWaitOpen     = errors.New("a wait with this id is open already")
)

// End says why a wait ended.
type End uint8

// The ends of a wait.
const (
	Met      End = iota // its condition holds
	TimedOut            // its deadline passed
	Exited              // the program ended, so that the condition can no longer come true
	Stopped             // the session stopped answering
	Dear                // looking for its regular expression took too long
)

// Result is the end of a wait.
type Result struct {
	ID  string
	End End
	// Matched is the text that matched, or the word for the fact: "gone", "quiet", "settled", "changed", "exit",
	// the word of [View.Waiting], or what [Waits.Decide] was given. It is empty unless End is Met.
	Matched string
	// Came is which of the further conditions was met, nil for the wait's own.
	Came *Also
	// Stood says that what matched is not new: see [protocol.WaitResult].
	Stood string
}

// Also is a further condition of a wait, which ends it as well.
type Also struct {
	Condition *Condition
	Stop      bool           // what it finds makes it pointless to wait on
	Until     protocol.Until // what Condition was made of
}

// Wait is one wait for a condition.
type Wait struct {
	ID        string // unique among the open waits
	Condition *Condition
	Also      []Also
	// AfterSeq, if not 0, is the revision that the waiter has seen: only what changed or was printed after it counts.
	AfterSeq uint64
	// SinceSeq, if not 0, is the revision that the waiter was shown: what has left the screen since then counts, besides what is shown.
	SinceSeq uint64
	// InputSeq, if not 0, is the revision before the input whose effect is awaited: once the program waits for input again, a text
	// counts that came with that input, or stands on the screen.
	InputSeq uint64
	// NotBefore, if not zero, is a moment before which no quiet counts: that of an input whose effect is awaited.
	NotBefore time.Time
	// Deadline ends the wait; zero for none.
	Deadline time.Time
	// Done is called once, from [Waits.Add] or whichever other method ends the wait, with the wait already gone: it may
	// use the Waits. [Waits.Cancel] does not call it.
	Done func(Result)
}

// Waits are the open waits of one session. What is printed is examined line by line as it is printed, and what is shown
// whenever [Waits.Check] is called, which shall be after every change of the screen; so a flood hides nothing, and a row
// is examined again only when it changed.
//
// The conditions, in detail. Text and regular expressions match within one line, rows joined where they wrap. What was
// printed since the wait began, or after AfterSeq as far as it is still held, counts as well as what is shown; a line that
// was there at AfterSeq and only scrolled since does not count. A title counts that the program has set after AfterSeq. Gone needs the text to be nowhere on the screen, and a
// screen newer than AfterSeq. Changed needs a screen newer than AfterSeq, or than the one at the begin of the wait. Quiet
// and settled count from the last change, which may lie before the wait; but not from before NotBefore, and if the screen
// is still the one of AfterSeq, not from before the wait: the program gets its time to react. Waiting has no use for
// AfterSeq, since a [View] knows what was typed and what the program has read of it: not every input shows;
// but see [Waits.Asks]. When the program
// has exited, waits that its last screen does not meet end.
//
// One goroutine owns it, the one that owns the Rolling and the Throttle.
type Waits struct {
	text     *Rolling
	throttle *Throttle
	open     []*waiting
	// seen are the newest revisions with what had been printed by then, oldest first: how AfterSeq finds its text.
	seen []seen
	// blind: the screen is not to be looked at.
	blind bool
	// asked is the question for a secret that stands.
	asked struct {
		stands bool
		since  time.Time
		rev    uint64
	}
	// hide makes a text what the waiters may see of it.
	hide    func(text string, ahead int) string
	allowed allowance
}

type seen struct{ rev, printed uint64 }

// maxSeen bounds Waits.seen; more would not help, the text before is no longer held.
const maxSeen = 128

// waiting is an open wait with what has been examined so far.
type waiting struct {
	Wait
	lead    *waiting // of the conditions of one wait: itself for its own one, else the one it goes with
	came    *Also    // nil for the wait's own
	over    bool     // of a lead: the wait is over
	result  Result   // then
	began   time.Time
	after   uint64 // rows up to this revision have been examined, or do not count
	base    uint64 // the revision that changed and gone need to be above; 0 for none
	printed uint64 // text up to this total does not count
	foundAt int    // kindGone: the row where the text was found last
	old     []old  // kindShown: lines that match and were on the screen of AfterSeq
	met     bool
	matched string
	stood   uint64        // the revision that was searched for text that is not new
	since   string        // of such a text: see [Result].Stood
	took    time.Duration // what looking for its regular expression took so far
	dear    bool          // that was too much
}

// NewWaits is no waits yet, over a session's rolling text and its throttle. It takes the place of any earlier one over the
// same text.
func NewWaits(text *Rolling, throttle *Throttle) *Waits {
	return &Waits{
		text: text, throttle: throttle, hide: func(text string, _ int) string { return text },
		seen: []seen{{rev: protocol.FirstSeq}}, // nobody looks before something is printed
	}
}

// Conceal has hide make what the waiters may see of what was printed; the program is printing before the last ahead bytes of
// the text, or elsewhere if that is -1. The rows of a [View] are expected to be so already: a wait must not confirm a guess of what is not shown.
func (w *Waits) Conceal(hide func(text string, ahead int) string) { w.hide = hide }

// Add opens a wait, or answers it at once if its condition holds already.
func (w *Waits) Add(wait Wait, v View, now time.Time) error {
	if slices.ContainsFunc(w.open, func(o *waiting) bool { return o.ID == wait.ID }) {
		return ErrWaitOpen
	}
	if len(w.open)+len(wait.Also) >= MaxWaits {
		return ErrTooManyWaits
	}
	w.see(v)
	lead := w.begin(wait, v, now)
	lead.lead = lead
	for i := range wait.Also {
		further := wait
		further.Condition = wait.Also[i].Condition
		o := w.begin(further, v, now)
		o.lead, o.came = lead, &wait.Also[i]
	}
	w.listen()
	w.end(v, now, func(o *waiting) bool { return o.lead == lead })
	return nil
}

// begin opens a wait for one condition.
func (w *Waits) begin(wait Wait, v View, now time.Time) *waiting {
	o := &waiting{Wait: wait, began: now, after: wait.AfterSeq, base: wait.AfterSeq, printed: w.text.Total()}
	if wait.Condition.kind == kindChanged && o.base == 0 {
		o.base = v.Rev()
	}
	w.before(o, v)
	w.open = append(w.open, o)
	return o
}

// Check evaluates every open wait: after every change, when [Waits.Next] says so, and when the program exits or begins to
// wait for input.
func (w *Waits) Check(v View, now time.Time) {
	w.see(v)
	w.end(v, now, func(*waiting) bool { return true })
}

// see notes how much had been printed at a revision.
func (w *Waits) see(v View) {
	now := seen{rev: v.Rev(), printed: w.text.Total()}
	if n := len(w.seen); n > 0 && w.seen[n-1].rev == now.rev {
		w.seen[n-1] = now
		return
	}
	if len(w.seen) == maxSeen {
		w.seen = slices.Delete(w.seen, 0, maxSeen/2)
	}
	w.seen = append(w.seen, now)
}

// end evaluates the chosen waits and ends those that are over.
func (w *Waits) end(v View, now time.Time, chosen func(*waiting) bool) {
	if len(w.open) == 0 {
		return
	}
	_, exited := v.Exited()
	w.finish(func(o *waiting) (Result, bool) {
		switch {
		case !chosen(o):
			return Result{}, false
		case !w.blindTo(o) && o.holds(v, w, now):
			return Result{ID: o.ID, End: Met, Matched: o.matched, Came: o.came, Stood: o.since}, true
		case o.dear:
			return Result{ID: o.ID, End: Dear}, true
		case exited:
			return Result{ID: o.ID, End: Exited}, true
		case !o.Deadline.IsZero() && !now.Before(o.Deadline):
			return Result{ID: o.ID, End: TimedOut}, true
		}
		return Result{}, false
	})
}

// finish takes the waits out that are over and tells whoever waits, in the order in which they were added. Of the conditions of one
// wait the first that is met counts; that it can no longer come true counts where none is.
func (w *Waits) finish(over func(*waiting) (Result, bool)) {
	var done []*waiting
	for _, o := range w.open {
		result, yes := over(o)
		switch lead := o.lead; {
		case !yes:
		case !lead.over:
			lead.over, lead.result = true, result
			done = append(done, lead)
		case lead.result.End != Met && result.End == Met:
			lead.result = result
		}
	}
	w.open = slices.DeleteFunc(w.open, func(o *waiting) bool { return o.lead.over })
	w.listen()
	for _, lead := range done {
		lead.Done(lead.result)
	}
}

// Blind says whether waits may look at the screen. While they may not, what is on it meets none, nor does what the program
// does; quiet, the exit and time do.
func (w *Waits) Blind(on bool) { w.blind = on }

// Asks says that the program asks for a secret, which somebody else answers, since when, and at which revision that was
// noticed; or that it no longer does. Who waits for the program to wait for input, and has seen that it asks, waits for what
// it does afterwards.
func (w *Waits) Asks(stands bool, since time.Time, rev uint64) {
	w.asked.stands, w.asked.since, w.asked.rev = stands, since, rev
}

// knows reports whether the waiter has seen what there was to see then.
func (o *waiting) knows(since time.Time, rev uint64) bool {
	if o.AfterSeq > 0 {
		return o.AfterSeq >= rev
	}
	return o.began.After(since)
}

// blindTo reports whether o is about something that may not be looked at.
func (w *Waits) blindTo(o *waiting) bool {
	switch o.Condition.kind {
	case kindShown, kindTitle, kindGone, kindChanged:
		return w.blind
	case kindWaiting:
		return w.blind || w.asked.stands && o.knows(w.asked.since, w.asked.rev)
	case kindQuiet, kindSettled, kindExit, kindControl:
	}
	return false
}

// Decide ends the waits for a decision about control whose id matches, as met with the given word.
func (w *Waits) Decide(match func(id string) bool, word string) {
	w.finish(func(o *waiting) (Result, bool) {
		return Result{ID: o.ID, End: Met, Matched: word}, o.Condition.kind == kindControl && match(o.ID)
	})
}

// Cancel forgets a wait: nobody is told. It reports whether there was one.
func (w *Waits) Cancel(id string) bool {
	before := len(w.open)
	w.open = slices.DeleteFunc(w.open, func(o *waiting) bool { return o.ID == id })
	w.listen()
	return len(w.open) < before
}

// Stop ends all waits, since nobody will check them any more.
func (w *Waits) Stop() {
	w.finish(func(o *waiting) (Result, bool) { return Result{ID: o.ID, End: Stopped}, true })
}

// Len is the number of open waits.
func (w *Waits) Len() int { return len(w.open) }

// Next is when to call Check even if nothing changes before; false for never.
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
