package open

import (
	"strings"
)

// admission is what the user is asked about an owner's page. It belongs to the goroutine of attend.
type admission struct {
	o     *opening
	of    *knock // the page that waits, or nil
	asked bool   // its words are on the terminal
	// missed says that the last page went away without an answer, which the user may be about to
	// type: it must not be taken for that to another page.
	missed bool
}

// startQuestion asks about a page.
func (q *admission) startQuestion(k knock) {
	q.of, q.asked = &k, !q.missed
	if q.missed {
		q.o.printText("Another page wants in. Press Enter to see its words.\n")
		return
	}
	q.showQuestion()
}

func (q *admission) showQuestion() {
	act := "act"
	if q.o.flags.types {
		act = "act and type"
	}
	q.o.printText(
		"A page wants to %s for you until %s. Its words:\n\n  %s\n\nDoes your browser show the "+
			"same words? [y/N] ", act, until(q.o.expires), strings.Join(q.of.Words, " "))
}

// pageGone is closed when the waiting page leaves; it is nil if no page waits.
func (q *admission) pageGone() <-chan struct{} {
	if q.of == nil {
		return nil
	}
	return q.of.ctx.Done()
}

// dropUnanswered ends the question.
func (q *admission) dropUnanswered() {
	q.of, q.missed = nil, true
	q.o.printEvent("\nNo answer: the page was not let in.")
}

// handleLine takes a line of the user's. It reports whether there was a question.
func (q *admission) handleLine(line string) bool {
	q.missed = false
	switch {
	case q.of == nil:
		return false
	case !q.asked: // it was meant for the page before
		q.asked = true
		q.showQuestion()
		return true
	}
	q.of.answer <- said(line)
	if !said(line) {
		q.o.printEvent("The page was not let in.")
	}
	q.of = nil
	return true
}

// said reports whether a line is a yes.
func said(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}
