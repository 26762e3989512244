package requests

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/feed"
	"terminalproxy/proxy/consent/control"
)

// slowDisk keeps a journal, and syncs only when the test lets it.
type slowDisk struct{ syncing, let chan struct{} }

func (d *slowDisk) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (d *slowDisk) Truncate(int64) error                   { return nil }

func (d *slowDisk) Sync() error {
	select {
	case d.syncing <- struct{}{}:
	default: // the test looks at the first ones only
	}
	<-d.let
	return nil
}

// codingAgent notes what reaches it.
type codingAgent struct {
	mu      sync.Mutex
	got     []string
	report  func(chat.Event)
	between func() // comes behind the session's last check of a grant, and before the driver's
}

func (a *codingAgent) note(what string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.got = append(a.got, what)
	return nil
}

func (a *codingAgent) act(what string, may chat.MayAct) error {
	if a.between != nil {
		a.between()
	}
	if err := may.Refusal(); err != nil {
		return err
	}
	return a.note(what)
}

func (a *codingAgent) reached() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.got
}

func (a *codingAgent) Start(report func(chat.Event)) error   { a.report = report; return nil }
func (a *codingAgent) Send(p chat.Prompt) error              { return a.act(p.Text, p.MayAct) }
func (a *codingAgent) Interrupt(may chat.MayAct) error       { return a.act("interrupt", may) }
func (a *codingAgent) Answer(id string, _ chat.Answer) error { return a.note("answer " + id) }
func (a *codingAgent) Close() error                          { a.report(chat.AgentExited{}); return nil }

// replies are the messages to the gateway that answer a request.
type replies chan protocol.Message

func (r replies) Send(m protocol.Message) {
	if protocol.RequestID(m) != "" {
		r <- m
	}
}

// generous is the ceiling of what happens at once on an idle machine.
const generous = 20 * time.Second

// mustReturn runs do, which is the pump's and so must not wait for the disk.
func mustReturn(t *testing.T, do func()) {
	t.Helper()
	returned := make(chan struct{})
	go func() { defer close(returned); do() }()
	select {
	case <-returned:
	case <-time.After(generous):
		require.FailNow(t, "the pump waits for the disk")
	}
}

type journaledChat struct {
	*stage
	disk  *slowDisk
	agent *codingAgent
	room  *feed.Room
	said  replies
}

// journaledChatAt is a stage whose coding agent has a journal on a slow disk. Agent a-2 drives.
func journaledChatAt(t *testing.T) *journaledChat {
	t.Helper()
	c := &journaledChat{
		disk:  &slowDisk{make(chan struct{}, 8), make(chan struct{}, 8)},
		agent: &codingAgent{}, said: make(replies, 2*maxActions),
	}
	session := chat.New("claude", c.agent)
	session.KeepJournal(chat.NewJournal(c.disk))
	c.stage = newStage(func(conf *Config) {
		c.room = feed.New(feed.Config{
			SessionID: conf.SessionID, Chat: session, Link: c.said, Log: conf.Log,
			Redact: func(text string) string { return text },
		})
		conf.Chat, conf.Link, conf.Recorder, conf.RemoteGrant = c.room, c.said, &people{}, true
	})
	c.room.Start()
	t.Cleanup(func() {
		close(c.disk.let) // a failing test leaves the disk waiting
		c.room.Close()
	})
	c.agent.report(chat.Ready{Conversation: "c1"})
	now := time.Now()
	require.NoError(t, c.machine.GrantFromOwner(now, control.RemoteGrant{By: "ada", Level: protocol.LevelDrive}))
	require.NoError(t, c.machine.Request(now, control.Request{ID: "q", Agent: control.Agent{ID: "a-2", Name: "codex"}, Level: protocol.LevelDrive}))
	return c
}

// What is said to a coding agent waits for the disk, and the pump does not. What an agent said
// before the user took the keyboard back does not reach the coding agent afterwards, and the agent
// is told so.
func TestNothingIsSaidAfterAReclaimDuringASlowSync(t *testing.T) {
	for name, m := range map[string]protocol.Message{
		"go":        &protocol.ChatSend{RequestID: "r1", SessionID: "sh-1", AgentID: "a-2", Text: "go"},
		"interrupt": &protocol.ChatInterrupt{RequestID: "r1", SessionID: "sh-1", AgentID: "a-2"},
	} {
		for _, reclaims := range []bool{false, true} {
			c := journaledChatAt(t)
			mustReturn(t, func() { c.Handle(m) })
			<-c.disk.syncing
			second := &protocol.ChatSend{RequestID: "r2", SessionID: "sh-1", AgentID: "a-2", Text: "second"}
			mustReturn(t, func() { c.Handle(second) })
			mustReturn(t, func() {
				c.room.SetHidden(time.Now(), true)
				c.room.SetHidden(time.Now(), false)
				if reclaims {
					require.True(t, c.machine.ReclaimKey(time.Now()))
				}
			})
			require.Empty(t, c.agent.reached())
			c.disk.let <- struct{}{}
			if reclaims {
				for _, id := range []string{"r1", "r2"} {
					no, ok := (<-c.said).(*protocol.Error)
					require.True(t, ok)
					require.Equal(t, protocol.CodeNoGrant, no.Code)
					require.Equal(t, id, no.RequestID)
					require.Contains(t, no.Message, "nothing was said")
				}
				require.Empty(t, c.agent.reached())
			} else {
				<-c.disk.syncing
				c.disk.let <- struct{}{}
				require.Equal(t, &protocol.Done{RequestID: "r1"}, <-c.said)
				require.Equal(t, &protocol.Done{RequestID: "r2"}, <-c.said)
				require.Equal(t, []string{name, "second"}, c.agent.reached())
			}
		}
	}
}

// A person's answer is not an agent's: it counts although the keyboard changed hands meanwhile.
func TestAnAnswerOutlivesAReclaimDuringASlowSync(t *testing.T) {
	c := journaledChatAt(t)
	c.agent.report(chat.RequestOpened{Request: chat.Request{ID: "a1", Tool: "Bash", Allows: []chat.Choice{{Verdict: chat.Once}}}})
	answer := &protocol.ChatAnswer{RequestID: "r1", SessionID: "sh-1", By: "ada", Request: "a1", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}}
	mustReturn(t, func() { c.Handle(answer) })
	<-c.disk.syncing
	require.True(t, c.machine.ReclaimKey(time.Now()))
	require.Empty(t, c.agent.reached())
	c.disk.let <- struct{}{}
	require.Equal(t, &protocol.Done{RequestID: "r1"}, <-c.said)
	require.Equal(t, []string{"answer a1"}, c.agent.reached())
}

// The end of a session refuses what still waits, and no goroutine is left.
func TestTheEndRefusesWhatWaitsToBeSaid(t *testing.T) {
	c := journaledChatAt(t)
	for _, id := range []string{"r1", "r2"} {
		c.Handle(&protocol.ChatSend{RequestID: id, SessionID: "sh-1", AgentID: "a-2", Text: id})
	}
	<-c.disk.syncing
	ended := make(chan struct{})
	go func() { defer close(ended); c.EndActions() }()
	require.Eventually(t, func() bool {
		c.actions.mu.Lock()
		defer c.actions.mu.Unlock()
		return c.actions.closed
	}, generous, time.Millisecond)
	c.disk.let <- struct{}{}
	<-ended
	require.Equal(t, &protocol.Done{RequestID: "r1"}, <-c.said)
	require.Equal(t, protocol.CodeExited, (<-c.said).(*protocol.Error).Code)
	require.Equal(t, []string{"r1"}, c.agent.reached())
	require.False(t, c.actions.working)
}

// What waits for the disk is bounded, and what is over that is refused at once.
func TestWhatWaitsToBeSaidIsBounded(t *testing.T) {
	c := journaledChatAt(t)
	m := &protocol.ChatSend{RequestID: "r1", SessionID: "sh-1", AgentID: "a-2", Text: "go"}
	c.Handle(m)
	<-c.disk.syncing
	for range maxActions {
		c.Handle(m)
	}
	require.Empty(t, c.said)
	c.Handle(m)
	require.Equal(t, protocol.CodeBusy, (<-c.said).(*protocol.Error).Code)
}
