package requests

import (
	"errors"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/view/snapshot"
)

// defaultWait bounds a wait that sets no limit.
const defaultWait = 10 * time.Second

// agentWaits answers agents' reads and waits. Its fields are owned by the observer's goroutine.
type agentWaits struct {
	*Config
	inbox    *inbox
	seen     *seen
	ended    recentWaits
	answers  unheardAnswers
	deciding map[string]string     // agents, by the id of their wait for a decision about control
	driving  map[string]drivenWait // waits for what was typed under a grant, by id
	// reclaimed is the epoch of the last grant that the user took back.
	reclaimed uint64
}

func newWaits(c *Config, inbox *inbox, seen *seen) *agentWaits {
	return &agentWaits{
		Config: c, inbox: inbox, seen: seen,
		deciding: make(map[string]string), driving: make(map[string]drivenWait),
	}
}

func (w *agentWaits) handleRead(m *protocol.Read) {
	o := w.Observer
	ok := o.Post(func(now time.Time) {
		r := &protocol.ReadResult{
			ID:        protocol.NewID(),
			RequestID: m.RequestID,
			SessionID: w.SessionID,
		}
		err := o.CompleteRead(now, m, r)
		if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
			w.Link.Send(bad.Reply())
			return
		}
		if err != nil {
			w.Link.Send(&protocol.Error{
				RequestID: m.RequestID,
				Code:      protocol.CodeBadMessage,
				Message:   err.Error(),
				Field:     "fromLine",
			})
			return
		}
		if m.Notes && !r.Frame.Blackout.ByUser() {
			r.Notes = w.inbox.takeNotes(m.AgentID)
		}
		if !m.Probe {
			w.seen.noteSeen(m.AgentID)
		}
		w.Link.Send(r)
	})
	if !ok {
		sendExited(w.Link, m.RequestID)
	}
}

// drivenWait is an open wait for what an agent typed under a grant: it ends with the grant.
type drivenWait struct {
	agent  string
	epoch  uint64
	cancel func() bool // false if the wait is not open
	end    func()
}

func (w *agentWaits) handleWait(m *protocol.Wait) {
	condition, also, err := snapshot.CompileAll(m)
	if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
		bad.RequestID = m.RequestID
		w.Link.Send(bad.Reply())
		return
	}
	ok := w.Observer.Post(func(now time.Time) {
		if before := w.ended.findRepeat(now, m); before != nil {
			w.sendWaitResult(now, m, before.result, before.notes)
			return
		}
		if m.Until.Control {
			word := w.answers.takeForWait(m.AgentID, m.RequestID)
			if word == "" && w.inbox.hasNote(m.AgentID) {
				word = "message"
			}
			if word != "" {
				w.finishWait(now, m, snapshot.Result{End: snapshot.Met, Matched: word})
				return
			}
			w.deciding[m.RequestID] = m.AgentID
		}
		driven := drivenWait{
			agent: m.AgentID, epoch: m.Epoch,
			cancel: func() bool { return w.Observer.CancelWait(m.RequestID) },
			end: func() {
				w.finishWait(time.Now(), m, snapshot.Result{End: snapshot.TimedOut})
			},
		}
		if !w.noteDriven(m.RequestID, driven) {
			driven.end()
			return
		}
		w.Observer.OpenWait(now, dependsOnProgram(m), snapshot.Wait{
			ID:           m.RequestID,
			Condition:    condition,
			Alternatives: also,
			AfterSeq:     m.AfterSeq,
			SinceSeq:     m.SinceSeq,
			InputSeq:     m.InputSeq,
			Deadline:     now.Add(timeoutOf(m.TimeoutMs)),
			Done:         func(r snapshot.Result) { w.finishWait(time.Now(), m, r) },
		}, func(err error) {
			// A repeat over a new connection is the same wait; its answer goes there.
			if !errors.Is(err, snapshot.ErrWaitOpen) {
				delete(w.driving, m.RequestID)
				sendError(w.Link, m.RequestID, protocol.CodeBusy, err.Error())
			}
		})
	})
	if !ok {
		sendExited(w.Link, m.RequestID)
	}
}

// noteDriven notes an open wait for what was typed under a grant. It returns false if the user has
// taken that grant back.
func (w *agentWaits) noteDriven(id string, wait drivenWait) bool {
	if wait.epoch != 0 && wait.epoch == w.reclaimed {
		return false
	}
	w.driving[id] = wait
	return true
}

// endWaitForNote ends a wait for a decision, so that its answer carries a message to the agent with
// that id, or to any agent if the id is "".
func (w *agentWaits) endWaitForNote(to string) {
	w.endFirstWait(note{to: to}.isFor, "message")
}

// endFirstWait ends one wait for a decision, of an agent that isMeant accepts.
func (w *agentWaits) endFirstWait(isMeant func(agentID string) bool, word string) {
	w.Observer.EndControlWaits(func(id string) (met string) {
		if isMeant(w.deciding[id]) {
			met, word = word, ""
		}
		return met
	})
}

// dependsOnProgram reports whether a wait depends on the program's input wait.
func dependsOnProgram(m *protocol.Wait) bool {
	all := slices.Concat([]protocol.Until{m.Until}, m.Any, m.Stop)
	return slices.ContainsFunc(all, func(u protocol.Until) bool {
		return u.Waiting || m.InputSeq > 0 && (u.Text+u.Regex+u.Title+u.TitleRegex != "")
	})
}

// cancelWait ends the wait of a call that was given up. If no wait is open, it keeps the answer to
// the call's request for the agent's next wait.
func (w *agentWaits) cancelWait(m *protocol.Cancel) {
	if w.Observer.CancelWait(m.RequestID) {
		agent, decides := w.deciding[m.RequestID]
		delete(w.deciding, m.RequestID)
		if decides && m.Withdraw && !m.Gone &&
			!hasValue(w.deciding, agent) {
			w.withdrawQuestion(agent)
		}
		delete(w.driving, m.RequestID)
		return
	}
	agent := w.answers.markAbandoned(m.RequestID, m.Withdraw)
	if hasValue(w.deciding, agent) {
		w.endFirstWait(note{to: agent}.isFor, w.answers.takeDecision(agent))
	}
}

// withdrawQuestion takes back an agent's question after it gave up waiting for the answer.
func (w *agentWaits) withdrawQuestion(agentID string) {
	ids := w.answers.abandonedRequests(agentID)
	w.Pump.Post(func(now time.Time) {
		for _, id := range ids {
			w.Control.WithdrawRequest(now, id)
		}
	})
}

// freeKeyboard is the word for the end of another agent's grant, after which an agent may ask.
const freeKeyboard = "free"

// endControlWaits ends an agent's waits for a decision or for the end of its control. heard means
// that the answer to a dropped input tells the agent already. The end of a grant also ends the
// waits of other agents, unless they have asked: the user is to answer those.
func (w *agentWaits) endControlWaits(e control.Event, word string, heard bool) {
	waiting := ""
	if !e.Granted && !e.Request && e.Reason == protocol.ReasonReclaimed {
		w.reclaimed = e.Epoch
		for id, open := range w.driving {
			if open.epoch == e.Epoch && open.agent == e.Agent.ID && open.cancel() {
				heard, waiting = true, id
				open.end()
			}
		}
	}
	// at the program's end, or if the user has left, no other agent can ask
	frees := !e.Granted && !e.Request && e.Reason != protocol.ReasonExited && e.Cause != control.Left
	w.Observer.EndControlWaits(func(id string) string {
		switch agent := w.deciding[id]; {
		case agent == e.Agent.ID && (e.Granted || e.Reason != protocol.ReasonReplaced):
			heard, waiting = true, id
			return word
		case agent != e.Agent.ID && frees && !hasValue(w.answers.open, agent):
			w.answers.markDelivered(agent, id, freeKeyboard)
			return freeKeyboard
		}
		return ""
	})
	w.answers.recordDecision(e, word, heard)
	if waiting != "" {
		w.answers.markDelivered(e.Agent.ID, waiting, word)
	}
}

func (w *agentWaits) finishWait(now time.Time, m *protocol.Wait, r snapshot.Result) {
	delete(w.deciding, m.RequestID)
	delete(w.driving, m.RequestID)
	if r.End == snapshot.Costly {
		sendError(w.Link, m.RequestID, protocol.CodeBadMessage,
			"the wait was given up: its regular expression is so slow that it would hold up the "+
				"program's output; simplify it, or wait for a text")
		return
	}
	notes := w.inbox.takeNotes(m.AgentID)
	if !m.Until.Control || len(notes) > 0 { // otherwise answers keeps the decision
		w.ended.add(endedWait{m, now, r, notes})
	}
	w.sendWaitResult(now, m, r, notes)
}

// sendWaitResult sends how a wait ended, with the present screen.
func (w *agentWaits) sendWaitResult(
	now time.Time, m *protocol.Wait, r snapshot.Result, notes []string,
) {
	out := &protocol.WaitResult{
		ID:        protocol.NewID(),
		RequestID: m.RequestID,
		SessionID: w.SessionID,
		Met:       r.End == snapshot.Met,
		Matched:   r.Matched,
		Stood:     r.Stood,
		Line:      cutAroundMatch(r.Line, r.Matched),
		Notes:     notes,
	}
	switch came := r.Alternative; {
	case came != nil:
		out.Came, out.Stopped, out.Met = &came.Until, came.Stop, !came.Stop
	case out.Met && len(m.Any)+len(m.Stop) > 0:
		out.Came = &m.Until
	}
	if !out.Met && !out.Stopped && m.Epoch != 0 && m.Epoch == w.reclaimed {
		out.Ended = protocol.ReasonReclaimed
	}
	w.Observer.CompleteWait(now, m, out)
	if out.Frame != nil {
		out.Frame.Repainting = r.Repainting
	}
	w.seen.noteSeen(m.AgentID)
	w.Link.Send(out)
}

func timeoutOf(ms int64) time.Duration {
	if ms == 0 {
		return defaultWait
	}
	return time.Duration(ms) * time.Millisecond
}
