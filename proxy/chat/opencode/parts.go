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

// terminal is the author of prompts typed in opencode's own interface.
const terminal = "terminal"

// part is a part of a message.
type part struct {
	ID, MessageID, SessionID, Type string
	Text                           string
	Synthetic, Ignored             bool // not written by a person
	Time                           struct{ End float64 }
	Tool, CallID                   string
	State                          struct {
		Status, Output, Error string
		Input                 json.RawMessage
	}
}

// handleMessage handles a new or changed message.
func (d *Driver) handleMessage(i info) {
	d.roles.Put(i.ID, i.Role, len(i.Role))
	if i.Role == "user" {
		d.followUser(i.SessionID)
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
		d.startTurn()
		d.report(chat.PromptAccepted{Prompt: id})
	}
}

// followUser switches to the session in which the user talks: opencode's own interface can open
// another conversation.
func (d *Driver) followUser(session string) {
	if session == d.Conversation() {
		return
	}
	by, known := d.parents.Get(session)
	if !known {
		var got info
		ctx, cancel := context.WithTimeout(d.ctx, callTime)
		err := d.call(ctx, http.MethodGet, "/session/"+session, nil, &got)
		cancel()
		if err != nil {
			return // the session is gone
		}
		by = got.ParentID
		d.rememberParent(session, by)
	}
	if by != "" {
		return
	}
	if d.running {
		d.finishTurn(d.Conversation())
	}
	d.mu.Lock()
	d.session, d.made = session, false
	d.mu.Unlock()
	d.reportNotice("continues in another conversation, %s", session)
	if d.config.Claim != nil {
		if err := d.config.Claim(session); err != nil {
			d.reportNotice("may not be alone there: %v", err)
		}
	}
	d.report(chat.Ready{Conversation: session})
}

// handlePart handles a new or changed part of a message.
func (d *Driver) handlePart(p part) {
	if p.SessionID != d.Conversation() {
		return
	}
	switch role, _ := d.roles.Get(p.MessageID); {
	case p.Type == "text" && role == "user":
		d.addTypedText(p)
	case p.Type == "text" && role == "assistant":
		d.addAgentText(p)
	case p.Type == "tool":
		d.handleTool(p)
	}
}

// addTypedText reports the user's text, unless it was sent by us.
func (d *Driver) addTypedText(p part) {
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
	item := chat.Item{Kind: chat.User, ID: p.ID, Author: terminal, Text: p.Text}
	d.report(chat.ItemAdded{Item: item})
}

// addAgentText reports the agent's text once it is whole.
func (d *Driver) addAgentText(p part) {
	if whole, _ := d.texts.Get(p.ID); whole {
		return // already reported whole
	}
	whole := p.Time.End != 0
	if d.texts.Put(p.ID, whole, 0); whole && p.Text != "" {
		d.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Text, ID: p.ID, Text: p.Text}})
	}
}

// handleDelta reports a piece of the agent's text.
func (d *Driver) handleDelta(m struct{ SessionID, PartID, Field, Delta string }) {
	whole, isText := d.texts.Get(m.PartID)
	if isText && !whole && m.Field == "text" && m.SessionID == d.Conversation() {
		d.report(chat.TextAppended{Piece: chat.Piece{ID: m.PartID, Text: m.Delta}})
	}
}

// handleTool reports a tool's call, and its result once it ended.
func (d *Driver) handleTool(p part) {
	ended, called := d.calls.Get(p.CallID)
	if ended || p.State.Status == "pending" {
		return // it does not know yet with what
	}
	if !called {
		call := chat.Item{Kind: chat.ToolCall, ID: p.CallID, Tool: p.Tool, Input: p.State.Input}
		d.report(chat.ItemAdded{Item: call})
	}
	failed := p.State.Status == "error"
	ended = failed || p.State.Status == "completed"
	if d.calls.Put(p.CallID, ended, 0); ended {
		text := p.State.Output + p.State.Error
		d.report(chat.ItemAdded{Item: chat.Item{
			Kind: chat.ToolResult, ID: p.CallID, Text: text, Failed: failed,
		}})
	}
}

// permission is an approval that opencode wants.
type permission struct {
	ID, SessionID, Permission string
	Patterns                  []string
	Metadata                  map[string]any
}

func (d *Driver) handlePermission(p permission) {
	// The metadata say what it wants to do, and the patterns what of it needs permission.
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
		r.Input, _ = json.Marshal(shown) // it came as JSON
		// opencode does not say how far its "always" reaches
		r.Allows = []chat.Choice{{Verdict: chat.Once}}
	}
	d.openRequest(open{session: p.SessionID}, r)
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

func (d *Driver) handleQuestion(q question) {
	o, r := open{session: q.SessionID, form: true}, chat.Request{ID: q.ID, Tool: "question"}
	for i, one := range q.Questions {
		id := strconv.Itoa(i + 1)
		o.questions = append(o.questions, id)
		r.Form = append(r.Form, chat.Question{
			ID: id, Header: one.Header, Text: one.Question, Many: one.Multiple, Options: one.Options,
		})
	}
	d.openRequest(o, r)
}

// openRequest opens a request that is new.
func (d *Driver) openRequest(o open, r chat.Request) {
	if r.ID == "" || o.form && len(r.Form) == 0 {
		d.reportNotice("asks a question that makes no sense")
		return
	}
	d.mu.Lock()
	_, known := d.open[r.ID]
	if known = known || d.answered.Has(r.ID); !known {
		d.open[r.ID] = o
	}
	d.mu.Unlock()
	if !known {
		d.report(chat.RequestOpened{Request: r})
	}
}

// replied says that a request was answered.
type replied struct {
	RequestID string
	Reply     string
}

// handleReplied closes a request that was answered in opencode's own interface. Our own answers
// have closed theirs already.
func (d *Driver) handleReplied(kind string, m replied) {
	why := "answered in opencode's own interface"
	switch {
	case m.Reply == "reject" || kind == "question.rejected":
		why = "refused in opencode's own interface"
	case m.Reply != "":
		why = "allowed in opencode's own interface (" + stdio.ShortenText(m.Reply) + ")"
	}
	d.withdrawRequests(why, func(id string, _ open) bool { return id == m.RequestID })
}
