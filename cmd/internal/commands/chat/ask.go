package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"terminalproxy/gateway/text"
	"terminalproxy/proxy/chat"
)

// question is an approval, or a form whose questions are asked one by one.
type question struct {
	number  int // counts the questions
	request *chat.Request
	at      int // index in the form
	replies map[string][]string
	chosen  []string // of the current question, if it allows several
	open    bool     // the line answers it
}

// refuseRequest refuses a request when no user can answer.
func (t *talk) refuseRequest(r *chat.Request) {
	t.refused = true
	if t.session.Answer(r.ID, "", chat.Answer{
		Words: "No person is here to answer: work without this, or stop.",
	}) == nil {
		subject := "an approval of " + escapeInvisible(r.Tool)
		if len(r.Form) > 0 {
			subject = "a question"
		}
		t.view.printNotice("· refused: %s asks for %s, and no person can answer without a terminal",
			cmp.Or(escapeInvisible(r.By), t.agent.name), subject)
	}
}

// nextQuestion asks the oldest open request, unless a question is being asked.
func (t *talk) nextQuestion() {
	open := t.session.OpenRequests()
	if t.question != nil || len(open) == 0 {
		return
	}
	t.asked++
	t.question = &question{number: t.asked, request: open[0], replies: map[string][]string{}}
	t.view.printNotice("%s", t.question.questionText(t.agent.name))
	t.opens.Reset(questionDelay)
}

// openQuestion lets the next line answer the question, once the user has stopped typing.
func (t *talk) openQuestion() {
	q := t.question
	if q == nil || q.open {
		return
	}
	if wait := questionQuiet - t.edit.idleTime(); wait > 0 {
		t.opens.Reset(wait)
		return
	}
	q.open = true
	t.edit.promptFor(q.number, q.answerPrompt(), q.choiceLabels())
}

// handleClosed ends the question about a request that was closed, here or elsewhere.
func (t *talk) handleClosed(c *chat.Closed) {
	t.withdrawForwarded(c.ID)
	t.refused = t.refused || chat.HasExpired(c)
	q := t.question
	if q == nil || q.request.ID != c.ID {
		return
	}
	if c.By != you {
		t.view.printNotice("· closed: %s", cmp.Or(escapeInvisible(c.Why), "answered by "+c.By))
	}
	t.question = nil
	if q.open {
		t.edit.restoreDraft()
	}
	t.nextQuestion()
}

// handleAnswer handles a line that was typed for a question.
func (t *talk) handleAnswer(l typed) {
	q := t.question
	if q == nil || q.number != l.question {
		if l.text != "" {
			t.view.printNotice("· not sent, because that question is closed: %s", escapeInvisible(l.text))
		}
		return
	}
	answer, done, retry := q.recordAnswer(l.text)
	switch {
	case retry != "":
		t.view.printNotice("· %s", retry)
	case !done:
		t.view.printNotice("%s", q.questionText(t.agent.name))
	default:
		if err := t.session.Answer(q.request.ID, you, answer); err != nil {
			t.view.printNotice("· not answered: %v", err)
		}
		if !slices.Contains(t.session.OpenRequests(), q.request) {
			q.open = false
			t.edit.restoreDraft()
			if answer.Words != "" && !t.agent.takesRefusalText && q.request.By == "" {
				t.sendPrompt(answer.Words)
			}
			return // the record of its end is on the way
		}
		q.at, q.replies = 0, map[string][]string{}
	}
	t.edit.promptFor(q.number, q.answerPrompt(), q.choiceLabels())
}

// fullText returns the whole request: all questions of a form, in order.
func (q *question) fullText() string {
	if len(q.request.Form) == 0 {
		return q.questionText("the coding agent")
	}
	var parts []string
	for i := range q.request.Form {
		parts = append(parts,
			(&question{request: q.request, at: i}).questionText("the coding agent"))
	}
	return strings.Join(parts, "\n")
}

// questionText returns the question as the screen shows it.
func (q *question) questionText(agent string) string {
	var b strings.Builder
	agent = cmp.Or(escapeInvisible(q.request.By), agent)
	limit := ""
	if !q.request.Until.IsZero() {
		limit = " (refused if not answered by " + q.request.Until.Local().Format(time.TimeOnly) +
			")"
	}
	if len(q.request.Form) == 0 {
		q.writePermission(&b, agent, limit)
	} else {
		q.writeFormPage(&b, agent, limit)
	}
	return strings.TrimRight(b.String(), "\n")
}

// writePermission writes what the agent wants to use, and the choices.
func (q *question) writePermission(b *strings.Builder, agent, limit string) {
	fmt.Fprintf(b, "? May %s use %s?", agent, escapeInvisible(q.request.Tool))
	if q.request.Why != "" {
		fmt.Fprintf(b, " Reason: %s", text.OneLine(q.request.Why))
	}
	b.WriteString(limit)
	shown, _ := wholeInput(q.request.Input)
	b.WriteString("\n" + shown)
	if why := q.incompleteReason(); why != "" {
		b.WriteString("  NOT SHOWN IN FULL: " + why + "\n")
	}
	for i, label := range q.choiceLabels() {
		fmt.Fprintf(b, "  %d  %s\n", i+1, label)
	}
}

// writeFormPage writes the form's present question, and its options.
func (q *question) writeFormPage(b *strings.Builder, agent, limit string) {
	f := q.request.Form[q.at]
	fmt.Fprintf(b, "? %s asks", agent)
	if q.request.Why != "" {
		fmt.Fprintf(b, " (%s)", text.OneLine(q.request.Why))
	}
	if len(q.request.Form) > 1 {
		fmt.Fprintf(b, " (%d of %d)", q.at+1, len(q.request.Form))
	}
	fmt.Fprintf(b, "%s: %s\n", limit, text.Clean(f.Text))
	for i, o := range f.Options {
		mark := ""
		if f.Many {
			mark = "[ ] "
			if slices.Contains(q.chosen, o.Label) {
				mark = "[x] "
			}
		}
		fmt.Fprintf(b, "  %d  %s%s", i+1, mark, text.OneLine(o.Label))
		if o.Description != "" {
			fmt.Fprintf(b, ": %s", text.OneLine(o.Description))
		}
		b.WriteString("\n")
	}
}

const refusal = "refuse"

// allowedVerdicts returns the verdicts that the user may choose. A question that is not shown in
// full cannot be allowed.
func (q *question) allowedVerdicts() []chat.Choice {
	if q.incompleteReason() != "" {
		return nil
	}
	return q.request.Allows
}

// incompleteReason returns the reason why an approval is not shown in full, or "" if it is.
func (q *question) incompleteReason() string {
	if _, missing := wholeInput(q.request.Input); missing > 0 {
		return fmt.Sprintf("it is %d bytes too long to be shown in full here, so it cannot be "+
			"allowed",
			missing)
	}
	return text.OneLine(escapeInvisible(q.request.AtTerminal))
}

// choiceLabels returns the labels of the choices, in their order.
func (q *question) choiceLabels() (all []string) {
	if len(q.request.Form) > 0 {
		for _, o := range q.request.Form[q.at].Options {
			all = append(all, text.OneLine(o.Label))
		}
		return all
	}
	for _, c := range q.allowedVerdicts() {
		switch c.Verdict {
		case chat.ForSession:
			all = append(all, "allow for this session: "+text.OneLine(escapeInvisible(c.Covers)))
		default:
			all = append(all, "allow once")
		}
	}
	return append(all, refusal)
}

// answerPrompt returns the prompt before the answer.
func (q *question) answerPrompt() string {
	n := len(q.choiceLabels())
	switch {
	case len(q.request.Form) == 0:
		return fmt.Sprintf("→ Your answer (1-%d): ", n)
	case n == 0:
		return "→ Your answer: "
	case q.request.Form[q.at].Many:
		return fmt.Sprintf("→ Choose (1-%d), Enter alone when done; or type: ", n)
	}
	return fmt.Sprintf("→ Your answer (1-%d, or type): ", n)
}

// recordAnswer parses a line as the answer. retry is the message if the line is not a valid answer;
// otherwise the question continues unless done is true.
func (q *question) recordAnswer(line string) (answer chat.Answer, done bool, retry string) {
	if len(q.request.Form) == 0 {
		answer, retry = q.parseVerdict(line)
		return answer, retry == "", retry
	}
	f := q.request.Form[q.at]
	switch {
	case f.Many && line != "":
		return answer, false, q.toggleChoice(line)
	case f.Many && len(q.chosen) == 0:
		return answer, false, "nothing is chosen: type a number, or an answer of your own"
	case f.Many:
		q.replies[f.ID] = q.chosen
	case line == "":
		return answer, false, "type a number, or an answer of your own"
	default:
		q.replies[f.ID] = []string{q.parseChoice(line)}
	}
	q.at, q.chosen = q.at+1, nil
	return chat.Answer{Replies: q.replies}, q.at == len(q.request.Form), ""
}

// parseVerdict reads the answer to an approval. Only the exact words allow.
func (q *question) parseVerdict(line string) (answer chat.Answer, retry string) {
	first, words, _ := strings.Cut(line, " ")
	labels := q.choiceLabels()
	n, err := strconv.Atoi(line)
	if at := slices.Index(labels, line); at >= 0 {
		n, err = at+1, nil
	}
	switch {
	case err == nil && n >= 1 && n <= len(q.allowedVerdicts()):
		return chat.Answer{Verdict: q.allowedVerdicts()[n-1].Verdict}, ""
	case (line == "y" || line == "yes") && len(q.allowedVerdicts()) > 0:
		return chat.Answer{Verdict: chat.Once}, ""
	case slices.Contains([]string{"n", "no", refusal, strconv.Itoa(len(labels))}, first):
		return chat.Answer{Words: strings.TrimSpace(words)}, ""
	}
	return answer, fmt.Sprintf(
		"type 1 to %d and Enter; text after %d tells the agent why you refuse", len(labels),
		len(labels))
}

// parseChoice returns the label that a line selects, or the line itself.
func (q *question) parseChoice(line string) string {
	options := q.request.Form[q.at].Options
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(options) {
		return options[n-1].Label
	}
	for _, o := range options {
		if text.OneLine(o.Label) == line {
			return o.Label
		}
	}
	return line
}

// toggleChoice selects or deselects the choices that a line names: numbers, a label, or free text.
func (q *question) toggleChoice(line string) (retry string) {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	if slices.ContainsFunc(words, func(w string) bool {
		_, err := strconv.Atoi(w)
		return err != nil
	}) {
		words = []string{line}
	}
	for _, w := range words {
		label := q.parseChoice(w)
		if n, err := strconv.Atoi(w); err == nil && label == w {
			return fmt.Sprintf("there is no %d", n)
		}
		if at := slices.Index(q.chosen, label); at >= 0 {
			q.chosen = slices.Delete(q.chosen, at, at+1)
		} else {
			q.chosen = append(q.chosen, label)
		}
	}
	return ""
}
