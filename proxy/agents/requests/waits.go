package requests

import (
	"errors"
	"maps"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/view/snapshot"
)

// defaultWait bounds a wait that sets no limit.
const defaultWait = 10 * time.Second

func (h *Handler) handleRead(m *protocol.Read) {
	o := h.Observer
	ok := o.Post(func(now time.Time) {
		r := &protocol.ReadResult{
			ID:        protocol.NewID(),
			RequestID: m.RequestID,
			SessionID: h.SessionID,
		}
		err := o.CompleteRead(now, m, r)
		if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
			h.Link.Send(bad.Reply())
			return
		}
		if err != nil {
			h.Link.Send(&protocol.Error{
				RequestID: m.RequestID,
				Code:      protocol.CodeBadMessage,
				Message:   err.Error(),
				Field:     "fromLine",
			})
			return
		}
		if m.Notes && !r.Frame.Blackout.ByUser() {
			r.Notes = h.inbox.takeNotes(m.AgentID)
		}
		if !m.Probe {
			h.noteSeen(m.AgentID)
		}
		h.Link.Send(r)
	})
	if !ok {
		sendExited(h.Link, m.RequestID)
	}
}

// drivenWait is an open wait for what an agent typed under a grant: it ends with the grant.
type drivenWait struct {
	agent  string
	epoch  uint64
	cancel func() bool // false if the wait is not open
	end    func()
}

func (h *Handler) handleWait(m *protocol.Wait) {
	condition, also, err := snapshot.CompileAll(m)
	if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
		bad.RequestID = m.RequestID
		h.Link.Send(bad.Reply())
		return
	}
	ok := h.Observer.Post(func(now time.Time) {
		if before := h.waits.findRepeat(now, m); before != nil {
			h.sendWaitResult(now, m, before.result, before.notes)
			return
		}
		if m.Until.Control {
			word := h.answers.takeForWait(m.AgentID, m.RequestID)
			if word == "" && h.inbox.hasNote(m.AgentID) {
				word = "message"
			}
			if word != "" {
				h.finishWait(now, m, snapshot.Result{End: snapshot.Met, Matched: word})
				return
			}
		}
		if m.Until.Control {
			h.deciding[m.RequestID] = m.AgentID
		}
		if m.Epoch != 0 {
			if m.Epoch == h.reclaimed {
				h.finishWait(now, m, snapshot.Result{End: snapshot.TimedOut})
				return
			}
			h.driving[m.RequestID] = drivenWait{
				agent: m.AgentID, epoch: m.Epoch,
				cancel: func() bool { return h.Observer.CancelWait(m.RequestID) },
				end: func() {
					h.finishWait(time.Now(), m, snapshot.Result{End: snapshot.TimedOut})
				},
			}
		}
		h.Observer.OpenWait(now, dependsOnProgram(m), snapshot.Wait{
			ID:        m.RequestID,
			Condition: condition,
			Also:      also,
			AfterSeq:  m.AfterSeq,
			SinceSeq:  m.SinceSeq,
			InputSeq:  m.InputSeq,
			Deadline:  now.Add(timeoutOf(m.TimeoutMs)),
			Done:      func(r snapshot.Result) { h.finishWait(time.Now(), m, r) },
		}, func(err error) {
			// A repeat over a new connection is the same wait; its answer goes there.
			if !errors.Is(err, snapshot.ErrWaitOpen) {
				delete(h.driving, m.RequestID)
				sendError(h.Link, m.RequestID, protocol.CodeBusy, err.Error())
			}
		})
	})
	if !ok {
		sendExited(h.Link, m.RequestID)
	}
}

// dependsOnProgram reports whether a wait depends on the program's input wait.
func dependsOnProgram(m *protocol.Wait) bool {
	all := slices.Concat([]protocol.Until{m.Until}, m.Any, m.Stop)
	return slices.ContainsFunc(all, func(u protocol.Until) bool {
		return u.Waiting || m.InputSeq > 0 && (u.Text+u.Regex+u.Title+u.TitleRegex != "")
	})
}

// handleCancel ends a wait whose caller left, takes back a withdrawn request, or keeps the answer
// to a request for control for the agent's next wait.
func (h *Handler) handleCancel(m *protocol.Cancel) {
	h.outsiders.withdrawRequests(m.RequestID, "the agent that asked took it back, or is gone")
	h.Desk.Withdraw(m.RequestID)
	if m.Withdraw {
		h.Pump.WithdrawInput(m.RequestID, !m.Gone)
		h.Pump.Post(func(now time.Time) { h.Control.WithdrawRequest(now, m.RequestID) })
		h.Status.WithdrawMessage(m.RequestID)
	}
	h.Observer.Post(func(time.Time) {
		if h.Observer.CancelWait(m.RequestID) {
			agent, decides := h.deciding[m.RequestID]
			delete(h.deciding, m.RequestID)
			if decides && m.Withdraw && !m.Gone &&
				!slices.Contains(slices.Collect(maps.Values(h.deciding)), agent) {
				h.withdrawQuestion(agent)
			}
			delete(h.driving, m.RequestID)
			return
		}
		agent := h.answers.markAbandoned(m.RequestID, m.Withdraw)
		if agent != "" && slices.Contains(slices.Collect(maps.Values(h.deciding)), agent) {
			word, sent := h.answers.takeWord(agent), false
			h.Observer.EndControlWaits(func(id string) bool {
				met := !sent && h.deciding[id] == agent
				sent = sent || met
				return met
			}, word)
		}
	})
}

// withdrawQuestion takes back an agent's question after it gave up waiting for the answer.
func (h *Handler) withdrawQuestion(agentID string) {
	ids := h.answers.abandonedRequests(agentID)
	h.Pump.Post(func(now time.Time) {
		for _, id := range ids {
			h.Control.WithdrawRequest(now, id)
		}
	})
}

// endControlWaits ends an agent's waits for a decision or for the end of its control. heard means
// that a dropped input tells the agent, too.
func (h *Handler) endControlWaits(e control.Event, word string, heard bool) {
	waiting := ""
	if !e.Granted && !e.Request && e.Reason == protocol.ReasonReclaimed {
		h.reclaimed = e.Epoch
		for id, w := range h.driving {
			if w.epoch == e.Epoch && w.agent == e.Agent.ID && w.cancel() {
				heard, waiting = true, id
				w.end()
			}
		}
	}
	if e.Granted || e.Reason != protocol.ReasonReplaced {
		h.Observer.EndControlWaits(func(id string) bool {
			agent, ok := h.deciding[id]
			ok = ok && agent == e.Agent.ID
			if ok {
				heard, waiting = true, id
			}
			return ok
		}, word)
	}
	h.answers.recordDecision(e, word, heard)
	if waiting != "" {
		h.answers.markDelivered(e.Agent.ID, waiting, word)
	}
}

func (h *Handler) finishWait(now time.Time, m *protocol.Wait, r snapshot.Result) {
	delete(h.deciding, m.RequestID)
	delete(h.driving, m.RequestID)
	if r.End == snapshot.Dear {
		sendError(
			h.Link,
			m.RequestID,
			protocol.CodeBadMessage,
			"the wait was given up: its regular expression is so slow that it would hold up the "+
				"program's output; simplify it, or wait for a text",
		)
		return
	}
	notes := h.inbox.takeNotes(m.AgentID)
	if !m.Until.Control || len(notes) > 0 { // else h.answers keeps the decision
		h.waits.add(endedWait{m, now, r, notes})
	}
	h.sendWaitResult(now, m, r, notes)
}

// sendWaitResult sends how a wait ended, with the present screen.
func (h *Handler) sendWaitResult(
	now time.Time,
	m *protocol.Wait,
	r snapshot.Result,
	notes []string,
) {
	out := &protocol.WaitResult{
		ID:        protocol.NewID(),
		RequestID: m.RequestID,
		SessionID: h.SessionID,
		Met:       r.End == snapshot.Met,
		Matched:   r.Matched,
		Stood:     r.Stood,
		Line:      cutAroundMatch(r.Line, r.Matched),
		Notes:     notes,
	}
	switch came := r.Came; {
	case r.End != snapshot.Met || len(m.Any)+len(m.Stop) == 0:
	case came == nil:
		out.Came = &m.Until
	default:
		out.Came, out.Stopped, out.Met = &came.Until, came.Stop, !came.Stop
	}
	if !out.Met && !out.Stopped && m.Epoch != 0 && m.Epoch == h.reclaimed {
		out.Ended = protocol.ReasonReclaimed
	}
	h.Observer.CompleteWait(now, m, out)
	if out.Frame != nil {
		out.Frame.Repainting = r.Repainting
	}
	h.noteSeen(m.AgentID)
	h.Link.Send(out)
}

func timeoutOf(ms int64) time.Duration {
	if ms == 0 {
		return defaultWait
	}
	return time.Duration(ms) * time.Millisecond
}
