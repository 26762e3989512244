package proxy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/names"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/snapshot"
)

// defaultWait is how long a wait lasts that sets no limit.
const defaultWait = 10 * time.Second

// desk answers what comes over the link. handle runs on the link's reading goroutine and never blocks: the pump and the
// observer do the work and answer.
type desk struct {
	s        *session
	receipts *receipts
	mail     mailbox
	pointer  pointer
	book     names.Book
	// answers and deciding belong to the observer's goroutine, as does pointer. deciding are the waits for a decision about
	// control: their agents.
	answers  answers
	deciding map[string]string
	// parting is what an agent says as it gives the keyboard back. It belongs to the pump's goroutine.
	parting string
	// speech and letters bound the messages of agents, and of people elsewhere. They belong to the link's goroutine.
	speech, letters pace
}

// handle takes one message.
func (d *desk) handle(m protocol.Message) {
	d.s.conf.headless.touch()
	if id := protocol.SessionID(m); id != "" && id != d.s.id {
		d.refuse(protocol.RequestID(m), protocol.CodeNoSession, "this proxy has the session "+d.s.id+" only")
		return
	}
	switch m.(type) {
	case *protocol.Input, *protocol.Wait, *protocol.Read, *protocol.ControlRequest, *protocol.Note:
		d.s.status.Attended()
	}
	switch m := m.(type) {
	case *protocol.Input:
		d.input(m)
	case *protocol.Wait:
		d.wait(m)
	case *protocol.Cancel:
		d.cancel(m)
	case *protocol.Read:
		d.read(m)
	case *protocol.ControlRequest:
		d.request(m)
	case *protocol.ControlRelease:
		d.release(m)
	case *protocol.ControlDecide:
		d.decide(m)
	case *protocol.Note:
		d.note(m)
	case *protocol.Watch, *protocol.Unwatch, *protocol.Attach, *protocol.Detach, *protocol.Typed:
		d.attended(m)
	case *protocol.ProxyStart:
		d.s.link.Send(&protocol.ProxyStarted{ID: newID(), RequestID: m.RequestID, Error: "this proxy serves one user's program and starts no others"})
	case *protocol.AgentPresence:
		d.present(m)
	case *protocol.Close:
		d.close(m)
	case *protocol.Error:
		d.s.log.Warn("the gateway refused a message", "code", m.Code, "message", m.Message, "field", m.Field)
	default:
		d.refuse(protocol.RequestID(m), protocol.CodeForbidden, fmt.Sprintf("a %s is not for a proxy", protocol.KindOf(m)))
	}
}

func (d *desk) refuse(requestID string, code protocol.Code, say string) {
	d.s.link.Send(&protocol.Error{RequestID: requestID, Code: code, Message: say})
}

// gone answers a request that came too late.
func (d *desk) gone(requestID string) {
	d.refuse(requestID, protocol.CodeExited, "the program has ended")
}

func (d *desk) read(m *protocol.Read) {
	o := d.s.observer
	ok := o.Post(func(now time.Time) {
		r := &protocol.ReadResult{ID: newID(), RequestID: m.RequestID, SessionID: d.s.id}
		if err := o.AnswerRead(now, m, r); err != nil {
			d.s.link.Send(&protocol.Error{RequestID: m.RequestID, Code: protocol.CodeBadMessage, Message: err.Error(), Field: "fromLine"})
			return
		}
		if m.Notes && !r.Frame.Blackout.Hidden() {
			r.Notes = d.mail.take(m.AgentID)
		}
		d.s.link.Send(r)
	})
	if !ok {
		d.gone(m.RequestID)
	}
}

func (d *desk) wait(m *protocol.Wait) {
	condition, err := snapshot.Compile(m.Until)
	if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
		bad.RequestID = m.RequestID
		d.s.link.Send(bad.Reply())
		return
	}
	ok := d.s.observer.Post(func(now time.Time) {
		if m.Until.Control {
			word := d.answers.take(m.AgentID)
			if word == "" && d.mail.waits(m.AgentID) {
				word = "message"
			}
			if word != "" {
				d.waited(now, m, snapshot.Result{End: snapshot.Met, Matched: word})
				return
			}
		}
		if m.Until.Control {
			d.deciding[m.RequestID] = m.AgentID
		}
		d.s.observer.Wait(now, m.Until.Waiting, snapshot.Wait{
			ID: m.RequestID, Condition: condition, AfterSeq: m.AfterSeq, Deadline: now.Add(patience(m.TimeoutMs)),
			Done: func(r snapshot.Result) { d.waited(time.Now(), m, r) },
		}, func(err error) {
			// Asked again, over the connection that follows one that was lost, it is the same wait: its answer goes there.
			if !errors.Is(err, snapshot.ErrWaitOpen) {
				d.refuse(m.RequestID, protocol.CodeBusy, err.Error())
			}
		})
	})
	if !ok {
		d.gone(m.RequestID)
	}
}

// cancel ends a wait that nobody waits for any more, or keeps the answer to a request for control for the agent's next one.
func (d *desk) cancel(m *protocol.Cancel) {
	d.s.observer.Post(func(time.Time) {
		if d.s.observer.CancelWait(m.RequestID) {
			delete(d.deciding, m.RequestID)
			return
		}
		if agent := d.answers.leave(m.RequestID); agent != "" && slices.Contains(slices.Collect(maps.Values(d.deciding)), agent) {
			word, sent := d.answers.take(agent), false
			d.s.observer.DecideWaits(func(id string) bool {
				met := !sent && d.deciding[id] == agent
				sent = sent || met
				return met
			}, word)
		}
	})
}

// decided ends the waits of one agent for a decision about its request, or for the end of its control. heard says that the agent
// is told otherwise: its input was dropped.
func (d *desk) decided(e control.Event, word string, heard bool) {
	if e.Granted || e.Reason != control.Replaced {
		d.s.observer.DecideWaits(func(id string) bool {
			agent, ok := d.deciding[id]
			ok = ok && agent == e.Agent.ID
			heard = heard || ok
			return ok
		}, word)
	}
	d.answers.decided(e, word, heard)
}

func (d *desk) waited(now time.Time, m *protocol.Wait, r snapshot.Result) {
	delete(d.deciding, m.RequestID)
	out := &protocol.WaitResult{
		ID: newID(), RequestID: m.RequestID, SessionID: d.s.id, Met: r.End == snapshot.Met, Matched: r.Matched,
		Notes: d.mail.take(m.AgentID),
	}
	d.s.observer.AnswerWait(now, m, out)
	d.s.link.Send(out)
}

func (d *desk) request(m *protocol.ControlRequest) {
	level := control.Type
	if m.Level == protocol.LevelDrive {
		level = control.Drive
	}
	r := control.Request{
		ID: m.RequestID, Agent: d.agent(m.AgentID, m.AgentName, m.TokenID), Level: level,
		Reason: notice.Reason(m.Why), For: time.Duration(m.Seconds) * time.Second,
	}
	// Before the pump has it: that nobody waits for the answer any more may come next.
	d.s.observer.Post(func(time.Time) { d.answers.asks(r.Agent.ID, r.ID) })
	ok := d.s.pump.Post(func(now time.Time) {
		err := d.s.request(now, r)
		d.s.recording.requested(r, err)
		if errors.Is(err, control.ErrBusy) && d.s.authority.State(now).Agent.ID != r.Agent.ID {
			d.s.status.Rival(r.Agent.ID)
		}
		if err != nil {
			d.s.link.Send(notNow(m.RequestID, err))
		}
	})
	if !ok {
		d.gone(m.RequestID)
	}
}

func (d *desk) release(m *protocol.ControlRelease) {
	why := control.Released
	if m.Gone {
		why = control.Link
		d.book.Gone(m.AgentID)
	}
	ok := d.s.pump.Post(func(now time.Time) {
		if !d.s.authority.Release(now, m.AgentID, why) && !m.Gone {
			d.refuse(m.RequestID, protocol.CodeNoGrant, "you do not have the keyboard: there is nothing to release")
			return
		}
		if !m.Gone {
			d.parting = notice.Reason(m.Note) // shown with the event, which comes when the queue is clean
		}
		d.s.link.Send(&protocol.Done{RequestID: m.RequestID})
	})
	if !ok {
		d.gone(m.RequestID)
	}
}

// controlEvent tells the agents of a change of control, after it has happened. It runs on the pump's goroutine.
func (d *desk) controlEvent(e control.Event, dropped, unsubmitted int) {
	ids := e.Requests
	if len(ids) == 0 {
		ids = []string{""}
	}
	var notes []string
	if ids[0] != "" { // an answer, which the agent reads
		notes = d.mail.take(e.Agent.ID)
	}
	for _, id := range ids {
		if e.Granted {
			d.s.link.Send(&protocol.ControlGrant{
				ID: newID(), SessionID: d.s.id, RequestID: id, AgentID: e.Agent.ID, AgentName: e.Agent.Name,
				Level: level(e.Level), Epoch: e.Epoch, ExpiresAt: milli(e.Until), Notes: notes,
			})
			continue
		}
		d.s.link.Send(&protocol.ControlRevoke{
			ID: newID(), SessionID: d.s.id, RequestID: id, AgentID: e.Agent.ID, Epoch: e.Epoch, Reason: reason(e.Reason),
			DroppedBytes: dropped, UnsubmittedBytes: unsubmitted, Notes: notes,
		})
	}
	word := "granted"
	if !e.Granted {
		word = string(reason(e.Reason))
	}
	d.s.recording.changed(e, dropped, unsubmitted, d.parting)
	parting := d.parting
	d.parting = ""
	if unsubmitted == 0 || e.Granted {
		d.s.status.Controlled(e, "", parting)
	} else {
		d.s.line.leftBehind(func(line string) { d.s.status.Controlled(e, line, parting) }, func() {})
	}
	d.s.observer.Post(func(time.Time) { d.decided(e, word, dropped > 0) })
}

// why is the sentence for an agent whose control ended.
func why(r control.Reason) string {
	switch r {
	case control.Reclaimed:
		return "the user took the keyboard back"
	case control.Refused:
		return "the user refused to give you the keyboard"
	case control.Released:
		return "you gave the keyboard back"
	case control.Expired:
		return "the time of your grant is over"
	case control.Link:
		return "your grant ended when the connection was lost"
	case control.Absent:
		return "your grant ended since you had no connection for 2 minutes"
	case control.Exited:
		return "the program has ended"
	case control.Replaced:
	}
	return "your grant has ended"
}

func patience(ms int64) time.Duration {
	if ms == 0 {
		return defaultWait
	}
	return time.Duration(ms) * time.Millisecond
}

func level(l control.Level) protocol.Level {
	if l == control.Drive {
		return protocol.LevelDrive
	}
	return protocol.LevelType
}

func reason(r control.Reason) protocol.Reason {
	switch r {
	case control.Reclaimed:
		return protocol.ReasonReclaimed
	case control.Refused:
		return protocol.ReasonRefused
	case control.Released:
		return protocol.ReasonReleased
	case control.Expired:
		return protocol.ReasonExpired
	case control.Exited:
		return protocol.ReasonExited
	case control.Link, control.Absent:
		return protocol.ReasonLink
	case control.Replaced:
		return protocol.ReasonReplaced
	}
	return ""
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
