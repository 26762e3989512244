package requests

import (
	"errors"
	"fmt"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/display/notice"
)

// grants handles agents' requests for control and its release, and reports changes of control to
// them.
type grants struct {
	*Config
	verifier *verifier
	book     *names.Book
	inbox    *inbox
	waits    *agentWaits
	line     *Line
	tally    *typedTally
	// partingNote is the message with which an agent gives the keyboard back. Owned by the pump's
	// goroutine.
	partingNote string
}

func (g *grants) handleControlRequest(m *protocol.ControlRequest) {
	r := control.Request{
		ID: m.RequestID, Level: m.Level,
		Agent:  identifyAgent(g.book, m.AgentID, m.AgentName, m.TokenID),
		Reason: notice.Reason(m.Why), For: time.Duration(m.Seconds) * time.Second,
		Program: claimedProgram(m.Program), Parent: claimedProgram(m.Parent),
	}
	r.Agent.Token = g.verifier.provenToken(time.Now(), m)
	if g.RuleGrant != nil {
		r.RuleGrant = g.RuleGrant(r.Agent, r.Level)
	}
	// First, because the agent may cancel its wait right after the pump has the request.
	g.Observer.Post(func(time.Time) {
		g.waits.answers.noteRequest(r.Agent.ID, r.ID)
		g.waits.seen.noteFirst(r.Agent.ID)
	})
	ok := g.Pump.Post(func(now time.Time) {
		err := g.askControl(now, r)
		g.Recorder.RecordRequest(r, err)
		if err != nil {
			g.Observer.Post(func(time.Time) { delete(g.waits.answers.open, r.ID) })
			g.Link.Send(notNowError(m.RequestID, err))
		}
	})
	if !ok {
		sendExited(g.Link, m.RequestID)
	}
}

// askControl puts an agent's request for control to the user. An agent gets the keyboard of its
// own, unattended terminal without asking. It runs on the pump's goroutine.
func (g *grants) askControl(now time.Time, r control.Request) error {
	if g.OwnTerminal == nil {
		return g.Control.Request(now, r)
	}
	owner := g.OwnTerminal.Agent()
	if r.Agent.ID == owner.ID && g.OwnTerminal.IsUnattended() &&
		g.Control.State(now).Phase == control.Observing {
		g.Control.GrantOwnTerminal(now, r)
		return nil
	}
	err := g.Control.Request(now, r)
	if errors.Is(err, control.ErrNobody) {
		return fmt.Errorf(
			"this terminal is %s's own, and no person is attached to it: a person "+
				"attaches with gateway attach %s", owner.Name, g.SessionID,
		)
	}
	return err
}

func (g *grants) handleRelease(m *protocol.ControlRelease) {
	why := protocol.ReasonReleased
	if m.Gone {
		why = protocol.ReasonLink
		g.book.NoteGone(m.AgentID)
	}
	ok := g.Pump.Post(func(now time.Time) {
		if !g.Control.Release(now, m.AgentID, why) && !m.Gone {
			sendError(g.Link, m.RequestID, protocol.CodeNoGrant,
				"you do not have the keyboard: there is nothing to release")
			return
		}
		if !m.Gone {
			g.partingNote = notice.Reason(m.Note) // shown with the event, once the queue is empty
		}
		g.Link.Send(&protocol.Done{RequestID: m.RequestID})
	})
	if !ok {
		sendExited(g.Link, m.RequestID)
	}
}

// reportEvent implements [Handler.ControlEvent].
func (g *grants) reportEvent(e control.Event) {
	ids := e.Requests
	if len(ids) == 0 {
		ids = []string{""}
	}
	var notes []string
	// The event is the answer to the agent, and carries the user's messages.
	if ids[0] != "" && !e.Withdrawn && e.Reason != protocol.ReasonReplaced {
		notes = g.inbox.takeNotes(e.Agent.ID)
	}
	for _, id := range ids {
		if e.Granted {
			g.Link.Send(&protocol.ControlGrant{
				ID:        protocol.NewID(),
				SessionID: g.SessionID,
				RequestID: id,
				AgentID:   e.Agent.ID,
				AgentName: e.Agent.Name,
				Level:     e.Level,
				Epoch:     e.Epoch,
				ExpiresAt: protocol.Milli(e.Until),
				By:        e.Decider(),
				Notes:     notes,
			})
			continue
		}
		g.Link.Send(&protocol.ControlRevoke{
			ID:               protocol.NewID(),
			SessionID:        g.SessionID,
			RequestID:        id,
			AgentID:          e.Agent.ID,
			AgentName:        e.Agent.Name,
			Epoch:            e.Epoch,
			Reason:           e.Reason,
			By:               e.Decider(),
			DroppedBytes:     e.Dropped,
			UnsubmittedBytes: e.Unsubmitted,
			Notes:            notes,
		})
	}
	word, parting := string(e.Reason), g.partingNote
	g.Recorder.RecordControl(e, parting)
	did := g.tally.summarize(e)
	g.partingNote = ""
	if e.Granted {
		word, *g.tally = "granted", typedTally{}
	}
	show := func(line string) { g.Status.ShowControlChange(e, line, parting, did) }
	if e.Unsubmitted == 0 || e.Granted {
		show("")
	} else {
		g.line.callWithLeftover(show, func() {})
	}
	g.Observer.Post(func(time.Time) { g.waits.endControlWaits(e, word, e.Dropped > 0) })
}

// endSentence returns why an agent's control ended, as a sentence to that agent.
func endSentence(e control.Event) string {
	switch e.Cause {
	case control.Closing:
		return "the user's window was closed, or the session was told to end: the program " +
			"is about to"
	case control.Left:
		return "the user left this terminal, which goes on without a window: you can ask when " +
			"they are back"
	case control.Suspended:
		text := "the user suspended the program, or put it into the background"
		if !e.Request {
			text += "; they are asked whether you go on when they return"
		}
		return text
	case control.Flooded:
		return "the program does not read, and the user's input meanwhile could no longer be held"
	case control.Muted:
		return "the user muted you until the end of the session"
	case control.NoCause, control.Causes:
	}
	switch e.Reason {
	case protocol.ReasonReclaimed:
		if e.By != "" {
			return notice.Clean(e.By, 40) + " took the keyboard back from elsewhere"
		}
		return "the user took the keyboard back"
	case protocol.ReasonRefused:
		return "the user refused to give you the keyboard"
	case protocol.ReasonReleased:
		if e.Withdrawn {
			return "the call with which you asked for the keyboard was given up"
		}
		return "you gave the keyboard back"
	case protocol.ReasonExpired:
		return "the time of your grant is up"
	case protocol.ReasonLink:
		if e.Absent {
			return "your grant ended because you were silent for 2 minutes (an open wait does " +
				"not count as silence)"
		}
		return "your grant ended when the connection was lost"
	case protocol.ReasonExited:
		return "the program ended"
	case protocol.ReasonReplaced:
		return "a newer request of yours took its place"
	}
	return "your grant has ended"
}
