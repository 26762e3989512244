package snapshot

import (
	"strings"
	"time"

	"terminalproxy/protocol"
)

// commandFailed ends a wait for text after an input as a stop condition does: the shell's marks say
// that the command failed, and the shell waits again.
var commandFailed = &Alternative{Stop: true, Until: protocol.Until{Waiting: true}}

// findStanding searches for a text that came with the awaited input before AfterSeq. Such a text
// ends the wait once the program is known to wait for input again, when no more output is expected;
// while the program works, the echo of a command line does not tell what the command does. Text
// from before the input never counts: the PASS of the last run is not one of this run. Without an
// input, only the echo of what was typed ahead can be such a text. If the command failed, the wait
// ends without the text; after a success something in the background may still print it.
func (o *waiter) findStanding(v View, w *Waits, now time.Time) {
	if o.met || o.InputSeq == 0 && o.heldLine == "" || o.alternative != nil && o.alternative.Stop ||
		o.searchedRev == v.Rev() || v.InputWait(now) != protocol.MatchedWaiting {
		return // there is nothing to search or it was searched, or the program works
	}
	o.searchedRev, w.sawInputWait = v.Rev(), true
	if o.InputSeq > 0 {
		o.offerSinceInput(v, w)
	}
	if !o.met && o.heldLine != "" {
		o.met, o.matched, o.line = true, o.heldMatch, o.heldLine
	}
	switch {
	case o.met:
		o.standing = protocol.StoodInput
	case o.InputSeq > 0 && v.CommandFailed():
		o.setFact("", true)
		o.alternative = commandFailed
	}
}

// offerSinceInput offers all text that came with the input.
func (o *waiter) offerSinceInput(v View, w *Waits) {
	if o.Condition.kind == kindTitle {
		if v.TitleRev() > o.InputSeq {
			o.offerLine(w, v.Title())
		}
		return
	}
	printed, known := w.printedAt(o.InputSeq)
	if known {
		for line := range eachTextLine(w.conceal(w.text.TextSince(printed), w.text.BytesAhead())) {
			o.offerLine(w, line)
		}
	}
	for _, line := range v.LinesGone(o.InputSeq) {
		o.offerLine(w, line)
	}
	for first, line := range eachLine(v, 0) {
		// A line that only moved is older than its row.
		if known && v.RowRev(first) > o.InputSeq && !w.wasPrintedBefore(printed, line) {
			o.offerLine(w, line)
		}
	}
}

// printedAt returns how much had been printed at a revision; known is false for a forgotten one.
func (w *Waits) printedAt(rev uint64) (total uint64, known bool) {
	for _, s := range w.revisions {
		if s.rev >= rev {
			return s.printed, true
		}
	}
	return 0, false
}

// wasPrintedBefore reports whether the held text before total has a line.
func (w *Waits) wasPrintedBefore(total uint64, line string) bool {
	earlier := strings.TrimSuffix(w.text.String(), w.text.TextSince(total))
	for printed := range eachTextLine(w.conceal(earlier, -1)) {
		if strings.TrimSpace(printed) == strings.TrimSpace(line) {
			return true
		}
	}
	return false
}
