package requests

import (
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/record"
)

// talked is a conversation that notes the acts in it, and the recording, which comes before them.
type talked struct {
	stagedRecorder
	did  []string
	open []string
	fail error
}

func (c *talked) Subscribe(uint64) { c.did = append(c.did, "subscribe") }
func (c *talked) Unsubscribe()     { c.did = append(c.did, "unsubscribe") }

func (c *talked) Send(by, text string) error {
	c.did = append(c.did, by+": "+text)
	return c.fail
}

func (c *talked) SendForAgent(by, text string, mayAct chat.MayAct) error {
	if err := mayAct(); err != nil {
		return err
	}
	return c.Send(by, text)
}

func (c *talked) WaitReason() protocol.Waiting { return "" }

func (c *talked) Answer(id, by string, a protocol.ChatReply) error {
	if !slices.Contains(c.open, id) {
		return chat.ErrNoRequest
	}
	c.did = append(c.did, by+" answers "+id+" "+a.Verdict)
	return c.fail
}

func (c *talked) Interrupt(by string) error { c.did = append(c.did, by+" interrupts"); return nil }
func (c *talked) InterruptForAgent(by string, mayAct chat.MayAct) error {
	if err := mayAct(); err != nil {
		return err
	}
	return c.Interrupt(by)
}
func (c *talked) OpenRequests() []string { return c.open }

func (c *talked) RecordPrompt(what record.Kind, from control.Agent, by, _, text string) {
	c.did = append(c.did, "record "+string(what)+" "+from.ID+" "+by+" "+text)
}

// doneActs returns the acts since the last call.
func (c *talked) doneActs() []string {
	did := c.did
	c.did = nil
	return did
}

// conversationAt is a stage with a coding agent, and a page of its owner.
func conversationAt(t *testing.T, change func(c *Config)) (*stage, *talked, *page) {
	t.Helper()
	room := &talked{open: []string{"t1", "t2"}}
	s, _, p := pageAt(t, func(c *Config) {
		c.Chat, c.Recorder = room, room
		if change != nil {
			change(c)
		}
	})
	return s, room, p
}

func (p *page) prompt(text string) *protocol.ChatSend {
	p.no++
	m := &protocol.ChatSend{RequestID: "r", SessionID: p.session, KeyNo: p.no, At: time.Now().UnixMilli(), Text: text}
	m.SignatureB64 = ed25519.Sign(p.private, m.Signed(p.started))
	return m
}

func (p *page) answer(request string, a protocol.ChatReply) *protocol.ChatAnswer {
	m := &protocol.ChatAnswer{RequestID: "r", SessionID: p.session, Request: request, Answer: a, At: time.Now().UnixMilli()}
	m.SignatureB64 = ed25519.Sign(p.private, m.Signed(p.started))
	return m
}

func TestAnOwnerTalksRemotely(t *testing.T) {
	s, room, p := conversationAt(t, nil)
	s.mustDo(t, p.prompt("go"))
	require.Equal(t, []string{"record prompt  ada go", "ada: go"}, room.doneActs())
	s.mustDo(t, p.answer("t1", protocol.ChatReply{Verdict: protocol.ChatOnce}))
	require.Equal(t, []string{"record answer  ada allowed, once", "ada answers t1 once"}, room.doneActs())
	require.Contains(t, s.mustRefuse(t, protocol.CodeNotFound, p.answer("t9", protocol.ChatReply{Verdict: protocol.ChatOnce})), "open: t1, t2")
	require.Empty(t, room.doneActs())
	room.fail = &chat.AnsweredError{By: "bob"}
	require.Contains(t, s.mustRefuse(t, protocol.CodeAnswered, p.answer("t2", protocol.ChatReply{})), "bob")
	room.fail = chat.ErrOver
	s.mustRefuse(t, protocol.CodeNoChat, p.prompt("more"))
	require.Empty(t, s.handle(&protocol.ChatSubscribe{SessionID: s.SessionID}))
	require.Empty(t, s.handle(&protocol.ChatUnsubscribe{SessionID: s.SessionID}))
}

// What gives an agent nothing needs no signature, and what gives it something has no other way.
func TestOnlyTheOwnersSignatureTalks(t *testing.T) {
	s, room, _ := conversationAt(t, nil)
	for _, m := range []protocol.Message{
		&protocol.ChatSend{RequestID: "r", SessionID: s.SessionID, Text: "go", By: "ada"},
		&protocol.ChatAnswer{RequestID: "r", SessionID: s.SessionID, Request: "t1", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}, By: "ada"},
		&protocol.ChatAnswer{RequestID: "r", SessionID: s.SessionID, Request: "t1", Answer: protocol.ChatReply{Replies: map[string][]string{"q": {"x"}}}},
	} {
		s.mustRefuse(t, protocol.CodeForbidden, m)
	}
	require.Empty(t, room.doneActs())
	s.mustDo(t, &protocol.ChatAnswer{RequestID: "r", SessionID: s.SessionID, Request: "t1", By: "ada"})
	s.mustDo(t, &protocol.ChatInterrupt{RequestID: "r", SessionID: s.SessionID, By: "ada"})
	require.Equal(t, []string{"record answer  ada refused", "ada answers t1 ", "record halt  ada ", "ada interrupts"}, room.doneActs())
}

// If everyone at the local socket may type, they may talk as well; so may clients whose gateway the
// user trusts.
func TestConversationsThatNeedNoSignature(t *testing.T) {
	for _, change := range []func(c *Config){
		func(c *Config) { c.OwnTerminal = &stagedOwn{} },
		func(c *Config) { c.RemoteGrant = true },
	} {
		s, room, _ := conversationAt(t, change)
		s.mustDo(t, &protocol.ChatSend{RequestID: "r", SessionID: s.SessionID, Text: "go", By: "bob"})
		s.mustDo(t, &protocol.ChatAnswer{RequestID: "r", SessionID: s.SessionID, Request: "t1", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}, By: "bob"})
		require.Equal(t, []string{"record prompt  bob go", "bob: go", "record answer  bob allowed, once", "bob answers t1 once"}, room.doneActs())
	}
}

// An agent says only what it could type and submit.
func TestAnAgentTalksUnderAGrant(t *testing.T) {
	s, room, _ := conversationAt(t, nil)
	send := &protocol.ChatSend{RequestID: "r", SessionID: s.SessionID, AgentID: "a-2", Text: "go"}
	halt := &protocol.ChatInterrupt{RequestID: "r", SessionID: s.SessionID, AgentID: "a-2"}
	s.mustRefuse(t, protocol.CodeNoGrant, send)
	s.mustRefuse(t, protocol.CodeNoGrant, halt)
	grant := func(level protocol.Level) {
		s.machine = control.New(control.Config{Keyboard: true})
		s.Control = stagedControl{s.machine}
		require.NoError(t, s.machine.GrantFromOwner(time.Now(), control.RemoteGrant{By: "ada", Level: level}))
		require.NoError(t, s.machine.Request(time.Now(), control.Request{ID: "q", Agent: control.Agent{ID: "a-2", Name: "gemini"}, Level: level}))
		require.Equal(t, control.Granted, s.Control.State(time.Now()).Phase)
	}
	grant(protocol.LevelType)
	require.Contains(t, s.mustRefuse(t, protocol.CodeNoGrant, send), "drive")
	grant(protocol.LevelDrive)
	require.Empty(t, room.doneActs())
	s.mustDo(t, send)
	s.mustDo(t, halt)
	require.Equal(t, []string{"record prompt a-2 agent gemini go", "agent gemini: go", "record halt a-2 agent gemini ", "agent gemini interrupts"}, room.doneActs())
	other := *send
	other.AgentID = "a-3"
	s.mustRefuse(t, protocol.CodeNoGrant, &other)
}

func TestNothingIsSaidBehindAHiddenScreen(t *testing.T) {
	s, room, p := conversationAt(t, nil)
	s.machine.SetHidden(time.Now(), true)
	s.mustRefuse(t, protocol.CodeBlackout, p.prompt("go"))
	s.mustRefuse(t, protocol.CodeBlackout, p.answer("t1", protocol.ChatReply{Verdict: protocol.ChatOnce}))
	require.Empty(t, room.doneActs())
	s.mustDo(t, p.answer("t1", protocol.ChatReply{}))
}

func TestASessionWithoutAConversationSaysSo(t *testing.T) {
	s := newStage(nil)
	require.Contains(t, s.mustRefuse(t, protocol.CodeNoChat, &protocol.ChatSend{RequestID: "r", SessionID: s.SessionID, Text: "go"}), "--chat")
	require.Empty(t, s.handle(&protocol.ChatSubscribe{SessionID: s.SessionID}))
}
