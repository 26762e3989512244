package snapshot

import (
	"iter"
	"slices"
	"strings"
	"time"
)

// old is a line of the screen that the waiter has seen, with its first row.
type old struct {
	row  int
	line string
}

// before looks at what happened between AfterSeq and the begin of a wait for text: what was printed then counts, and what
// is older is remembered, so that it does not count when it moves.
func (w *Waits) before(o *waiting, v View) {
	if o.Condition.kind != kindShown {
		return
	}
	if since := max(o.AfterSeq, o.SinceSeq); since > 0 && !w.blind {
		for _, line := range v.Left(since) {
			o.offer(w, line)
		}
	}
	if o.AfterSeq == 0 {
		return
	}
	for first, line := range eachLine(v, 0) {
		if _, ok := w.find(o, line); ok && v.RowRev(first) <= o.AfterSeq {
			o.old = append(o.old, old{row: first, line: line})
		}
	}
	printed, known := w.printedAt(o.AfterSeq)
	if !known {
		return
	}
	o.printed = printed
	for line := range lines(w.hide(w.text.Since(o.printed), w.text.Ahead())) {
		o.offer(w, line)
	}
}

// moved reports whether a line that starts in row first is one that was there at AfterSeq and has scrolled since: a new
// one with the same text would have been printed, and found there.
func (o *waiting) moved(w *Waits, first int, line string) bool {
	if o.AfterSeq == 0 {
		return false
	}
	if slices.ContainsFunc(o.old, func(was old) bool { return was.row > first && was.line == line }) {
		return true
	}
	return w.printedBefore(o.printed, line)
}

// listen has the rolling text show its lines while somebody waits for text, and only then.
func (w *Waits) listen() {
	for _, o := range w.open {
		if o.Condition.kind == kindShown {
			w.text.watch(w.lineEnded)
			return
		}
	}
	w.text.watch(nil)
}

// lineEnded examines a line that was printed to its end.
func (w *Waits) lineEnded(text []byte, total uint64) {
	line := ""
	for _, o := range w.open {
		if o.Condition.kind != kindShown || o.met || total <= o.printed {
			continue // a line into which nothing was printed since the wait began is older than the wait
		}
		if line == "" {
			line = w.hide(string(text), -1)
		}
		o.offer(w, line)
	}
}

// offer examines a line that was printed in time.
func (o *waiting) offer(w *Waits, line string) {
	if !o.met {
		o.matched, o.met = w.find(o, line)
	}
}

// lines are the lines of a text.
func lines(text string) iter.Seq[string] {
	if text == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(text, "\n")
}

// holds evaluates a wait against what has changed since it was evaluated last, and words the fact in matched.
func (o *waiting) holds(v View, w *Waits, now time.Time) bool {
	rev := v.Rev()
	newer := rev > o.base
	switch o.Condition.kind {
	case kindShown:
		o.examine(v, w)
		o.stands(v, w, now)
	case kindTitle:
		if at := v.TitleRev(); at > o.after {
			o.after = at
			o.offer(w, v.Title())
		}
		o.stands(v, w, now)
	case kindGone:
		o.fact("gone", newer && o.isGone(v))
	case kindQuiet:
		o.fact("quiet", o.isQuiet(w, rev, now))
	case kindSettled:
		o.fact("settled", o.isQuiet(w, rev, now))
	case kindChanged:
		o.fact("changed", newer)
	case kindExit:
		_, exited := v.Exited()
		o.fact("exit", exited)
	case kindWaiting:
		word := v.Waiting(now)
		o.fact(word, word != "")
	case kindControl: // not ours to decide
	}
	return o.met
}

func (o *waiting) fact(word string, met bool) {
	if met {
		o.met, o.matched = true, word
	}
}

// examine looks for text in the rows that changed, and in the line that the program is printing.
func (o *waiting) examine(v View, w *Waits) {
	if o.met {
		return
	}
	for first, line := range eachLine(v, o.after) {
		if matched, ok := w.find(o, line); ok && !o.moved(w, first, line) {
			o.met, o.matched = true, matched
			break
		}
	}
	o.after = max(o.after, v.Rev())
	if total := w.text.Total(); !o.met && total > o.printed {
		if line, some := w.text.unfinished(); some {
			o.offer(w, w.hide(string(line), w.text.Ahead()))
		}
	}
}

// isGone looks for text on the screen, first where it was before.
func (o *waiting) isGone(v View) bool {
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

func (o *waiting) isQuiet(w *Waits, rev uint64, now time.Time) bool {
	if rev > o.base {
		o.base = 0 // the program has reacted: from now on only its quiet counts
	}
	return !now.Before(o.quietFrom(w))
}

// quietFrom is the moment at which a wait for quiet is met if nothing changes before, zero for other waits.
func (o *waiting) quietFrom(w *Waits) time.Time {
	quiet := o.Condition.quiet
	switch o.Condition.kind {
	case kindQuiet:
	case kindSettled:
		quiet = w.throttle.settle
	case kindShown, kindTitle, kindGone, kindChanged, kindExit, kindWaiting, kindControl:
		return time.Time{}
	}
	at := later(w.throttle.QuietFrom(quiet), o.NotBefore.Add(quiet))
	if o.base != 0 {
		at = later(at, o.began.Add(quiet))
	}
	return at
}
