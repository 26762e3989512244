package snapshot

import (
	"iter"
	"slices"
	"strings"
	"time"
)

// seenLine is a line of a screen that the waiter has seen, with the line's first row.
type seenLine struct {
	row  int
	line string
}

// examinePast examines the time between AfterSeq and the start of a wait for text. Text printed
// then counts; older lines are remembered, so that they do not count when they move.
func (w *Waits) examinePast(o *waiter, v View) {
	if o.Condition.kind != kindShown {
		return
	}
	if since := max(o.AfterSeq, o.SinceSeq); since > 0 && !w.blind {
		for _, line := range v.LinesGone(since) {
			o.offerLine(w, line)
		}
	}
	if o.AfterSeq == 0 {
		return
	}
	for first, line := range eachLine(v, 0) {
		if _, ok := w.findText(o, line); ok && v.RowRev(first) <= o.AfterSeq {
			o.old = append(o.old, seenLine{row: first, line: line})
		}
	}
	printed, known := w.printedAt(o.AfterSeq)
	if !known {
		return
	}
	o.printed = printed
	for line := range eachTextLine(w.conceal(w.text.TextSince(o.printed), w.text.BytesAhead())) {
		o.offerLine(w, line)
	}
}

// hasMoved reports whether a line that starts in row first was there at AfterSeq and has only
// scrolled since. A new line with the same text would have been found as it was printed.
func (o *waiter) hasMoved(w *Waits, first int, line string) bool {
	if o.AfterSeq == 0 {
		return false
	}
	isSame := func(earlier seenLine) bool { return earlier.row > first && earlier.line == line }
	if slices.ContainsFunc(o.old, isSame) {
		return true
	}
	return w.wasPrintedBefore(o.printed, line)
}

// updateWatch watches the lines of the rolling text only while a wait for text is open.
func (w *Waits) updateWatch() {
	for _, o := range w.open {
		if o.Condition.kind == kindShown {
			w.text.watchLines(w.lineEnded)
			return
		}
	}
	w.text.watchLines(nil)
}

// lineEnded examines a line that was printed to its end.
func (w *Waits) lineEnded(text []byte, total uint64, end lineEnd) {
	line := ""
	isPart := end != lineFed || len(text) > 0 && text[0] == ' '
	for _, o := range w.open {
		if o.Condition.kind != kindShown || o.met || total <= o.printed {
			continue // no text has reached this line since the wait began
		}
		if line == "" {
			line = w.conceal(string(text), -1)
		}
		o.offerPart(w, line, isPart)
	}
}

// offerPart is offerLine for printed text that may be a part of a line of the screen. A part of a
// typed-ahead line is not new, since a line editor draws the line in pieces. It is examined again
// as a line of the screen.
func (o *waiter) offerPart(w *Waits, line string, isPart bool) {
	if !isPart || !w.ahead.hasPart(line) {
		o.offerLine(w, line)
	} else if matched, ok := w.findText(o, line); ok {
		o.heldMatch, o.heldLine = matched, line
	}
}

// offerLine examines a line that was printed in time.
func (o *waiter) offerLine(w *Waits, line string) {
	if !o.met {
		if o.matched, o.met = w.findNewText(o, line); o.met {
			o.line = line
		}
	}
}

// eachTextLine yields the lines of a text.
func eachTextLine(text string) iter.Seq[string] {
	if text == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(text, "\n")
}

// checkCondition evaluates a wait against the changes since its last evaluation. If the wait is
// met, matched is the text or the word for the fact.
func (o *waiter) checkCondition(v View, w *Waits, now time.Time) bool {
	rev := v.Rev()
	newer := rev > o.base
	switch o.Condition.kind {
	case kindShown:
		o.examineScreen(v, w)
		o.findStanding(v, w, now)
	case kindTitle:
		if at := v.TitleRev(); at > o.after {
			o.after = at
			o.offerLine(w, v.Title())
		}
		o.findStanding(v, w, now)
	case kindGone:
		o.setFact("gone", newer && o.isGone(v))
	case kindQuiet:
		if o.setFact("quiet", o.isQuiet(w, rev, now)); o.met {
			o.repainting = nil
		} else {
			o.setFact("quiet", o.isRepainting(v, w, now))
		}
	case kindSettled:
		o.setFact("settled", o.isQuiet(w, rev, now))
	case kindChanged:
		o.setFact("changed", newer)
	case kindExit:
		_, exited := v.ExitStatus()
		o.setFact("exit", exited)
	case kindWaiting:
		word := v.InputWait(now)
		if o.setFact(word, word != ""); o.met {
			row, _ := v.Cursor()
			o.line = v.RowText(row)
		}
	case kindControl: // see [Waits.EndControlWaits]
	}
	return o.met
}

func (o *waiter) setFact(word string, met bool) {
	if met {
		o.met, o.matched = true, word
	}
}

// examineScreen searches the changed rows, and the line that the program is printing.
func (o *waiter) examineScreen(v View, w *Waits) {
	if o.met {
		return
	}
	for first, line := range eachLine(v, o.after) {
		if matched, ok := w.findNewText(o, line); ok && !o.hasMoved(w, first, line) {
			o.met, o.matched, o.line = true, matched, line
			break
		}
	}
	o.after = max(o.after, v.Rev())
	if total := w.text.Total(); !o.met && total > o.printed {
		if line, some := w.text.unfinishedLine(); some {
			o.offerPart(w, w.conceal(string(line), w.text.BytesAhead()), true)
		}
	}
}

// isGone searches the screen for the text, first where it was before.
func (o *waiter) isGone(v View) bool {
	text := o.Condition.alike
	_, rows := v.Size()
	if o.foundAt < rows && strings.Contains(Normalize(v.RowText(o.foundAt)), text) {
		return false
	}
	for first, line := range eachLine(v, 0) {
		if strings.Contains(Normalize(line), text) {
			o.foundAt = first
			return false
		}
	}
	return true
}

func (o *waiter) isQuiet(w *Waits, rev uint64, now time.Time) bool {
	if rev > o.base {
		o.base = 0 // the program has reacted, so only its quiet counts
	}
	return !now.Before(o.quietFrom(w))
}

// quietFrom returns when a wait for quiet is met if nothing changes before, and zero for other
// waits.
func (o *waiter) quietFrom(w *Waits) time.Time {
	quiet := o.Condition.quiet
	switch o.Condition.kind {
	case kindQuiet:
	case kindSettled:
		quiet = w.throttle.settle
	case kindShown, kindTitle, kindGone, kindChanged, kindExit, kindWaiting, kindControl:
		return time.Time{}
	}
	at := LaterOf(w.throttle.QuietFrom(quiet), o.NotBefore.Add(quiet))
	if o.base != 0 {
		at = LaterOf(at, o.began.Add(quiet))
	}
	return at
}
