package feed

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
)

const (
	// mostText bounds the text and the input of a record, each in bytes: in JSON they may be twice
	// as long.
	mostText = 200 << 10
	// mostDeep bounds the nesting of an input: a frame adds levels of its own.
	mostDeep = protocol.MaxDepth - 5
)

// redactRecord returns a record as others may see it. text replaces a piece's text.
func (r *Room) redactRecord(from *chat.Record, text string) protocol.ChatRecord {
	out := protocol.ChatRecord{
		Number: from.Number, At: from.Time.UnixMilli(), State: from.State,
		Why: protocol.Clip(r.Redact(from.Why), protocol.MaxText),
	}
	switch {
	case from.Item != nil:
		out.Item = r.redactItem(from.Item)
	case from.Piece != nil:
		out.Piece = &chat.Piece{ID: protocol.Clip(from.Piece.ID, protocol.MaxChatID), Text: text}
	case from.Request != nil:
		out.Request = r.redactRequest(from.Request)
	case from.Closed != nil:
		c := from.Closed
		out.Closed = &chat.Closed{
			ID: c.ID, By: c.By, Why: r.Redact(c.Why), Answer: r.redactAnswer(c.Answer),
		}
	case from.Turn != nil:
		out.Turn = &chat.Turn{Outcome: from.Turn.Outcome, Why: r.Redact(from.Turn.Why)}
	}
	return out
}

func (r *Room) redactItem(from *chat.Item) *chat.Item {
	i := *from
	i.ID = protocol.Clip(i.ID, protocol.MaxChatID)
	i.Text, i.Tool = r.Redact(i.Text), r.Redact(i.Tool)
	i.Input, _ = r.redactInput(from.Input)
	if n := len(i.Text); n > mostText {
		i.Text = protocol.Clip(i.Text, mostText)
		i.Cut += n - len(i.Text)
	}
	if n := len(i.Input); n > mostText {
		i.Input = nil // half a JSON value cannot be read
		i.Cut += n
	}
	return &i
}

// onlyRefused ends the hint for another agent's request: the terminal shows only its own agent's
// dialogs.
const onlyRefused = ", and the session's terminal does not show what other agents ask: here it can be refused only. " +
	"To allow it, run that agent with gateway chat in a terminal of its own, which shows it in full"

// redactRequest returns a request as others may see it. A request that is not shown in full cannot
// be allowed from elsewhere.
func (r *Room) redactRequest(from *chat.Request) *protocol.ChatRequest {
	input, whole := r.redactInput(from.Input)
	q := &protocol.ChatRequest{
		ID: from.ID, By: from.By, Tool: r.Redact(from.Tool), Input: input,
		Why: protocol.Clip(r.Redact(from.Why), mostText/4),
	}
	if !from.Until.IsZero() {
		q.Until = from.Until.UnixMilli()
	}
	for _, c := range from.Allows {
		if covers := protocol.Clip(r.Redact(c.Covers), protocol.MaxText); covers == c.Covers {
			q.Allows = append(q.Allows, c)
		}
	}
	for _, f := range from.Form[:min(len(from.Form), protocol.MaxChatForm)] {
		q.Form = append(q.Form, r.redactQuestion(f))
	}
	switch {
	case len(q.Input) > mostText:
		q.Input, q.Allows = nil, nil
		q.AtTerminal = "it is too long to be shown here, and can be allowed at the session's terminal only"
		if from.By != "" {
			q.AtTerminal = "it is too long to be shown here" + onlyRefused
		}
	case len(q.Form) == 0 && (!whole || q.Tool != from.Tool):
		q.Allows = nil
		q.AtTerminal = "a part of it is masked as a secret: it can be allowed only where it is " +
			"shown in full, at the session's terminal"
		if from.By != "" {
			q.AtTerminal = "a part of it is masked as a secret" + onlyRefused
		}
	}
	return q
}

// redactQuestion returns a question of a form as people elsewhere may see it.
func (r *Room) redactQuestion(f chat.Question) chat.Question {
	question := chat.Question{
		ID: f.ID, Header: r.Redact(f.Header),
		Text: protocol.Clip(r.Redact(f.Text), protocol.MaxText), Many: f.Many,
	}
	for _, o := range f.Options[:min(len(f.Options), protocol.MaxChatForm)] {
		question.Options = append(question.Options, chat.Option{
			Label:       protocol.Clip(protocol.Visible(o.Label), protocol.MaxReason),
			Description: protocol.Clip(r.Redact(o.Description), protocol.MaxReason),
		})
	}
	return question
}

// checkOffered says why an allowing answer does not fit the request as it was shown; nil if it
// fits.
func (r *Room) checkOffered(id string, a chat.Answer) error {
	for _, open := range r.Chat.OpenRequests() {
		if open.ID != id || a.Verdict == chat.Refuse {
			continue
		}
		q := r.redactRequest(open)
		isAnswer := func(c chat.Choice) bool { return c.Verdict == a.Verdict }
		if !slices.ContainsFunc(q.Allows, isAnswer) {
			message := fmt.Sprintf("answer: verdict %q is not offered", a.Verdict)
			return errors.New(cmp.Or(q.AtTerminal, message))
		}
	}
	return nil
}

func (r *Room) redactAnswer(from chat.Answer) chat.Answer {
	a := chat.Answer{
		Verdict: from.Verdict, Words: protocol.Clip(r.Redact(from.Words), protocol.MaxText),
	}
	for id, replies := range from.Replies {
		if a.Replies == nil {
			a.Replies = map[string][]string{}
		}
		for _, reply := range replies {
			a.Replies[id] = append(a.Replies[id], protocol.Clip(r.Redact(reply), protocol.MaxText))
		}
	}
	return a
}

// redactInput returns JSON with invisible characters written out and secrets masked: within each
// string, and by the names beside them. If the result is no longer JSON, or nested too deep, it
// becomes a string. whole says that nothing is masked or left out.
func (r *Room) redactInput(from json.RawMessage) (shown json.RawMessage, whole bool) {
	if len(from) == 0 || !json.Valid(from) {
		return nil, len(from) == 0
	}
	text := r.Redact(mapStrings(string(from), func(s string) string {
		return r.Redact(escapeInvisible(s))
	}))
	whole = text == mapStrings(string(from), escapeInvisible)
	if json.Valid([]byte(text)) && nesting(text) <= mostDeep {
		return json.RawMessage(text), whole
	}
	return json.RawMessage(quote(text)), whole
}

// mapStrings applies change to each string of a JSON text.
func mapStrings(text string, change func(string) string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			b.WriteByte(text[i])
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		var s string
		_ = json.Unmarshal([]byte(text[i:end+1]), &s) // valid JSON
		b.WriteString(quote(change(s)))
		i = end
	}
	return b.String()
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// nesting counts the levels of a JSON text.
func nesting(text string) (most int) {
	now := 0
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{', c == '[':
			now++
			most = max(most, now)
		case c == '}', c == ']':
			now--
		}
	}
	return most
}

// escapeInvisible writes out each character that cannot be seen.
func escapeInvisible(s string) string {
	var b strings.Builder
	for _, c := range s {
		if one := string(c); c == '\n' || c == '\t' || protocol.Visible(one) == one {
			b.WriteString(one)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, c)
		}
	}
	return b.String()
}
