package talk

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
	// mostText bounds the text and the input of a record, each, in bytes: in JSON they may be twice as long.
	mostText = 200 << 10
	// mostDeep is how many levels an input may have: a frame has some itself.
	mostDeep = protocol.MaxDepth - 5
)

// record is r as others may see it, and its size, about; text is what of a piece leaves.
func (r *Room) record(from *chat.Record, text string) (out protocol.ChatRecord, size int) {
	const base = 200
	out = protocol.ChatRecord{Number: from.Number, At: from.Time.UnixMilli(), State: from.State, Why: protocol.Clip(r.Redact(from.Why), protocol.MaxText)}
	switch {
	case from.Item != nil:
		out.Item = r.item(from.Item)
		return out, base + len(out.Item.Text) + len(out.Item.Input)
	case from.Piece != nil:
		out.Piece = &chat.Piece{ID: protocol.Clip(from.Piece.ID, protocol.MaxChatID), Text: text}
		return out, base + len(text)
	case from.Request != nil:
		out.Request = r.request(from.Request)
		return out, base + len(out.Request.Input) + len(out.Request.Why) + base*len(out.Request.Form)
	case from.Closed != nil:
		c := from.Closed
		out.Closed = &chat.Closed{ID: c.ID, By: c.By, Why: r.Redact(c.Why), Answer: r.answer(c.Answer)}
	case from.Turn != nil:
		out.Turn = &chat.Turn{Outcome: from.Turn.Outcome, Why: r.Redact(from.Turn.Why)}
	}
	return out, base
}

func (r *Room) item(from *chat.Item) *chat.Item {
	i := *from
	i.ID, i.Text, i.Tool = protocol.Clip(i.ID, protocol.MaxChatID), r.Redact(i.Text), r.Redact(i.Tool)
	i.Input, _ = r.input(from.Input)
	if n := len(i.Text); n > mostText {
		i.Text = protocol.Clip(i.Text, mostText)
		i.Cut += n - len(i.Text)
	}
	if n := len(i.Input); n > mostText {
		i.Input = nil // half a JSON value is none
		i.Cut += n
	}
	return &i
}

// onlyRefused is said of what another agent asks: the terminal shows the dialogs of its own agent alone.
const onlyRefused = ", and the session's terminal does not show what other agents ask: here it can be refused only. " +
	"To allow it, run that agent with gateway chat in a terminal of its own, which shows it in full"

// request is what is asked. What is not shown in full cannot be agreed to: nobody allows it from elsewhere.
func (r *Room) request(from *chat.Request) *protocol.ChatRequest {
	input, whole := r.input(from.Input)
	q := &protocol.ChatRequest{ID: from.ID, By: from.By, Tool: r.Redact(from.Tool), Input: input, Why: protocol.Clip(r.Redact(from.Why), mostText/4)}
	if !from.Until.IsZero() {
		q.Until = from.Until.UnixMilli()
	}
	for _, c := range from.Allows {
		if covers := protocol.Clip(r.Redact(c.Covers), protocol.MaxText); covers == c.Covers {
			q.Allows = append(q.Allows, c)
		}
	}
	for _, f := range from.Form[:min(len(from.Form), protocol.MaxChatForm)] {
		question := chat.Question{ID: f.ID, Header: r.Redact(f.Header), Text: protocol.Clip(r.Redact(f.Text), protocol.MaxText), Many: f.Many}
		for _, o := range f.Options[:min(len(f.Options), protocol.MaxChatForm)] {
			question.Options = append(question.Options, chat.Option{
				Label: protocol.Clip(protocol.Visible(o.Label), protocol.MaxReason), Description: protocol.Clip(r.Redact(o.Description), protocol.MaxReason),
			})
		}
		q.Form = append(q.Form, question)
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
		q.AtTerminal = "a part of it is covered as a secret: it can be allowed only where it is shown in full, at the session's terminal"
		if from.By != "" {
			q.AtTerminal = "a part of it is covered as a secret" + onlyRefused
		}
	}
	return q
}

// offered says why an answer that allows something is none to what was shown of a request, nil where it is one.
func (r *Room) offered(id string, a chat.Answer) error {
	for _, open := range r.Chat.Open() {
		if open.ID != id || a.Verdict == chat.Refuse {
			continue
		}
		q := r.request(open)
		if !slices.ContainsFunc(q.Allows, func(c chat.Choice) bool { return c.Verdict == a.Verdict }) {
			return errors.New(cmp.Or(q.AtTerminal, fmt.Sprintf("answer: verdict %q is not offered", a.Verdict)))
		}
	}
	return nil
}

func (r *Room) answer(from chat.Answer) chat.Answer {
	a := chat.Answer{Verdict: from.Verdict, Words: protocol.Clip(r.Redact(from.Words), protocol.MaxText)}
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

// input is JSON in which what cannot be seen is written out and what looks like a secret is covered: in every string by itself, and
// by the names beside them. What is not JSON any more then, or too deep, is a string. whole says that nothing is covered or left out.
func (r *Room) input(from json.RawMessage) (shown json.RawMessage, whole bool) {
	if len(from) == 0 || !json.Valid(from) {
		return nil, len(from) == 0
	}
	text := r.Redact(eachString(string(from), func(s string) string { return r.Redact(exactly(s)) }))
	whole = text == eachString(string(from), exactly)
	if json.Valid([]byte(text)) && depth(text) <= mostDeep {
		return json.RawMessage(text), whole
	}
	return json.RawMessage(quote(text)), whole
}

// eachString is JSON with change made to its strings.
func eachString(text string, change func(string) string) string {
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
		_ = json.Unmarshal([]byte(text[i:end+1]), &s) // it is valid
		b.WriteString(quote(change(s)))
		i = end
	}
	return b.String()
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // of a string there is always one
	return strings.TrimSuffix(b.String(), "\n")
}

// depth is how deep JSON is nested.
func depth(text string) (most int) {
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

// exactly is text in which every character can be seen.
func exactly(s string) string {
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
