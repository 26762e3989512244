package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/form"
	"terminalproxy/proxy/chat/stdio"
)

// ask is an approval or a form that is open.
type ask struct {
	id            json.RawMessage // of the agent's request
	allow, refuse string          // ids of an approval's options, "" for none
	form          *form.Form      // nil for an approval
}

// Answer is that of [chat.Driver].
func (d *Driver) Answer(id string, a chat.Answer) error {
	d.mu.Lock()
	open, ok := d.asks[id]
	delete(d.asks, id)
	d.mu.Unlock()
	if !ok {
		return chat.ErrNoRequest
	}
	if open.form != nil {
		return d.result(open.id, open.form.Reply(a))
	}
	chosen := open.refuse
	if a.Verdict == chat.Once {
		chosen = open.allow
	}
	outcome := map[string]any{"outcome": "cancelled"}
	if chosen != "" {
		outcome = map[string]any{"outcome": "selected", "optionId": chosen}
	}
	return d.result(open.id, map[string]any{"outcome": outcome})
}

// option is an answer that an agent offers.
type option struct{ OptionID, Name, Kind string }

// permission asks the user whether a tool may run. The agent's names for its options mean nothing: their kinds do.
func (d *Driver) permission(id json.RawMessage, params json.RawMessage) error {
	var m struct {
		SessionID string
		ToolCall  toolCall
		Options   []option
	}
	err := json.Unmarshal(params, &m)
	open := ask{id: id, allow: of(m.Options, "allow_once"), refuse: first(m.Options, "reject_once")}
	d.mu.Lock()
	session := d.session
	d.mu.Unlock()
	if err == nil && (m.SessionID != session || session == "") {
		err = errors.New("it is about another conversation")
	}
	before, _ := d.told.Get(m.ToolCall.ID)
	whole := m.ToolCall.behind(before)
	shown, nothing := d.shows(&whole)
	if err == nil && nothing {
		err = errors.New("it does not say what it wants to do")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("refused: %w", err), d.result(id, map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}))
	}
	r := chat.Request{Tool: whole.name(), Input: shown}
	if open.allow != "" {
		r.Allows = []chat.Choice{{Verdict: chat.Once}}
	}
	d.ask(open, r)
	return nil
}

// ask asks the user.
func (d *Driver) ask(open ask, r chat.Request) {
	d.flush()
	d.n2++
	r.ID = fmt.Sprintf("ask-%d", d.n2)
	d.mu.Lock()
	twice := d.isOpen(open.id)
	if twice == "" {
		d.asks[r.ID] = open
	}
	delete(d.asks, twice)
	d.mu.Unlock()
	if twice != "" { // the answer to the one would count for the other
		_ = d.refuse(open.id, invalidParams, "asked twice") // it is gone: that is reported
		d.report(chat.Withdrawn{ID: twice, Why: "asked twice"})
		d.notice("was refused: it asks under an id that is not new: %s", stdio.Short(string(open.id)))
		return
	}
	d.report(chat.Asked{Request: r})
}

// isOpen is the open request under an id of the agent's, "" for none. The caller holds the lock.
func (d *Driver) isOpen(id json.RawMessage) string {
	for known, open := range d.asks {
		if bytes.Equal(open.id, id) {
			return known
		}
	}
	return ""
}

// elicitation asks the user to fill in a form, for the model or for a server of tools.
func (d *Driver) elicitation(id json.RawMessage, params json.RawMessage) error {
	var m struct {
		SessionID, Mode, Message string
		RequestedSchema          json.RawMessage
	}
	err := json.Unmarshal(params, &m)
	if err == nil && m.Mode != "form" && m.Mode != "" {
		err = fmt.Errorf("it is of the kind %.40q", m.Mode)
	}
	d.mu.Lock()
	session := d.session
	d.mu.Unlock()
	if err == nil && (m.SessionID != session || session == "") {
		err = errors.New("it is about another conversation")
	}
	var f *form.Form
	if err == nil {
		f, err = form.Read(m.Message, m.RequestedSchema)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("declined a form: %w", err), d.result(id, map[string]any{"action": "decline"}))
	}
	d.ask(ask{id: id, form: f}, chat.Request{Why: f.Why, Form: f.Questions, Check: f.Check})
	return nil
}

// cancelled is an agent that takes a request back.
func (d *Driver) cancelled(params json.RawMessage) error {
	var m struct{ RequestID json.RawMessage }
	if err := json.Unmarshal(params, &m); err != nil {
		return err
	}
	d.mu.Lock()
	id := d.isOpen(m.RequestID)
	delete(d.asks, id)
	d.mu.Unlock()
	if id == "" {
		return nil // it is answered
	}
	err := d.refuse(m.RequestID, requestCancelled, "cancelled")
	d.report(chat.Withdrawn{ID: id, Why: d.config.Name + " took it back"})
	return err
}

// first is the id of the first option of a kind. Each of those that refuse does; the agents offer the one that lets the turn go on first.
func first(options []option, kind string) string {
	if i := slices.IndexFunc(options, func(o option) bool { return o.Kind == kind }); i >= 0 {
		return options[i].OptionID
	}
	return ""
}

// of is the id of the only option of a kind: of two, the words that tell them apart are the agent's.
func of(options []option, kind string) string {
	options = slices.DeleteFunc(slices.Clone(options), func(o option) bool { return o.Kind != kind })
	if len(options) != 1 {
		return ""
	}
	return options[0].OptionID
}
