package snapshot

import (
	"strings"
	"time"

	"terminalproxy/protocol"
)

// stands looks for a text that came with the awaited input before AfterSeq. That meets the wait once the program is known to wait for
// input again, when nothing new is to be expected; while it works, the echo of a command line says nothing of what the command does.
// What stood there before the input says nothing in any case: the PASS of the last run is none of this one.
func (o *waiting) stands(v View, w *Waits, now time.Time) {
	switch {
	case o.met || o.InputSeq == 0 || o.came != nil && o.came.Stop:
		return
	case o.stood == v.Rev() || v.Waiting(now) != protocol.MatchedWaiting:
		return // it was looked at, or the program works
	}
	o.stood = v.Rev()
	if o.offerSince(v, w); o.met {
		o.since = protocol.StoodInput
	}
}

// offerSince offers what came with the input.
func (o *waiting) offerSince(v View, w *Waits) {
	if o.Condition.kind == kindTitle {
		if v.TitleRev() > o.InputSeq {
			o.offer(w, v.Title())
		}
		return
	}
	printed, known := w.printedAt(o.InputSeq)
	if known {
		for line := range lines(w.hide(w.text.Since(printed), w.text.Ahead())) {
			o.offer(w, line)
		}
	}
	for _, line := range v.Left(o.InputSeq) {
		o.offer(w, line)
	}
	for first, line := range eachLine(v, 0) {
		// Lines that only moved are older than their rows.
		if known && v.RowRev(first) > o.InputSeq && !w.printedBefore(printed, line) {
			o.offer(w, line)
		}
	}
}

// printedAt is how much had been printed at a revision; false where that is not known any more.
func (w *Waits) printedAt(rev uint64) (total uint64, known bool) {
	for _, s := range w.seen {
		if s.rev >= rev {
			return s.printed, true
		}
	}
	return 0, false
}

// printedBefore reports whether a line was printed before so much had been, as far as it is still held.
func (w *Waits) printedBefore(total uint64, line string) bool {
	earlier := strings.TrimSuffix(w.text.String(), w.text.Since(total))
	for printed := range lines(w.hide(earlier, -1)) {
		if strings.TrimSpace(printed) == strings.TrimSpace(line) {
			return true
		}
	}
	return false
}
