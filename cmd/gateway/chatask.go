package main

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

// question is what the user is asked: an approval, or a form, of which one question after the other is.
type question struct {
	number  int // of the questions so far
	request *chat.Request
	at      int // in the form
	replies map[string][]string
	chosen  []string // of the question at hand, where several may be
	open    bool     // the line answers it
}

// refuse answers for a user who cannot.
func (t *talk) refuse(r *chat.Request) {
	t.refused = true
	if t.session.Answer(r.ID, "", chat.Answer{Words: "Nobody is there who could answer: work without this, or stop."}) == nil {
		what := "an approval of " + exactly(r.Tool)
		if len(r.Form) > 0 {
			what = "a question"
		}
		t.view.say("· refused: %s asks for %s, and nobody can answer without a terminal", cmp.Or(exactly(r.By), t.agent.name), what)
	}
}

// nextQuestion asks what waits longest, if nothing is asked.
func (t *talk) nextQuestion() {
	open := t.session.Open()
	if t.question != nil || len(open) == 0 {
		return
	}
	t.asked++
	t.question = &question{number: t.asked, request: open[0], replies: map[string][]string{}}
	t.view.say("%s", t.question.text(t.agent.name))
	t.opens.Reset(questionDelay)
}

// openQuestion gives the line to the question once the user types nothing else.
func (t *talk) openQuestion() {
	q := t.question
	if q == nil || q.open {
		return
	}
	if wait := questionQuiet - t.edit.quiet(); wait > 0 {
		t.opens.Reset(wait)
		return
	}
	q.open = true
	t.edit.ask(q.number, q.prompt(), q.labels())
}

// closed is the end of a request, whoever brought it about.
func (t *talk) closed(c *chat.Closed) {
	t.passedNoMore(c.ID)
	t.refused = t.refused || chat.HasExpired(c)
	q := t.question
	if q == nil || q.request.ID != c.ID {
		return
	}
	if c.By != you {
		t.view.say("· closed: %s", cmp.Or(exactly(c.Why), "answered by "+c.By))
	}
	t.question = nil
	if q.open {
		t.edit.resume()
	}
	t.nextQuestion()
}

// answered is a line that was typed for a question.
func (t *talk) answered(l typed) {
	q := t.question
	if q == nil || q.number != l.question {
		if l.text != "" {
			t.view.say("· not sent, as that question is closed: %s", exactly(l.text))
		}
		return
	}
	answer, done, again := q.take(l.text)
	switch {
	case again != "":
		t.view.say("· %s", again)
	case !done:
		t.view.say("%s", q.text(t.agent.name))
	default:
		if err := t.session.Answer(q.request.ID, you, answer); err != nil {
			t.view.say("· not answered: %v", err)
		}
		if !slices.Contains(t.session.Open(), q.request) {
			q.open = false
			t.edit.resume()
			if answer.Words != "" && !t.agent.hears && q.request.By == "" {
				t.send(answer.Words)
			}
			return // the record of its end is on the way
		}
		q.at, q.replies = 0, map[string][]string{}
	}
	t.edit.ask(q.number, q.prompt(), q.labels())
}

// all is all that is asked, one question of a form after the other.
func (q *question) all() string {
	if len(q.request.Form) == 0 {
		return q.text("the coding agent")
	}
	var parts []string
	for i := range q.request.Form {
		parts = append(parts, (&question{request: q.request, at: i}).text("the coding agent"))
	}
	return strings.Join(parts, "\n")
}

// text is the question as it stands on the screen.
func (q *question) text(agent string) string {
	var b strings.Builder
	agent = cmp.Or(exactly(q.request.By), agent)
	limit := ""
	if !q.request.Until.IsZero() {
		limit = " (refused if not answered by " + q.request.Until.Local().Format(time.TimeOnly) + ")"
	}
	if len(q.request.Form) == 0 {
		fmt.Fprintf(&b, "? May %s use %s?", agent, exactly(q.request.Tool))
		if q.request.Why != "" {
			fmt.Fprintf(&b, " It says: %s", text.OneLine(q.request.Why))
		}
		b.WriteString(limit)
		shown, _ := wholeInput(q.request.Input)
		b.WriteString("\n" + shown)
		if why := q.unshown(); why != "" {
			b.WriteString("  NOT SHOWN IN FULL: " + why + "\n")
		}
		for i, label := range q.labels() {
			fmt.Fprintf(&b, "  %d  %s\n", i+1, label)
		}
		return strings.TrimRight(b.String(), "\n")
	}
	f := q.request.Form[q.at]
	fmt.Fprintf(&b, "? %s asks", agent)
	if q.request.Why != "" {
		fmt.Fprintf(&b, " (%s)", text.OneLine(q.request.Why))
	}
	if len(q.request.Form) > 1 {
		fmt.Fprintf(&b, " (%d of %d)", q.at+1, len(q.request.Form))
	}
	fmt.Fprintf(&b, "%s: %s\n", limit, text.Clean(f.Text))
	for i, o := range f.Options {
		mark := ""
		if f.Many {
			mark = "[ ] "
			if slices.Contains(q.chosen, o.Label) {
				mark = "[x] "
			}
		}
		fmt.Fprintf(&b, "  %d  %s%s", i+1, mark, text.OneLine(o.Label))
		if o.Description != "" {
			fmt.Fprintf(&b, ": %s", text.OneLine(o.Description))
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

const refusal = "refuse"

// allows returns the verdicts that the user may choose. A question that is not shown in full cannot be allowed.
func (q *question) allows() []chat.Choice {
	if q.unshown() != "" {
		return nil
	}
	return q.request.Allows
}

// unshown says why an approval is not shown in full, "" where it is.
func (q *question) unshown() string {
	if _, missing := wholeInput(q.request.Input); missing > 0 {
		return fmt.Sprintf("it has %d bytes more than can be shown here, and cannot be allowed", missing)
	}
	return text.OneLine(exactly(q.request.AtTerminal))
}

// labels are what can be chosen, in their order.
func (q *question) labels() (all []string) {
	if len(q.request.Form) > 0 {
		for _, o := range q.request.Form[q.at].Options {
			all = append(all, text.OneLine(o.Label))
		}
		return all
	}
	for _, c := range q.allows() {
		switch c.Verdict {
		case chat.ForSession:
			all = append(all, "allow for this session: "+text.OneLine(exactly(c.Covers)))
		default:
			all = append(all, "allow once")
		}
	}
	return append(all, refusal)
}

// prompt is what stands before the answer.
func (q *question) prompt() string {
	n := len(q.labels())
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

// take takes a line as the answer. again says why it is none; without that the question goes on unless it is done.
func (q *question) take(line string) (answer chat.Answer, done bool, again string) {
	if len(q.request.Form) == 0 {
		answer, again = q.verdict(line)
		return answer, again == "", again
	}
	f := q.request.Form[q.at]
	switch {
	case f.Many && line != "":
		return answer, false, q.toggle(line)
	case f.Many && len(q.chosen) == 0:
		return answer, false, "nothing is chosen: type a number, or an answer of your own"
	case f.Many:
		q.replies[f.ID] = q.chosen
	case line == "":
		return answer, false, "type a number, or an answer of your own"
	default:
		q.replies[f.ID] = []string{q.choice(line)}
	}
	q.at, q.chosen = q.at+1, nil
	return chat.Answer{Replies: q.replies}, q.at == len(q.request.Form), ""
}

// verdict is that of a line about an approval. Only the exact words allow.
func (q *question) verdict(line string) (answer chat.Answer, again string) {
	first, words, _ := strings.Cut(line, " ")
	labels := q.labels()
	n, err := strconv.Atoi(line)
	if at := slices.Index(labels, line); at >= 0 {
		n, err = at+1, nil
	}
	switch {
	case err == nil && n >= 1 && n <= len(q.allows()):
		return chat.Answer{Verdict: q.allows()[n-1].Verdict}, ""
	case (line == "y" || line == "yes") && len(q.allows()) > 0:
		return chat.Answer{Verdict: chat.Once}, ""
	case slices.Contains([]string{"n", "no", refusal, strconv.Itoa(len(labels))}, first):
		return chat.Answer{Words: strings.TrimSpace(words)}, ""
	}
	return answer, fmt.Sprintf("type 1 to %d and Enter; %d and words tells the agent why you refuse", len(labels), len(labels))
}

// choice is the label that a line means, or the line itself.
func (q *question) choice(line string) string {
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

// toggle chooses what a line means, or takes it back: numbers, a label, or other words.
func (q *question) toggle(line string) (again string) {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	if slices.ContainsFunc(words, func(w string) bool { _, err := strconv.Atoi(w); return err != nil }) {
		words = []string{line}
	}
	for _, w := range words {
		label := q.choice(w)
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
