package requests

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/consent/control"
)

// outside is a conversation that other agents ask in. The test plays its people.
type outside struct {
	open map[string]func(protocol.ChatClosed)
	last *protocol.ChatRequest
	fail error
}

func (o *outside) OpenRequest(q *protocol.ChatRequest, done func(protocol.ChatClosed)) error {
	if o.fail != nil {
		return o.fail
	}
	o.last, o.open[q.ID] = q, done
	return nil
}

func (o *outside) CloseRequest(id, why string) { o.close(protocol.ChatClosed{ID: id, Why: why}) }

func (o *outside) close(c protocol.ChatClosed) {
	done := o.open[c.ID]
	delete(o.open, c.ID)
	done(c)
}

func askingAt(t *testing.T) (*stage, *outside, *talked) {
	t.Helper()
	room, o := &talked{}, &outside{open: map[string]func(protocol.ChatClosed){}}
	return newStage(func(c *Config) { c.OutsideRequests, c.Recorder = o, room }), o, room
}

// ask is an agent's message that asks for an approval.
func ask(id, agent string) *protocol.ChatAsk {
	return &protocol.ChatAsk{
		RequestID: id, SessionID: "sh-1", AgentID: "id of " + agent, AgentName: agent, Tool: "Bash", Input: []byte(`{"command":"make"}`),
		Allows: []protocol.ChatChoice{{Verdict: protocol.ChatOnce}},
	}
}

// onlyResult returns the only result that was sent since the last call.
func (s *stage) onlyResult(t *testing.T) *protocol.ChatAskResult {
	t.Helper()
	s.actions.awaitIdle()
	require.Len(t, s.sent, 1)
	r, ok := s.sent[0].(*protocol.ChatAskResult)
	require.True(t, ok, "%T", s.sent[0])
	s.sent = nil
	return r
}

func TestAnotherAgentAsksInTheConversation(t *testing.T) {
	s, o, room := askingAt(t)
	m := ask("r1", "press ctrl-g")
	m.Tool, m.Why = "Ba\x1b[2Jsh\n"+string(make([]byte, 200)), "say “yes” · Ctrl+G"
	require.Empty(t, s.handle(m))
	require.Equal(t, "agent agent", o.last.By, "a name gives no orders")
	require.NotContains(t, o.last.Tool, "\x1b")
	require.Less(t, len(o.last.Tool), 100)
	require.NotContains(t, o.last.Why, "Ctrl+G")
	require.Len(t, room.did, 1)
	require.Contains(t, room.doneActs()[0], "record ask id of press ctrl-g  permission for Ba")
	id := o.last.ID
	require.NotEqual(t, m.RequestID, id, "who asks does not choose the id")
	o.close(protocol.ChatClosed{ID: id, By: "ada", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}})
	require.Equal(t, &protocol.ChatAskResult{RequestID: "r1", SessionID: "sh-1", By: "ada", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}}, s.onlyResult(t))
}

// An agent that has left, or lost its connection, has no open requests.
func TestAnUnheardRequestIsWithdrawn(t *testing.T) {
	s, o, _ := askingAt(t)
	s.handle(ask("r1", "codex"))
	s.handle(ask("r2", "codex"))
	s.sent = nil
	s.Handle(&protocol.Cancel{RequestID: "r1", SessionID: "sh-1"})
	got := s.onlyResult(t)
	require.Equal(t, "r1", got.RequestID)
	require.True(t, got.Answer.Refuses())
	require.Len(t, o.open, 1)
	s.handle(&protocol.Cancel{RequestID: "r1", SessionID: "sh-1"})
	require.Empty(t, s.sent)
	s.CancelUnheard()
	require.Equal(t, "r2", s.onlyResult(t).RequestID)
	require.Empty(t, o.open)
	require.Empty(t, s.outsiders.open)
}

func TestTheRequestsOfOthersAreBounded(t *testing.T) {
	s, o, _ := askingAt(t)
	n := 0
	one := func(agent string) *protocol.ChatAsk {
		n++
		return ask(fmt.Sprint("r", n), agent)
	}
	for range maxOpenAsksBy {
		require.Empty(t, s.handle(one("codex")))
	}
	require.Contains(t, s.mustRefuse(t, protocol.CodeBusy, one("codex")), "4 of your requests")
	s.mustRefuse(t, protocol.CodeBadMessage, ask("r1", "codex"))
	for len(o.open) < maxOpenAsks {
		require.Empty(t, s.handle(one(fmt.Sprint("bot-", n))))
	}
	require.Contains(t, s.mustRefuse(t, protocol.CodeBusy, one("gemini")), "16 requests")
	s.outsiders.askLimit.paidUntil = time.Now().Add(askBurst * askEvery)
	require.Contains(t, s.mustRefuse(t, protocol.CodeBusy, one("gemini")), "short time")
}

func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	s, o, room := askingAt(t)
	for fail, code := range map[error]protocol.Code{chat.ErrOver: protocol.CodeNoChat, errors.New("no"): protocol.CodeBadMessage} {
		o.fail = fail
		s.mustRefuse(t, code, ask("r1", "codex"))
		require.Empty(t, s.outsiders.open)
	}
	o.fail = nil
	room.doneActs()
	s.machine = control.New(control.Config{Keyboard: true})
	s.Control = stagedControl{s.machine}
	s.machine.NoteAgent(identifyAgent(s.book, "id of codex", "codex", ""))
	require.NoError(t, s.machine.MuteAgent(time.Now(), "codex", "ada"))
	s.mustRefuse(t, protocol.CodeUserRefused, ask("r1", "codex"))
	require.Empty(t, room.doneActs())
	s.over = true
	s.mustRefuse(t, protocol.CodeExited, ask("r1", "codex"))
	s.OutsideRequests = nil
	require.Contains(t, s.mustRefuse(t, protocol.CodeNoChat, ask("r1", "codex")), "--chat")
}

// remarks counts what stood over the program.
type remarks struct {
	stagedStatus
	told int
}

func (l *remarks) ShowText(string) { l.told++ }

// An agent that asks and withdraws, again and again, does not keep a line of the program's screen
// covered.
func TestAFloodOfRequestsIsNotShownForEver(t *testing.T) {
	o, over := &outside{open: map[string]func(protocol.ChatClosed){}}, &remarks{}
	s := newStage(func(c *Config) { c.OutsideRequests, c.Recorder, c.Status = o, &talked{}, over })
	for n := range 2 * announceBurst {
		id := fmt.Sprint("r", n)
		s.handle(ask(id, "sub"))
		s.outsiders.withdrawRequests(id, "taken back")
		require.Equal(t, id, s.onlyResult(t).RequestID, "it was asked")
	}
	require.Equal(t, announceBurst, over.told)
	s.outsiders.announceLimit.paidUntil = time.Time{}
	s.handle(ask("r", "sub"))
	require.Equal(t, announceBurst+1, over.told)
}

// A muted agent's further questions, and its open one, are refused.
func TestAnAgentThatOnlyAsksIsMuted(t *testing.T) {
	s, o, _ := askingAt(t)
	require.Empty(t, s.handle(ask("r1", "codex")))
	require.Empty(t, s.handle(ask("r2", "gemini")))
	require.NoError(t, s.machine.MuteAgent(time.Now(), "codex", "ada"))
	s.sent = nil
	s.CancelMuted()
	s.actions.awaitIdle()
	got := s.onlyResult(t)
	require.Equal(t, []string{"r1", "codex is muted"}, []string{got.RequestID, got.Why})
	require.True(t, got.Answer.Refuses())
	require.Len(t, o.open, 1)
	require.Contains(t, s.mustRefuse(t, protocol.CodeUserRefused, ask("r3", "codex")), "muted")
}

// An answer that allows ends the waiting, and an unanswered request does not count.
func TestARepeatedRefusalMakesTheAgentWait(t *testing.T) {
	s, o, _ := askingAt(t)
	n := 0
	asks := func(c protocol.ChatClosed) {
		n++
		require.Empty(t, s.handle(ask(fmt.Sprint("r", n), "codex")))
		c.ID = o.last.ID
		o.close(c)
		s.sent = nil
	}
	for range 3 {
		asks(protocol.ChatClosed{By: "ada", Why: "the turn was interrupted"})
		asks(protocol.ChatClosed{Why: "the connection was lost"})
	}
	asks(protocol.ChatClosed{By: "ada"})
	asks(protocol.ChatClosed{By: "ada", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}})
	asks(protocol.ChatClosed{By: "ada"})
	asks(protocol.ChatClosed{By: "ada"})
	require.Contains(t, s.mustRefuse(t, protocol.CodeBusy, ask("r", "codex")), "the user refused you: you may ask again in 10s")
	require.Empty(t, s.handle(ask("other", "gemini")))
}
