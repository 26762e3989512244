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

// ask is an open approval or form.
type ask struct {
	id            json.RawMessage // of the agent's request
	allow, refuse string          // ids of an approval's options, "" if not offered
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
		return d.respond(open.id, open.form.Reply(a))
	}
	chosen := open.refuse
	if a.Verdict == chat.Once {
		chosen = open.allow
	}
	outcome := map[string]any{"outcome": "cancelled"}
	if chosen != "" {
		outcome = map[string]any{"outcome": "selected", "optionId": chosen}
	}
	return d.respond(open.id, map[string]any{"outcome": outcome})
}

// option is an answer that an agent offers.
type option struct{ OptionID, Name, Kind string }

// handlePermission asks the user whether a tool may run. It goes by the kinds of the options, not
// by the agent's names for them.
func (d *Driver) handlePermission(id json.RawMessage, params json.RawMessage) error {
	var m struct {
		SessionID string
		ToolCall  toolCall
		Options   []option
	}
	err := json.Unmarshal(params, &m)
	open := ask{id: id, allow: onlyOptionOf(m.Options, "allow_once"), refuse: firstOptionOf(m.Options, "reject_once")}
	d.mu.Lock()
	session := d.session
	d.mu.Unlock()
	if err == nil && (m.SessionID != session || session == "") {
		err = errors.New("it is about another conversation")
	}
	before, _ := d.told.Get(m.ToolCall.ID)
	whole := m.ToolCall.mergeBefore(before)
	shown, nothing := d.describeCall(&whole)
	if err == nil && nothing {
		err = errors.New("it does not say what it wants to do")
	}
	if err != nil {
		cancelled := map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
		return errors.Join(fmt.Errorf("refused: %w", err), d.respond(id, cancelled))
	}
	r := chat.Request{Tool: whole.toolName(), Input: shown}
	if open.allow != "" {
		r.Allows = []chat.Choice{{Verdict: chat.Once}}
	}
	d.openRequest(open, r)
	return nil
}

// openRequest reports a request under a new id.
func (d *Driver) openRequest(open ask, r chat.Request) {
	d.flush()
	d.requests++
	r.ID = fmt.Sprintf("ask-%d", d.requests)
	d.mu.Lock()
	twice := d.openRequestID(open.id)
	if twice == "" {
		d.asks[r.ID] = open
	}
	delete(d.asks, twice)
	d.mu.Unlock()
	if twice != "" { // the answer to the one would count for the other
		_ = d.respondError(open.id, invalidParams, "asked twice") // an ended agent is reported
		d.report(chat.Withdrawn{ID: twice, Why: "asked twice"})
		d.reportNotice("was refused: it used the id of an earlier request: %s", stdio.ShortenText(string(open.id)))
		return
	}
	d.report(chat.RequestOpened{Request: r})
}

// openRequestID returns our id of the open request with the agent's id, "" if it is not open. The
// caller must hold d.mu.
func (d *Driver) openRequestID(id json.RawMessage) string {
	for known, open := range d.asks {
		if bytes.Equal(open.id, id) {
			return known
		}
	}
	return ""
}

// handleElicitation asks the user to fill in a form, for the model or for a server of tools.
func (d *Driver) handleElicitation(id json.RawMessage, params json.RawMessage) error {
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
		decline := map[string]any{"action": "decline"}
		return errors.Join(fmt.Errorf("declined a form: %w", err), d.respond(id, decline))
	}
	d.openRequest(ask{id: id, form: f}, chat.Request{Why: f.Why, Form: f.Questions, Check: f.Check})
	return nil
}

// handleCancel withdraws a request that the agent takes back.
func (d *Driver) handleCancel(params json.RawMessage) error {
	var m struct{ RequestID json.RawMessage }
	if err := json.Unmarshal(params, &m); err != nil {
		return err
	}
	d.mu.Lock()
	id := d.openRequestID(m.RequestID)
	delete(d.asks, id)
	d.mu.Unlock()
	if id == "" {
		return nil // it is answered
	}
	err := d.respondError(m.RequestID, requestCancelled, "cancelled")
	d.report(chat.Withdrawn{ID: id, Why: d.config.Name + " took it back"})
	return err
}

// firstOptionOf returns the id of the first option of a kind. Any refusing option will do; agents
// put first the one that lets the turn go on.
func firstOptionOf(options []option, kind string) string {
	if i := slices.IndexFunc(options, func(o option) bool { return o.Kind == kind }); i >= 0 {
		return options[i].OptionID
	}
	return ""
}

// onlyOptionOf returns the id of the only option of a kind. Of two options only the agent's words
// would tell which is which, so the result is "".
func onlyOptionOf(options []option, kind string) string {
	isOther := func(o option) bool { return o.Kind != kind }
	options = slices.DeleteFunc(slices.Clone(options), isOther)
	if len(options) != 1 {
		return ""
	}
	return options[0].OptionID
}
