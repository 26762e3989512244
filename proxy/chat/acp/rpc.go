package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/stdio"
)

// message is a request, a notification or a reply of JSON-RPC 2.0.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	reply
}

// reply is what comes back for a request.
type reply struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// Codes of the protocol's errors.
const (
	authRequired     = -32000 // an agent wants to know who the user is
	methodNotFound   = -32601
	invalidParams    = -32602
	internalError    = -32603
	requestCancelled = -32800
)

// readResult decodes the result, or returns the agent's error.
func (d *Driver) readResult(r reply, v any) error {
	if r.Error == nil {
		if len(r.Result) == 0 || string(r.Result) == "null" {
			return nil
		}
		return json.Unmarshal(r.Result, v)
	}
	words := stdio.ShortenText(r.Error.Message)
	var data struct{ Details, Message string }
	if json.Unmarshal(r.Error.Data, &data) == nil && data.Details+data.Message != "" {
		words += ": " + stdio.ShortenText(data.Details+data.Message)
	}
	if r.Error.Code == authRequired {
		return fmt.Errorf("it wants to know who you are (%s): %s", words, d.config.SignIn)
	}
	return errors.New(words)
}

// call sends a request to the agent; then gets the reply.
func (d *Driver) call(method string, params any, then func(reply)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.callLocked(method, params, then)
}

func (d *Driver) callLocked(method string, params any, then func(reply)) error {
	d.callsSent++
	d.calls[d.callsSent] = then
	return d.program.Send(map[string]any{
		"jsonrpc": "2.0", "id": d.callsSent, "method": method, "params": params,
	})
}

func (d *Driver) respond(id json.RawMessage, result any) error {
	return d.program.Send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (d *Driver) respondError(id json.RawMessage, code int, why string) error {
	return d.program.Send(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why},
	})
}

// handleLine handles a message of the agent.
func (d *Driver) handleLine(b []byte) {
	var m message
	if json.Unmarshal(b, &m) != nil {
		d.reportNotice("sent something other than a message: %s", stdio.ShortenText(string(b)))
		return
	}
	d.mu.Lock()
	dropped := d.dropped
	d.dropped = nil
	d.mu.Unlock()
	for _, id := range dropped {
		d.report(chat.PromptDropped{Prompt: id})
	}
	var err error
	switch asked := len(m.ID) > 0 && string(m.ID) != "null"; {
	case m.Method == "session/update":
		err = d.handleUpdate(m.Params)
	case m.Method != "" && asked:
		err = d.handleRequest(m)
	case m.Method == "$/cancel_request":
		err = d.handleCancel(m.Params)
	case m.Method == "session/request_permission" || m.Method == "elicitation/create":
		err = errors.New("a request without an id cannot be answered")
	case m.Method != "": // an unknown notification needs no answer
	case asked:
		d.handleReply(m)
	default:
		err = errors.New("it is neither a request nor an answer")
	}
	if err != nil {
		d.reportNotice("sent a message: %v", err)
	}
}

// handleRequest handles a request of the agent.
func (d *Driver) handleRequest(m message) error {
	switch m.Method {
	case "session/request_permission":
		d.confirmPrompt()
		return d.handlePermission(m.ID, m.Params)
	case "elicitation/create":
		d.confirmPrompt()
		return d.handleElicitation(m.ID, m.Params)
	}
	err := d.respondError(m.ID, methodNotFound, "method not found")
	d.reportNotice("asked for something that it was not offered: %s", stdio.ShortenText(m.Method))
	return err
}

// handleReply passes a reply to the call that waits for it.
func (d *Driver) handleReply(m message) {
	n, err := strconv.Atoi(string(m.ID))
	d.mu.Lock()
	then := d.calls[n]
	delete(d.calls, n)
	d.mu.Unlock()
	if err != nil || then == nil {
		d.reportNotice("answered a question that was not asked: %s", stdio.ShortenText(string(m.ID)))
		return
	}
	if d.session != "" {
		d.confirmPrompt()
	}
	then(m.reply)
}

// confirmPrompt reports once that the running prompt has arrived.
func (d *Driver) confirmPrompt() {
	d.mu.Lock()
	running := d.running.ID
	d.mu.Unlock()
	if running != "" && running != d.taken {
		d.taken = running
		d.report(chat.PromptAccepted{Prompt: running})
	}
}

func (d *Driver) reportNotice(format string, args ...any) {
	text := d.config.Name + " " + fmt.Sprintf(format, args...)
	d.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Notice, Text: text}})
}
