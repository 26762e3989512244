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
	texts   *recent.Map[bool]   // parts that are text of the agent's, and whether they were said whole
	calls   *recent.Map[bool]   // tools that were called, and whether they have ended
	told    *recent.Map[string] // of sessions: the one that began it, "" for a person
	retry   int                 // of a request to the model
}

// namesMost bounds what is remembered under the names that the server gives, each time, in bytes.
const namesMost = 1 << 20

func newTurn() turn {
	return turn{
		roles: recent.New[string](namesMost), texts: recent.New[bool](namesMost), calls: recent.New[bool](namesMost),
		told: recent.New[string](namesMost),
	}
}

// failure is why a turn failed.
type failure struct {
	Name string
	Data struct{ Message string }
}

// info is a message, without its parts.
type info struct{ ID, SessionID, Role, ParentID string }

// take takes in an event. Those about sessions in which the user does not talk count only where they ask something: the agent starts
// such sessions for its own helpers.
func (d *Driver) take(e event) {
	var err error
	switch e.Type {
	case "server.connected":
		d.connected()
	case "session.created":
		err = read(e, func(m struct{ Info info }) { d.began(m.Info.ID, m.Info.ParentID) })
	case "message.updated":
		err = read(e, func(m struct{ Info info }) { d.message(m.Info) })
	case "message.part.updated":
		err = read(e, func(m struct{ Part part }) { d.part(m.Part) })
	case "message.part.delta":
		err = read(e, d.delta)
	case "session.status":
		err = read(e, d.status)
	case "session.error":
		err = read(e, func(m struct {
			SessionID string
			Error     *failure
		},
		) {
			if m.SessionID == d.Conversation() && m.Error != nil {
				d.failed = m.Error
			}
		})
	case "session.idle":
		err = read(e, func(m struct{ SessionID string }) { d.idle(m.SessionID) })
	case "permission.asked":
		err = read(e, d.permission)
	case "question.asked":
		err = read(e, d.question)
	case "permission.replied", "question.replied", "question.rejected":
		err = read(e, func(m replied) { d.replied(e.Type, m) })
	}
	if err != nil {
		d.notice("sent a %s that makes no sense: %v", stdio.Short(e.Type), err)
	}
}

// read hands on what an event says.
func read[T any](e event, to func(T)) error {
	var m T
	if err := json.Unmarshal(e.Properties, &m); err != nil {
		return err
	}
	to(m)
	return nil
}

// connected is the beginning of a stream. What happened while there was none is asked for.
func (d *Driver) connected() {
	if !d.ready {
		d.ready = true
		d.report(chat.Ready{Conversation: d.Conversation()})
	}
	var asked []permission
	var questions []question
	var states map[string]struct{ Type string }
	ctx, cancel := context.WithTimeout(d.ctx, callTime)
	defer cancel()
	for path, got := range map[string]any{"/permission": &asked, "/question": &questions, "/session/status": &states} {
		if err := d.call(ctx, http.MethodGet, path, nil, got); err != nil {
			if d.ctx.Err() == nil {
				d.notice("does not say what is open: %v", err)
			}
			return
		}
	}
	still := map[string]bool{}
	for _, p := range asked {
		still[p.ID] = true
		d.permission(p)
	}
	for _, q := range questions {
		still[q.ID] = true
		d.question(q)
	}
	d.withdraw("it is asked no more", func(id string, _ open) bool { return !still[id] })
	if session := d.Conversation(); states[session].Type != "" && states[session].Type != "idle" {
		d.begins()
	} else {
		d.idle(session)
	}
}

// withdraw takes back the requests that fit.
func (d *Driver) withdraw(why string, fits func(id string, o open) bool) (taken map[string]open) {
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

// began notes which session began another one, "" for a person.
func (d *Driver) began(session, by string) { d.told.Put(session, by, len(by)) }

// begins is the beginning of a turn.
func (d *Driver) begins() {
	if !d.running {
		d.running, d.failed, d.retry = true, nil, 0
		d.mu.Lock()
		d.interrupted = false // that was the turn before
		d.mu.Unlock()
		d.report(chat.Began{})
	}
}

func (d *Driver) status(m struct {
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
	d.begins()
	if m.Status.Type == "retry" && m.Status.Attempt != d.retry {
		d.retry = m.Status.Attempt
		d.notice("tries again, for the %d. time: %s", m.Status.Attempt, stdio.Short(m.Status.Message))
	}
}

// idle is the end of a session's turn. Of its requests none is open then; those that the server still keeps are refused.
func (d *Driver) idle(session string) {
	for id, o := range d.withdraw("the turn ended", func(_ string, o open) bool { return o.session == session }) {
		path, body := o.reply(id, chat.Answer{})
		_ = d.later(http.MethodPost, path, body, func(error) {}) // it may keep it no more
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
		outcome = chat.Turn{Outcome: chat.Broken, Why: stdio.Short(strings.TrimSuffix(d.failed.Name+": "+d.failed.Data.Message, ": "))}
	}
	d.mu.Lock()
	interrupted := d.interrupted
	d.interrupted = false
	d.mu.Unlock()
	if interrupted {
		d.drop()
	}
	d.report(chat.Finished{Turn: outcome})
}

// drop takes the prompts back on which the agent did not begin to work: they would be read with the next one.
func (d *Driver) drop() {
	d.mu.Lock()
	dropped, session := d.sent, d.session
	d.sent = nil
	d.mu.Unlock()
	for _, p := range dropped {
		if p.message != "" {
			_ = d.later(http.MethodDelete, "/session/"+session+"/message/"+p.message, nil, func(error) {}) // then it is read
		}
		d.report(chat.Dropped{Prompt: p.id})
	}
}

func (d *Driver) forget(one *prompt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent = slices.DeleteFunc(d.sent, func(p *prompt) bool { return p == one })
}

func (d *Driver) notice(format string, args ...any) {
	d.report(chat.Said{Item: chat.Item{Kind: chat.Notice, Text: name + " " + fmt.Sprintf(format, args...)}})
}
