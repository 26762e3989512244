package requests

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/record"
)

// chatHandler passes on what people and agents say in the conversation with a coding agent.
// Messages come on the link's goroutine, are checked on the pump's, and take effect on that of
// actions.
type chatHandler struct {
	*Config
	verifier *verifier
	typists  *typists
	actions  *actionQueue
}

// handleChat acts on a message in the conversation with a coding agent.
func (p *chatHandler) handleChat(m protocol.Message) {
	if p.Chat == nil {
		if id := protocol.RequestID(m); id != "" {
			sendError(p.Link, id, protocol.CodeNoChat,
				"there is no coding agent to talk to in this session: its user starts one with "+
					"proxy --chat AGENT")
		}
		return
	}
	switch m := m.(type) {
	case *protocol.ChatSubscribe:
		p.Chat.Unsubscribe()
		if m.RequestID != "" { // earlier records belong to the old subscription
			p.Link.Send(&protocol.Done{RequestID: m.RequestID})
		}
		p.Chat.Subscribe(m.After)
	case *protocol.ChatUnsubscribe:
		p.Chat.Unsubscribe()
	case *protocol.ChatSend:
		p.sendPrompt(m)
	case *protocol.ChatAnswer:
		p.answerRequest(m)
	case *protocol.ChatInterrupt:
		p.interruptTurn(m)
	}
}

// sendPrompt gives the coding agent a prompt from an agent that may press every key, or from a
// person who may speak for the owner.
func (p *chatHandler) sendPrompt(m *protocol.ChatSend) {
	by, reason := notice.Person(m.By), (*refusal)(nil)
	if m.AgentID == "" {
		by, reason = p.verifier.verifyPerson(m.By, m.At, m.Signed(p.Started.UnixMilli()), m.SignatureB64)
	}
	if reason != nil {
		sendRefusal(p.Link, m.RequestID, reason)
		return
	}
	done := &protocol.Done{RequestID: m.RequestID}
	check := func(st control.State) (control.Agent, error) {
		from, err := checkMayTalk(st, m.AgentID)
		if err == nil && m.AgentID == "" && len(m.SignatureB64) > 0 {
			err = p.typists.rejectReplay(by, m.KeyNo)
		}
		return from, err
	}
	p.checkAndAct(done, check, func(from control.Agent, mayAct chat.MayAct) error {
		if from.ID != "" {
			by = "agent " + from.Name
		}
		p.Recorder.RecordPrompt(record.Prompt, from, by, m.RequestID, m.Text)
		done.Waiting = p.Chat.WaitReason()
		if from.ID != "" {
			return p.Chat.SendForAgent(by, m.Text, mayAct)
		}
		return p.Chat.Send(by, m.Text)
	})
}

// interruptTurn needs no signature from a person: it only takes something away.
func (p *chatHandler) interruptTurn(m *protocol.ChatInterrupt) {
	check := func(st control.State) (control.Agent, error) {
		if m.AgentID == "" {
			return control.Agent{}, nil
		}
		return checkMayTalk(st, m.AgentID)
	}
	done := &protocol.Done{RequestID: m.RequestID}
	p.checkAndAct(done, check, func(from control.Agent, mayAct chat.MayAct) error {
		by := notice.Person(m.By)
		if from.ID != "" {
			by = "agent " + from.Name
		}
		p.Recorder.RecordPrompt(record.Halt, from, by, m.RequestID, "")
		if from.ID != "" {
			return p.Chat.InterruptForAgent(by, mayAct)
		}
		return p.Chat.Interrupt(by)
	})
}

// answerRequest answers the coding agent's request. Any person may refuse it, unsigned.
func (p *chatHandler) answerRequest(m *protocol.ChatAnswer) {
	by := notice.Person(m.By)
	if !m.Answer.Refuses() {
		var reason *refusal
		signed := m.Signed(p.Started.UnixMilli())
		if by, reason = p.verifier.verifyPerson(m.By, m.At, signed, m.SignatureB64); reason != nil {
			sendRefusal(p.Link, m.RequestID, reason)
			return
		}
	}
	check := func(st control.State) (from control.Agent, err error) {
		if st.Hidden && !m.Answer.Refuses() {
			err = &refusal{
				protocol.CodeBlackout,
				"the screen is hidden, and the question with it: show it first, then answer",
			}
		}
		return from, err
	}
	done := &protocol.Done{RequestID: m.RequestID}
	p.checkAndAct(done, check, func(control.Agent, chat.MayAct) error {
		if slices.Contains(p.Chat.OpenRequests(), m.Request) {
			p.Recorder.RecordPrompt(record.Answer, control.Agent{}, by, m.Request,
				describeReply(m.Answer))
		}
		return p.Chat.Answer(m.Request, by, m.Answer)
	})
}

// describeReply describes an answer to people.
func describeReply(a protocol.ChatReply) string {
	said := []string{}
	switch {
	case a.Verdict != "":
		said = append(said, "allowed, "+a.Verdict)
	case a.Refuses():
		said = append(said, "refused")
	}
	for _, id := range slices.Sorted(maps.Keys(a.Replies)) {
		said = append(said, id+" = "+strings.Join(a.Replies[id], ", "))
	}
	if a.Words != "" {
		said = append(said, a.Words)
	}
	return strings.Join(said, "; ")
}

// checkMayTalk returns the agent with that id if it may write in the conversation now; the error
// says why not. agentID is "" for a person.
func checkMayTalk(st control.State, agentID string) (control.Agent, error) {
	switch {
	case st.Hidden:
		return control.Agent{}, &refusal{
			protocol.CodeBlackout,
			"the screen is hidden: show it first, then talk",
		}
	case agentID == "":
		return control.Agent{}, nil
	case st.Phase != control.Granted || st.Agent.ID != agentID:
		return control.Agent{}, &refusal{
			protocol.CodeNoGrant,
			"you do not have the keyboard: ask for control with level drive first",
		}
	case st.Level != protocol.LevelDrive:
		return control.Agent{}, &refusal{
			protocol.CodeNoGrant,
			"your grant of level type submits nothing: ask for level drive, or type the prompt " +
				"and let the user submit it",
		}
	case st.Secret != "":
		return control.Agent{}, &refusal{
			protocol.CodeSecretPrompt,
			"the program asks for a password: the user answers it",
		}
	case st.NeverRule != "":
		return control.Agent{}, &refusal{protocol.CodeOtherProgram, ruleMessage(st)}
	case st.OtherProgram != "":
		return control.Agent{}, &refusal{
			protocol.CodeOtherProgram,
			fmt.Sprintf("the grant is for %q, and %q has the terminal", st.Program, st.OtherProgram),
		}
	case st.Paused || st.Occupied || st.Pending.Keys != "":
		return control.Agent{}, &refusal{
			protocol.CodeUserTyping,
			"the user is typing: try again in a moment",
		}
	}
	return st.Agent, nil
}

// checkAndAct calls check on the pump's goroutine, in order with the user's keys, and then queues
// act. It sends done or the error. act gets the agent that check returned, if any, and mayAct,
// which checks that this agent still has the same grant. The driver calls mayAct last: the user may
// take the keyboard back at any moment before.
func (p *chatHandler) checkAndAct(
	done *protocol.Done, check func(st control.State) (control.Agent, error),
	act func(from control.Agent, mayAct chat.MayAct) error,
) {
	answer := func(err error) {
		if err != nil {
			code, message := chatRefusal(p.Chat, err)
			sendError(p.Link, done.RequestID, code, message)
			return
		}
		p.Link.Send(done)
	}
	ok := p.Pump.Post(func(now time.Time) {
		st := p.Control.State(now)
		from, err := check(st)
		if err == nil && p.actions.isFull() {
			err = &refusal{protocol.CodeBusy, "too much waits to be said already: try again later"}
		}
		if err != nil {
			answer(err)
			return
		}
		mayAct := func() error { return checkStillGranted(p.Control, from, st.Epoch) }
		p.actions.enqueue(func(over bool) {
			if over {
				sendExited(p.Link, done.RequestID)
				return
			}
			err := mayAct()
			if err == nil {
				err = act(from, mayAct)
			}
			answer(err)
		})
	})
	if !ok {
		sendExited(p.Link, done.RequestID)
	}
}

// checkStillGranted returns why an agent may no longer act under the grant of that epoch, or nil.
func checkStillGranted(c Control, from control.Agent, epoch uint64) error {
	st := c.NewestState()
	if from.ID == "" || st.Phase == control.Granted && st.Epoch == epoch {
		return nil
	}
	return &refusal{
		protocol.CodeNoGrant,
		"your grant ended before that reached the coding agent: nothing was said",
	}
}

// chatRefusal returns the answer to an agent for an error of the conversation.
func chatRefusal(c Conversation, err error) (code protocol.Code, message string) {
	if reason, ok := errors.AsType[*refusal](err); ok {
		return reason.code, reason.message
	}
	if late, ok := errors.AsType[*chat.AnsweredError](err); ok {
		return protocol.CodeAnswered, late.Error()
	}
	switch {
	case errors.Is(err, chat.ErrNoRequest):
		open := c.OpenRequests()
		if len(open) == 0 {
			return protocol.CodeNotFound, "no request is open"
		}
		return protocol.CodeNotFound, fmt.Sprintf("no such request is open; open: %s",
			strings.Join(open, ", "))
	case errors.Is(err, chat.ErrOver):
		return protocol.CodeNoChat, "the conversation has ended: " + err.Error()
	}
	return protocol.CodeBadMessage, err.Error()
}
