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
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/record"
)

// talk takes what somebody does in the conversation of the coding agent that is the program.
func (h *Handler) talk(m protocol.Message) {
	if h.Chat == nil {
		if id := protocol.RequestID(m); id != "" {
			h.refuse(id, protocol.CodeNoChat, "no coding agent talks in this session: its user starts one with proxy --chat AGENT")
		}
		return
	}
	switch m := m.(type) {
	case *protocol.ChatSubscribe:
		h.Chat.Unsubscribe()
		if m.RequestID != "" { // what was sent before it is of the subscription before
			h.Link.Send(&protocol.Done{RequestID: m.RequestID})
		}
		h.Chat.Subscribe(m.After)
	case *protocol.ChatUnsubscribe:
		h.Chat.Unsubscribe()
	case *protocol.ChatSend:
		h.prompts(m)
	case *protocol.ChatImage:
		h.receiveImage(m)
	case *protocol.ChatAnswer:
		h.replies(m)
	case *protocol.ChatInterrupt:
		h.halts(m)
	}
}

// prompts gives the coding agent a prompt: of an agent's that may type every key, or of a person's who may speak for the owner.
func (h *Handler) prompts(m *protocol.ChatSend) {
	by, no := notice.Person(m.By), (*refusal)(nil)
	if m.AgentID == "" {
		by, no = h.person(m.By, m.At, m.Signed(h.Started.UnixMilli()), m.SignatureB64)
	}
	if no != nil {
		h.refuse(m.RequestID, no.code, no.say)
		return
	}
	images, no := h.attachedImages(m)
	if no != nil {
		h.refuse(m.RequestID, no.code, no.say)
		return
	}
	done := &protocol.Done{RequestID: m.RequestID}
	h.inTurn(done, func(now time.Time) error {
		st := h.Control.State(now)
		from, err := h.speaks(st, m.AgentID)
		if err == nil && m.AgentID == "" && len(m.SignatureB64) > 0 {
			err = h.fresh(by, m.KeyNo)
		}
		if err != nil {
			return err
		}
		if from.ID != "" {
			by = "agent " + from.Name
		}
		h.Recorder.Talked(record.Prompt, from, by, m.RequestID, labelImages(m.Text, images))
		done.Waiting = h.Chat.Waits()
		if from.ID != "" {
			return h.Chat.Pass(by, m.Text)
		}
		return h.Chat.Send(by, m.Text, images)
	})
}

// halts interrupts the turn. A person takes something away so, and needs no signature.
func (h *Handler) halts(m *protocol.ChatInterrupt) {
	h.inTurn(&protocol.Done{RequestID: m.RequestID}, func(now time.Time) error {
		from, by := control.Agent{}, notice.Person(m.By)
		if m.AgentID != "" {
			var err error
			if from, err = h.speaks(h.Control.State(now), m.AgentID); err != nil {
				return err
			}
			by = "agent " + from.Name
		}
		h.Recorder.Talked(record.Halt, from, by, m.RequestID, "")
		return h.Chat.Interrupt(by)
	})
}

// replies answers what the coding agent asks. What refuses is done on anybody's word who gets it here.
func (h *Handler) replies(m *protocol.ChatAnswer) {
	by := notice.Person(m.By)
	if !m.Answer.Refuses() {
		var no *refusal
		if by, no = h.person(m.By, m.At, m.Signed(h.Started.UnixMilli()), m.SignatureB64); no != nil {
			h.refuse(m.RequestID, no.code, no.say)
			return
		}
	}
	h.inTurn(&protocol.Done{RequestID: m.RequestID}, func(now time.Time) error {
		if h.Control.State(now).Hidden && !m.Answer.Refuses() {
			return &refusal{protocol.CodeBlackout, "the screen is hidden, and what is asked with it: show it first, and answer then"}
		}
		if slices.Contains(h.Chat.Open(), m.Request) {
			h.Recorder.Talked(record.Answer, control.Agent{}, by, m.Request, inWords(m.Answer))
		}
		return h.Chat.Answer(m.Request, by, m.Answer)
	})
}

// inWords is an answer for people.
func inWords(a protocol.ChatReply) string {
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

// person is who speaks for the owner: who signed it, where a signature is needed. On a session without a user's terminal everybody who
// reaches its gateway as a person can type as well.
func (h *Handler) person(claimed string, at int64, signed, signature []byte) (name string, no *refusal) {
	if len(signature) > 0 {
		who, no := h.signer(time.Now(), at, signed, signature)
		return who.Name, no
	}
	if h.RemoteGrant || h.Own != nil {
		return notice.Person(claimed), nil
	}
	return "", &refusal{protocol.CodeForbidden, "only the user at the session's terminal can do that, or an owner who signs it: use an owner's page, or gateway chat with an owner token of the session's own machine"}
}

// speaks says why nobody, or that agent, may talk now; with an agent's id it is which agent that is.
func (h *Handler) speaks(st control.State, agentID string) (control.Agent, error) {
	switch {
	case st.Hidden:
		return control.Agent{}, &refusal{protocol.CodeBlackout, "the screen is hidden: show it first, and talk then"}
	case agentID == "":
		return control.Agent{}, nil
	case st.Phase != control.Granted || st.Agent.ID != agentID:
		return control.Agent{}, &refusal{protocol.CodeNoGrant, "you do not have the keyboard: ask for control with level drive first"}
	case st.Level != protocol.LevelDrive:
		return control.Agent{}, &refusal{protocol.CodeNoGrant, "your grant of level type submits nothing: ask for level drive, or type the prompt and let the user submit it"}
	case st.Secret != "":
		return control.Agent{}, &refusal{protocol.CodeSecretPrompt, "the program asks for a password: the user answers it"}
	case st.Never != "":
		return control.Agent{}, &refusal{protocol.CodeOtherProgram, keptOut(st)}
	case st.Away != "":
		return control.Agent{}, &refusal{protocol.CodeOtherProgram, "the grant is for " + st.Program + ", and " + st.Away + " has the terminal"}
	case st.Paused || st.Occupied || st.Pending.Keys != "":
		return control.Agent{}, &refusal{protocol.CodeUserTyping, "the user is typing: try again in a moment"}
	}
	return st.Agent, nil
}

// fresh refuses what an owner's key signed before. The number is the one that keys have.
func (h *Handler) fresh(by string, number uint64) error {
	t := h.typists[by]
	if t == nil {
		t = new(typist)
		h.typists[by] = t
	}
	if number <= t.last {
		return &refusal{protocol.CodeForbidden, "this prompt came before, or out of its order: nothing was said"}
	}
	t.last = number
	return nil
}

// inTurn does something on the pump's goroutine, where control cannot change meanwhile, and answers with its error.
func (h *Handler) inTurn(done *protocol.Done, do func(now time.Time) error) {
	ok := h.Pump.Post(func(now time.Time) {
		if err := do(now); err != nil {
			code, say := h.unsaid(err)
			h.refuse(done.RequestID, code, say)
			return
		}
		h.Link.Send(done)
	})
	if !ok {
		h.gone(done.RequestID)
	}
}

// unsaid words why something was not said.
func (h *Handler) unsaid(err error) (code protocol.Code, say string) {
	if no, ok := errors.AsType[*refusal](err); ok {
		return no.code, no.say
	}
	if late, ok := errors.AsType[*chat.AnsweredError](err); ok {
		return protocol.CodeAnswered, late.Error()
	}
	switch {
	case errors.Is(err, chat.ErrNoRequest):
		open := h.Chat.Open()
		if len(open) == 0 {
			return protocol.CodeNotFound, "no such request is open: none is"
		}
		return protocol.CodeNotFound, fmt.Sprintf("no such request is open; open: %s", strings.Join(open, ", "))
	case errors.Is(err, chat.ErrOver):
		return protocol.CodeNoChat, "the conversation has ended: " + err.Error()
	}
	return protocol.CodeBadMessage, err.Error()
}
