package open

import (
	"strings"
)

// admission is the question to the user about an owner's page. Owned by the goroutine of
// runTerminal.
type admission struct {
	o     *opening
	page  *waitingPage // the waiting page, or nil
	shown bool         // the question is on the terminal
	// missed is set if the last page left without an answer. The user may be about to type that
	// answer, which must not count for another page.
	missed bool
}

// startQuestion asks about a page.
func (q *admission) startQuestion(k waitingPage) {
	q.page, q.shown = &k, !q.missed
	if q.missed {
		q.o.printText("Another page asks to enter. Press Enter to see its words.\n")
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
		"A page asks to %s for you until %s. Its words:\n\n  %s\n\nDoes your browser show the "+
			"same words? [y/N] ", act, formatUntil(q.o.expires), strings.Join(q.page.Words, " "))
}

// pageGone returns a channel that is closed when the waiting page leaves, nil if no page waits.
func (q *admission) pageGone() <-chan struct{} {
	if q.page == nil {
		return nil
	}
	return q.page.ctx.Done()
}

// dropUnanswered ends the question without an answer.
func (q *admission) dropUnanswered() {
	q.page, q.missed = nil, true
	q.o.printEvent("\nNo answer: the page was not admitted.")
}

// handleLine handles a line that the user typed. It reports whether there was a question.
func (q *admission) handleLine(line string) bool {
	q.missed = false
	switch {
	case q.page == nil:
		return false
	case !q.shown: // meant for the previous page
		q.shown = true
		q.showQuestion()
		return true
	}
	q.page.answer <- isYes(line)
	if !isYes(line) {
		q.o.printEvent("The page was not admitted.")
	}
	q.page = nil
	return true
}

// isYes reports whether a line is a yes.
func isYes(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}
