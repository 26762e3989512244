package requests

import (
	"errors"
	"maps"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/snapshot"
)

// defaultWait is how long a wait lasts that sets no limit.
const defaultWait = 10 * time.Second

func (h *Handler) read(m *protocol.Read) {
	o := h.Observer
	ok := o.Post(func(now time.Time) {
		r := &protocol.ReadResult{ID: protocol.NewID(), RequestID: m.RequestID, SessionID: h.SessionID}
		err := o.AnswerRead(now, m, r)
		if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
			h.Link.Send(bad.Reply())
			return
		}
		if err != nil {
			h.Link.Send(&protocol.Error{RequestID: m.RequestID, Code: protocol.CodeBadMessage, Message: err.Error(), Field: "fromLine"})
			return
		}
		if m.Notes && !r.Frame.Blackout.ByUser() {
			r.Notes = h.inbox.take(m.AgentID)
		}
		if !m.Probe {
			h.noteSeen(m.AgentID)
		}
		h.Link.Send(r)
	})
	if !ok {
		h.gone(m.RequestID)
	}
}

func (h *Handler) wait(m *protocol.Wait) {
	condition, also, err := snapshot.CompileAll(m)
	if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
		bad.RequestID = m.RequestID
		h.Link.Send(bad.Reply())
		return
	}
	ok := h.Observer.Post(func(now time.Time) {
		if before := h.waits.find(now, m); before != nil {
			h.answerWait(now, m, before.result, before.notes)
			return
		}
		if m.Until.Control {
			word := h.answers.takeFor(m.AgentID, m.RequestID)
			if word == "" && h.inbox.waits(m.AgentID) {
				word = "message"
			}
			if word != "" {
				h.waited(now, m, snapshot.Result{End: snapshot.Met, Matched: word})
				return
			}
		}
		if m.Until.Control {
			h.deciding[m.RequestID] = m.AgentID
		}
		if m.Epoch != 0 {
			if m.Epoch == h.reclaimed {
				h.waited(now, m, snapshot.Result{End: snapshot.TimedOut})
				return
			}
			h.driving[m.RequestID] = m
		}
		h.Observer.Wait(now, looksAtProgram(m), snapshot.Wait{
			ID: m.RequestID, Condition: condition, Also: also, AfterSeq: m.AfterSeq, SinceSeq: m.SinceSeq, InputSeq: m.InputSeq,
			Deadline: now.Add(patience(m.TimeoutMs)),
			Done:     func(r snapshot.Result) { h.waited(time.Now(), m, r) },
		}, func(err error) {
			// Asked again, over the connection that follows one that was lost, it is the same wait: its answer goes there.
			if !errors.Is(err, snapshot.ErrWaitOpen) {
				delete(h.driving, m.RequestID)
				h.refuse(m.RequestID, protocol.CodeBusy, err.Error())
			}
		})
	})
	if !ok {
		h.gone(m.RequestID)
	}
}

// looksAtProgram reports whether it matters to a wait whether the program waits for input.
func looksAtProgram(m *protocol.Wait) bool {
	all := slices.Concat([]protocol.Until{m.Until}, m.Any, m.Stop)
	return slices.ContainsFunc(all, func(u protocol.Until) bool {
		return u.Waiting || m.InputSeq > 0 && (u.Text+u.Regex+u.Title+u.TitleRegex != "")
	})
}

// cancel ends a wait that nobody waits for any more, takes back what its asker gave up, or keeps the answer to a request for control for
// the agent's next one.
func (h *Handler) cancel(m *protocol.Cancel) {
	h.withdraw(m.RequestID, "who asked took it back, or is gone")
	if m.Withdraw {
		h.Pump.Withdraw(m.RequestID, !m.Gone)
		h.Pump.Post(func(now time.Time) { h.Control.Withdraw(now, m.RequestID) })
		h.Status.Withdraw(m.RequestID)
	}
	h.Observer.Post(func(time.Time) {
		if h.Observer.CancelWait(m.RequestID) {
			agent, decides := h.deciding[m.RequestID]
			delete(h.deciding, m.RequestID)
			if decides && m.Withdraw && !m.Gone && !slices.Contains(slices.Collect(maps.Values(h.deciding)), agent) {
				h.giveUpQuestion(agent)
			}
			delete(h.driving, m.RequestID)
			return
		}
		if agent := h.answers.leave(m.RequestID, m.Withdraw); agent != "" && slices.Contains(slices.Collect(maps.Values(h.deciding)), agent) {
			word, sent := h.answers.take(agent), false
			h.Observer.DecideWaits(func(id string) bool {
				met := !sent && h.deciding[id] == agent
				sent = sent || met
				return met
			}, word)
		}
	})
}

// giveUpQuestion takes an agent's question back whose call is over, and for whose answer the agent waited until it gave that up.
func (h *Handler) giveUpQuestion(agentID string) {
	ids := h.answers.unheard(agentID)
	h.Pump.Post(func(now time.Time) {
		for _, id := range ids {
			h.Control.Withdraw(now, id)
		}
	})
}

// decided ends the waits of one agent for a decision about its request, or for the end of its control. heard says that the agent
// is told otherwise: its input was dropped.
func (h *Handler) decided(e control.Event, word string, heard bool) {
	waiting := ""
	if !e.Granted && !e.Request && e.Reason == protocol.ReasonReclaimed {
		h.reclaimed = e.Epoch
		for id, m := range h.driving {
			if m.Epoch == e.Epoch && m.AgentID == e.Agent.ID && h.Observer.CancelWait(id) {
				heard, waiting = true, id
				h.waited(time.Now(), m, snapshot.Result{End: snapshot.TimedOut})
			}
		}
	}
	if e.Granted || e.Reason != protocol.ReasonReplaced {
		h.Observer.DecideWaits(func(id string) bool {
			agent, ok := h.deciding[id]
			ok = ok && agent == e.Agent.ID
			if ok {
				heard, waiting = true, id
			}
			return ok
		}, word)
	}
	h.answers.decided(e, word, heard)
	if waiting != "" {
		h.answers.tell(e.Agent.ID, waiting, word)
	}
}

func (h *Handler) waited(now time.Time, m *protocol.Wait, r snapshot.Result) {
	delete(h.deciding, m.RequestID)
	delete(h.driving, m.RequestID)
	if r.End == snapshot.Dear {
		h.refuse(m.RequestID, protocol.CodeBadMessage, "the wait was given up: its regular expression takes so long that what the program prints would be held up; "+
			"simplify it, or wait for a text")
		return
	}
	notes := h.inbox.take(m.AgentID)
	if !m.Until.Control || len(notes) > 0 { // else h.answers knows what became of it
		h.waits.add(waitOver{m, now, r, notes})
	}
	h.answerWait(now, m, r, notes)
}

// answerWait tells how a wait ended, with the screen as it is now.
func (h *Handler) answerWait(now time.Time, m *protocol.Wait, r snapshot.Result, notes []string) {
	out := &protocol.WaitResult{
		ID: protocol.NewID(), RequestID: m.RequestID, SessionID: h.SessionID, Met: r.End == snapshot.Met, Matched: r.Matched,
		Stood: r.Stood, Notes: notes,
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
	h.Observer.AnswerWait(now, m, out)
	h.noteSeen(m.AgentID)
	h.Link.Send(out)
}

func patience(ms int64) time.Duration {
	if ms == 0 {
		return defaultWait
	}
	return time.Duration(ms) * time.Millisecond
}
