package opencode

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/stdio"
)

// terminal is the author of what is typed in opencode's own interface.
const terminal = "terminal"

// part is a part of a message.
type part struct {
	ID, MessageID, SessionID, Type string
	Text                           string
	Synthetic, Ignored             bool // nobody wrote it
	Time                           struct{ End float64 }
	Tool, CallID                   string
	State                          struct {
		Status, Output, Error string
		Input                 json.RawMessage
	}
}

// message is a new message, or news of one.
func (d *Driver) message(i info) {
	d.roles.Put(i.ID, i.Role, len(i.Role))
	if i.Role == "user" {
		d.follow(i.SessionID)
	}
	if i.SessionID != d.Conversation() || i.Role != "assistant" {
		return
	}
	var taken []string
	d.mu.Lock()
	d.sent = slices.DeleteFunc(d.sent, func(p *prompt) bool {
		took := p.message != "" && p.message <= i.ParentID // ids grow
		if took {
			taken = append(taken, p.id)
		}
		return took
	})
	d.mu.Unlock()
	for _, id := range taken {
		d.begins()
		d.report(chat.Took{Prompt: id})
	}
}

// follow goes where the user talks: in opencode's own interface they can open another conversation.
func (d *Driver) follow(session string) {
	if session == d.Conversation() {
		return
	}
	by, known := d.told.Get(session)
	if !known {
		var got info
		ctx, cancel := context.WithTimeout(d.ctx, callTime)
		err := d.call(ctx, http.MethodGet, "/session/"+session, nil, &got)
		cancel()
		if err != nil {
			return // it is gone
		}
		by = got.ParentID
		d.began(session, by)
	}
	if by != "" {
		return
	}
	if d.running {
		d.idle(d.Conversation())
	}
	d.mu.Lock()
	d.session, d.made = session, false
	d.mu.Unlock()
	d.notice("goes on in another conversation, %s", session)
	if d.config.Claim != nil {
		if err := d.config.Claim(session); err != nil {
			d.notice("may not be alone there: %v", err)
		}
	}
	d.report(chat.Ready{Conversation: session})
}

// part is a new part of a message, or news of one.
func (d *Driver) part(p part) {
	if p.SessionID != d.Conversation() {
		return
	}
	switch role, _ := d.roles.Get(p.MessageID); {
	case p.Type == "text" && role == "user":
		d.typed(p)
	case p.Type == "text" && role == "assistant":
		d.text(p)
	case p.Type == "tool":
		d.tool(p)
	}
}

// typed is what the user said. What came by us is in the log.
func (d *Driver) typed(p part) {
	d.mu.Lock()
	d.made = false
	at := slices.IndexFunc(d.sent, func(s *prompt) bool { return s.part == p.ID })
	if at >= 0 {
		d.sent[at].message = p.MessageID
	}
	d.mu.Unlock()
	told := d.texts.Has(p.ID)
	if d.texts.Put(p.ID, true, 0); at >= 0 || told || p.Synthetic || p.Ignored {
		return
	}
	d.report(chat.Said{Item: chat.Item{Kind: chat.User, ID: p.ID, Author: terminal, Text: p.Text}})
}

// text is what the agent says.
func (d *Driver) text(p part) {
	if whole, _ := d.texts.Get(p.ID); whole {
		return // that it is said is known
	}
	whole := p.Time.End != 0
	if d.texts.Put(p.ID, whole, 0); whole && p.Text != "" {
		d.report(chat.Said{Item: chat.Item{Kind: chat.Text, ID: p.ID, Text: p.Text}})
	}
}

// delta is a piece of what the agent says.
func (d *Driver) delta(m struct{ SessionID, PartID, Field, Delta string }) {
	if whole, is := d.texts.Get(m.PartID); is && !whole && m.Field == "text" && m.SessionID == d.Conversation() {
		d.report(chat.Wrote{Piece: chat.Piece{ID: m.PartID, Text: m.Delta}})
	}
}

// tool is a call of a tool, or its end.
func (d *Driver) tool(p part) {
	ended, called := d.calls.Get(p.CallID)
	if ended || p.State.Status == "pending" {
		return // it does not know yet with what
	}
	if !called {
		d.report(chat.Said{Item: chat.Item{Kind: chat.ToolCall, ID: p.CallID, Tool: p.Tool, Input: p.State.Input}})
	}
	failed := p.State.Status == "error"
	ended = failed || p.State.Status == "completed"
	if d.calls.Put(p.CallID, ended, 0); ended {
		d.report(chat.Said{Item: chat.Item{Kind: chat.ToolResult, ID: p.CallID, Text: p.State.Output + p.State.Error, Failed: failed}})
	}
}

// permission is an approval that opencode wants.
type permission struct {
	ID, SessionID, Permission string
	Patterns                  []string
	Metadata                  map[string]any
}

func (d *Driver) permission(p permission) {
	// What it wants to do stands in the metadata, and what of it is to be allowed in the patterns.
	shown := maps.Clone(p.Metadata)
	if shown == nil {
		shown = map[string]any{}
	}
	if len(p.Patterns) > 0 {
		key := "patterns"
		if _, taken := shown[key]; taken {
			key = "opencode's patterns"
		}
		shown[key] = p.Patterns
	}
	r := chat.Request{ID: p.ID, Tool: p.Permission}
	if len(shown) == 0 {
		r.Why = "opencode does not say what it wants to do: allow it in its own interface, if at all"
	} else {
		r.Input, _ = json.Marshal(shown)               // it came as JSON
		r.Allows = []chat.Choice{{Verdict: chat.Once}} // where what it calls "always" ends, it does not say
	}
	d.asks(open{session: p.SessionID}, r)
}

// question is a form that opencode asks.
type question struct {
	ID, SessionID string
	Questions     []struct {
		Question, Header string
		Multiple         bool
		Options          []chat.Option
	}
}

func (d *Driver) question(q question) {
	o, r := open{session: q.SessionID, form: true}, chat.Request{ID: q.ID, Tool: "question"}
	for i, one := range q.Questions {
		id := strconv.Itoa(i + 1)
		o.questions = append(o.questions, id)
		r.Form = append(r.Form, chat.Question{ID: id, Header: one.Header, Text: one.Question, Many: one.Multiple, Options: one.Options})
	}
	d.asks(o, r)
}

// asks opens a request, unless it is open.
func (d *Driver) asks(o open, r chat.Request) {
	if r.ID == "" || o.form && len(r.Form) == 0 {
		d.notice("asks something that makes no sense")
		return
	}
	d.mu.Lock()
	_, known := d.open[r.ID]
	if known = known || d.answered.Has(r.ID); !known {
		d.open[r.ID] = o
	}
	d.mu.Unlock()
	if !known {
		d.report(chat.Asked{Request: r})
	}
}

// replied says that a request was answered.
type replied struct {
	RequestID string
	Reply     string
}

// replied closes a request that was answered in opencode's own interface. What we answered is closed.
func (d *Driver) replied(kind string, m replied) {
	why := "answered in opencode's own interface"
	switch {
	case m.Reply == "reject" || kind == "question.rejected":
		why = "refused in opencode's own interface"
	case m.Reply != "":
		why = "allowed in opencode's own interface (" + stdio.Short(m.Reply) + ")"
	}
	d.withdraw(why, func(id string, _ open) bool { return id == m.RequestID })
}
