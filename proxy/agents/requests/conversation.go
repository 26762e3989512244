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

// handleChat acts on a message in the conversation of the program that is a coding agent.
func (h *Handler) handleChat(m protocol.Message) {
	if h.Chat == nil {
		if id := protocol.RequestID(m); id != "" {
			sendError(
				h.Link,
				id,
				protocol.CodeNoChat,
				"there is no coding agent to talk to in this session: its user starts one with "+
					"proxy --chat AGENT",
			)
		}
		return
	}
	switch m := m.(type) {
	case *protocol.ChatSubscribe:
		h.Chat.Unsubscribe()
		if m.RequestID != "" { // earlier records belong to the old subscription
			h.Link.Send(&protocol.Done{RequestID: m.RequestID})
		}
		h.Chat.Subscribe(m.After)
	case *protocol.ChatUnsubscribe:
		h.Chat.Unsubscribe()
	case *protocol.ChatSend:
		h.sendPrompt(m)
	case *protocol.ChatImage:
		h.receiveImage(m)
	case *protocol.ChatAnswer:
		h.answerRequest(m)
	case *protocol.ChatInterrupt:
		h.interruptTurn(m)
	}
}

// sendPrompt gives the coding agent a prompt from an agent that may press every key, or from a
// person who may speak for the owner.
func (h *Handler) sendPrompt(m *protocol.ChatSend) {
	by, reason := notice.Person(m.By), (*refusal)(nil)
	if m.AgentID == "" {
		by, reason = h.verifier.verifyPerson(m.By, m.At, m.Signed(h.Started.UnixMilli()), m.SignatureB64)
	}
	if reason != nil {
		sendRefusal(h.Link, m.RequestID, reason)
		return
	}
	images, reason := h.attachedImages(m)
	if reason != nil {
		sendRefusal(h.Link, m.RequestID, reason)
		return
	}
	done := &protocol.Done{RequestID: m.RequestID}
	check := func(st control.State) (control.Agent, error) {
		from, err := h.checkMayTalk(st, m.AgentID)
		if err == nil && m.AgentID == "" && len(m.SignatureB64) > 0 {
			err = h.typists.rejectReplay(by, m.KeyNo)
		}
		return from, err
	}
	h.checkAndAct(done, check, func(from control.Agent, mayAct chat.MayAct) error {
		if from.ID != "" {
			by = "agent " + from.Name
		}
		h.Recorder.RecordPrompt(record.Prompt, from, by, m.RequestID, labelImages(m.Text, images))
		done.Waiting = h.Chat.WaitReason()
		if from.ID != "" {
			return h.Chat.SendForAgent(by, m.Text, mayAct)
		}
		return h.Chat.Send(by, m.Text, images)
	})
}

// interruptTurn needs no signature from a person: it only takes something away.
func (h *Handler) interruptTurn(m *protocol.ChatInterrupt) {
	check := func(st control.State) (control.Agent, error) {
		if m.AgentID == "" {
			return control.Agent{}, nil
		}
		return h.checkMayTalk(st, m.AgentID)
	}
	done := &protocol.Done{RequestID: m.RequestID}
	h.checkAndAct(done, check, func(from control.Agent, mayAct chat.MayAct) error {
		by := notice.Person(m.By)
		if from.ID != "" {
			by = "agent " + from.Name
		}
		h.Recorder.RecordPrompt(record.Halt, from, by, m.RequestID, "")
		if from.ID != "" {
			return h.Chat.InterruptForAgent(by, mayAct)
		}
		return h.Chat.Interrupt(by)
	})
}

// answerRequest answers the coding agent's request. Any person may refuse it, unsigned.
func (h *Handler) answerRequest(m *protocol.ChatAnswer) {
	by := notice.Person(m.By)
	if !m.Answer.Refuses() {
		var reason *refusal
		signed := m.Signed(h.Started.UnixMilli())
		if by, reason = h.verifier.verifyPerson(m.By, m.At, signed, m.SignatureB64); reason != nil {
			sendRefusal(h.Link, m.RequestID, reason)
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
	h.checkAndAct(done, check, func(control.Agent, chat.MayAct) error {
		if slices.Contains(h.Chat.OpenRequests(), m.Request) {
			h.Recorder.RecordPrompt(
				record.Answer,
				control.Agent{},
				by,
				m.Request,
				describeReply(m.Answer),
			)
		}
		return h.Chat.Answer(m.Request, by, m.Answer)
	})
}

// describeReply words an answer for people.
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
func (h *Handler) checkMayTalk(st control.State, agentID string) (control.Agent, error) {
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
	case st.Never != "":
		return control.Agent{}, &refusal{protocol.CodeOtherProgram, ruleMessage(st)}
	case st.Away != "":
		return control.Agent{}, &refusal{
			protocol.CodeOtherProgram,
			"the grant is for " + st.Program + ", and " + st.Away + " has the terminal",
		}
	case st.Paused || st.Occupied || st.Pending.Keys != "":
		return control.Agent{}, &refusal{
			protocol.CodeUserTyping,
			"the user is typing: try again in a moment",
		}
	}
	return st.Agent, nil
}

// checkAndAct asks check on the pump's goroutine, in order with the user's keys, and then has act
// done in its turn. It sends done or the error. act gets the agent that check returned, if any, and
// the condition that this agent still has the grant that it was checked under. The driver asks that
// last: the user may take the keyboard back at any moment before.
func (h *Handler) checkAndAct(
	done *protocol.Done,
	check func(st control.State) (control.Agent, error),
	act func(from control.Agent, mayAct chat.MayAct) error,
) {
	answer := func(err error) {
		if err != nil {
			code, message := h.chatRefusal(err)
			sendError(h.Link, done.RequestID, code, message)
			return
		}
		h.Link.Send(done)
	}
	ok := h.Pump.Post(func(now time.Time) {
		st := h.Control.State(now)
		from, err := check(st)
		if err == nil && h.acts.isFull() {
			err = &refusal{protocol.CodeBusy, "too much waits to be said already: try again later"}
		}
		if err != nil {
			answer(err)
			return
		}
		mayAct := func() error { return h.checkStillGranted(from, st.Epoch) }
		h.acts.queueAct(func(over bool) {
			if over {
				sendExited(h.Link, done.RequestID)
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
		sendExited(h.Link, done.RequestID)
	}
}

// checkStillGranted returns why an agent may no longer act under the grant of that epoch, or nil.
func (h *Handler) checkStillGranted(from control.Agent, epoch uint64) error {
	st := h.Control.NewestState()
	if from.ID == "" || st.Phase == control.Granted && st.Epoch == epoch {
		return nil
	}
	return &refusal{
		protocol.CodeNoGrant,
		"your grant ended before that reached the coding agent: nothing was said",
	}
}

// chatRefusal returns the answer to an agent for an error of the conversation.
func (h *Handler) chatRefusal(err error) (code protocol.Code, message string) {
	if reason, ok := errors.AsType[*refusal](err); ok {
		return reason.code, reason.message
	}
	if late, ok := errors.AsType[*chat.AnsweredError](err); ok {
		return protocol.CodeAnswered, late.Error()
	}
	switch {
	case errors.Is(err, chat.ErrNoRequest):
		open := h.Chat.OpenRequests()
		if len(open) == 0 {
			return protocol.CodeNotFound, "no request is open"
		}
		return protocol.CodeNotFound, fmt.Sprintf(
			"no such request is open; open: %s",
			strings.Join(open, ", "),
		)
	case errors.Is(err, chat.ErrOver):
		return protocol.CodeNoChat, "the conversation has ended: " + err.Error()
	}
	return protocol.CodeBadMessage, err.Error()
}
