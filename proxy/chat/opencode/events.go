package opencode

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/recent"
	"terminalproxy/proxy/chat/stdio"
)

// turn is what has to be known of the events so far.
type turn struct {
	ready   bool // the first stream has begun
	running bool
	failed  *failure            // the turn that runs did
	roles   *recent.Map[string] // of messages: who wrote them
	texts   *recent.Map[bool]   // the agent's parts of text, and whether they were reported whole
	calls   *recent.Map[bool]   // tools that were called, and whether they have ended
	parents *recent.Map[string] // of sessions: the one that began it, "" for a person
	retry   int                 // of a request to the model
}

// namesMost bounds each map whose keys the server chooses, in bytes.
const namesMost = 1 << 20

func newTurn() turn {
	return turn{
		roles:   recent.New[string](namesMost),
		texts:   recent.New[bool](namesMost),
		calls:   recent.New[bool](namesMost),
		parents: recent.New[string](namesMost),
	}
}

// failure is why a turn failed.
type failure struct {
	Name string
	Data struct{ Message string }
}

// info is a message, without its parts.
type info struct{ ID, SessionID, Role, ParentID string }

// handleEvent handles an event. Events of other sessions than the user's count only if they ask
// something: the agent starts such sessions for its own helpers.
func (d *Driver) handleEvent(e event) {
	var err error
	switch e.Type {
	case "server.connected":
		d.handleConnected()
	case "session.created":
		err = decodeEvent(e, func(m struct{ Info info }) { d.rememberParent(m.Info.ID, m.Info.ParentID) })
	case "message.updated":
		err = decodeEvent(e, func(m struct{ Info info }) { d.handleMessage(m.Info) })
	case "message.part.updated":
		err = decodeEvent(e, func(m struct{ Part part }) { d.handlePart(m.Part) })
	case "message.part.delta":
		err = decodeEvent(e, d.handleDelta)
	case "session.status":
		err = decodeEvent(e, d.handleStatus)
	case "session.error":
		err = decodeEvent(e, func(m struct {
			SessionID string
			Error     *failure
		},
		) {
			if m.SessionID == d.Conversation() && m.Error != nil {
				d.failed = m.Error
			}
		})
	case "session.idle":
		err = decodeEvent(e, func(m struct{ SessionID string }) { d.finishTurn(m.SessionID) })
	case "permission.asked":
		err = decodeEvent(e, d.handlePermission)
	case "question.asked":
		err = decodeEvent(e, d.handleQuestion)
	case "permission.replied", "question.replied", "question.rejected":
		err = decodeEvent(e, func(m replied) { d.handleReplied(e.Type, m) })
	}
	if err != nil {
		d.reportNotice("sent a %s that makes no sense: %v", stdio.ShortenText(e.Type), err)
	}
}

// decodeEvent decodes an event's properties and calls to with them.
func decodeEvent[T any](e event, to func(T)) error {
	var m T
	if err := json.Unmarshal(e.Properties, &m); err != nil {
		return err
	}
	to(m)
	return nil
}

// handleConnected handles the beginning of a stream. It asks for the changes since the last stream.
func (d *Driver) handleConnected() {
	if !d.ready {
		d.ready = true
		d.report(chat.Ready{Conversation: d.Conversation()})
	}
	var asked []permission
	var questions []question
	var states map[string]struct{ Type string }
	ctx, cancel := context.WithTimeout(d.ctx, callTime)
	defer cancel()
	answers := map[string]any{
		"/permission": &asked, "/question": &questions, "/session/status": &states,
	}
	for path, got := range answers {
		if err := d.call(ctx, http.MethodGet, path, nil, got); err != nil {
			if d.ctx.Err() == nil {
				d.reportNotice("does not list its open questions: %v", err)
			}
			return
		}
	}
	still := map[string]bool{}
	for _, p := range asked {
		still[p.ID] = true
		d.handlePermission(p)
	}
	for _, q := range questions {
		still[q.ID] = true
		d.handleQuestion(q)
	}
	d.withdrawRequests("it is no longer asked", func(id string, _ open) bool { return !still[id] })
	if session := d.Conversation(); states[session].Type != "" && states[session].Type != "idle" {
		d.startTurn()
	} else {
		d.finishTurn(session)
	}
}

// withdrawRequests closes the open requests for which fits returns true.
func (d *Driver) withdrawRequests(why string, fits func(id string, o open) bool) (taken map[string]open) {
	taken = map[string]open{}
	d.mu.Lock()
	for id, o := range d.open {
		if fits(id, o) {
			taken[id] = o
			delete(d.open, id)
		}
	}
	d.mu.Unlock()
	for id := range taken {
		d.report(chat.Withdrawn{ID: id, Why: why})
	}
	return taken
}

// rememberParent remembers which session began another one; "" means a person.
func (t *turn) rememberParent(session, by string) { t.parents.Put(session, by, len(by)) }

// startTurn reports the beginning of a turn, unless one runs.
func (d *Driver) startTurn() {
	if !d.running {
		d.running, d.failed, d.retry = true, nil, 0
		d.mu.Lock()
		d.interrupted = false // that was the turn before
		d.mu.Unlock()
		d.report(chat.TurnStarted{})
	}
}

func (d *Driver) handleStatus(m struct {
	SessionID string
	Status    struct {
		Type    string
		Attempt int
		Message string
	}
},
) {
	if m.SessionID != d.Conversation() || m.Status.Type == "idle" {
		return
	}
	d.startTurn()
	if m.Status.Type == "retry" && m.Status.Attempt != d.retry {
		d.retry = m.Status.Attempt
		d.reportNotice("tries again, attempt %d: %s", m.Status.Attempt, stdio.ShortenText(m.Status.Message))
	}
}

// finishTurn handles the end of a session's turn. It closes the session's requests, and refuses
// those that the server still keeps.
func (d *Driver) finishTurn(session string) {
	isOfSession := func(_ string, o open) bool { return o.session == session }
	for id, o := range d.withdrawRequests("the turn ended", isOfSession) {
		path, body := o.replyCall(id, chat.Answer{})
		_ = d.enqueueCall(http.MethodPost, path, body, func(error) {}) // the server may have dropped it
	}
	if session != d.Conversation() || !d.running {
		return
	}
	d.running = false
	outcome := chat.Turn{Outcome: chat.Done}
	switch {
	case d.failed == nil:
	case d.failed.Name == "MessageAbortedError":
		outcome = chat.Turn{Outcome: chat.Interrupted, Why: "interrupted"}
	default:
		why := strings.TrimSuffix(d.failed.Name+": "+d.failed.Data.Message, ": ")
		outcome = chat.Turn{Outcome: chat.Broken, Why: stdio.ShortenText(why)}
	}
	d.mu.Lock()
	interrupted := d.interrupted
	d.interrupted = false
	d.mu.Unlock()
	if interrupted {
		d.dropPrompts()
	}
	d.report(chat.Finished{Turn: outcome})
}

// dropPrompts deletes the prompts that the agent did not begin: it would read them with the next
// one.
func (d *Driver) dropPrompts() {
	d.mu.Lock()
	dropped, session := d.sent, d.session
	d.sent = nil
	d.mu.Unlock()
	for _, p := range dropped {
		if p.message != "" {
			path := "/session/" + session + "/message/" + p.message
			_ = d.enqueueCall(http.MethodDelete, path, nil, func(error) {}) // if it fails, it is read
		}
		d.report(chat.PromptDropped{Prompt: p.id})
	}
}

func (d *Driver) forgetPrompt(one *prompt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent = slices.DeleteFunc(d.sent, func(p *prompt) bool { return p == one })
}

func (d *Driver) reportNotice(format string, args ...any) {
	text := name + " " + fmt.Sprintf(format, args...)
	d.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Notice, Text: text}})
}
