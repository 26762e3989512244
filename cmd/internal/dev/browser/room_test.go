package browser_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/rights"
	door "terminalproxy/gateway/doors/page"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	room "terminalproxy/proxy/chat/feed"
)

// coder is a coding agent that the test plays. It notes the answers.
type coder struct {
	report  func(chat.Event)
	answers chan chat.Answer
	prompts chan string
}

func (c *coder) Start(report func(chat.Event)) error { c.report = report; return nil }
func (c *coder) Send(p chat.Prompt) error            { c.prompts <- p.Text; return nil }
func (c *coder) Interrupt(chat.MayAct) error         { return nil }
func (c *coder) Answer(_ string, a chat.Answer) error {
	c.answers <- a
	return nil
}
func (c *coder) Close() error { c.report(chat.AgentExited{}); return nil }

// seat is a page's place at a switchboard.
type seat struct {
	*hub.Peer
	gone chan struct{}
	once sync.Once
}

func (s *seat) Send(m protocol.Message) error { s.Handle(m); return nil }
func (s *seat) Next() ([]byte, error) {
	m, err := s.Peer.Next(s.gone)
	if err != nil {
		return nil, err
	}
	return protocol.Encode(m)
}

func (s *seat) Close() {
	s.once.Do(func() {
		close(s.gone)
		s.Leave()
	})
}

// proxied is a real conversation behind a real switchboard and a real door. The test stands between
// room and switchboard, in a proxy's place.
type proxied struct {
	*hub.Peer
	coder *coder
	room  *room.Room
	url   string
	code  func() string

	mu  sync.Mutex
	key ed25519.PublicKey
}

// converse begins a conversation.
func converse(t *testing.T) *proxied {
	h := hub.New(nil)
	t.Cleanup(h.Close)
	p := &proxied{Peer: h.Join(hub.Member{Role: rights.RoleProxy}), coder: &coder{answers: make(chan chat.Answer, 10), prompts: make(chan string, 10)}}
	p.Handle(&protocol.SessionOpen{
		SessionID: "claude-1", Name: "claude", Command: "claude", Args: []string{}, Cwd: "/home/ada", Cols: 80, Rows: 24, StartedAt: claude().StartedAt, Chat: true,
	})
	var sending sync.Mutex // a peer belongs to one goroutine
	p.room = room.New(room.Config{
		SessionID: "claude-1", Chat: chat.New("Claude Code", p.coder), Redact: func(text string) string { return text }, Log: slog.New(slog.DiscardHandler),
		Link: sender(func(m protocol.Message) {
			sending.Lock()
			defer sending.Unlock()
			p.Handle(m)
		}),
	})
	p.room.Start()
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			m, err := p.Next(done)
			if err != nil {
				return
			}
			p.take(t, m)
		}
	}()
	t.Cleanup(func() {
		p.room.Close()
		close(done)
		<-over
	})
	p.room.SendState()
	p.openDoor(t, h)
	return p
}

type sender func(protocol.Message)

func (s sender) Send(m protocol.Message) { s(m) }

// take does what the proxy does with a conversation's messages, as much as matters here.
func (p *proxied) take(t *testing.T, m protocol.Message) {
	var err error
	switch m := m.(type) {
	case *protocol.ChatSubscribe:
		if m.RequestID != "" {
			p.room.Link.Send(&protocol.Done{RequestID: m.RequestID})
		}
		p.room.Subscribe(m.After)
		return
	case *protocol.ChatUnsubscribe:
		p.room.Unsubscribe()
		return
	case *protocol.ChatAnswer:
		if !p.signed(m.Signed(claude().StartedAt), m.SignatureB64) {
			t.Error("an answer that is not the page's")
		}
		err = p.room.Answer(m.Request, "page-k3f9", m.Answer)
	case *protocol.ChatSend:
		if !p.signed(m.Signed(claude().StartedAt), m.SignatureB64) {
			t.Error("a prompt that is not the page's")
		}
		err = p.room.Send("page-k3f9", m.Text)
	default:
		return
	}
	if id := protocol.RequestID(m); err == nil {
		p.room.Link.Send(&protocol.Done{RequestID: id})
	} else {
		p.room.Link.Send(&protocol.Error{RequestID: id, Code: protocol.CodeAnswered, Message: err.Error()})
	}
}

func (p *proxied) signed(message, signature []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return ed25519.Verify(p.key, message, signature)
}

// openDoor opens the door to pages of the owner.
func (p *proxied) openDoor(t *testing.T, h *hub.Hub) {
	g := serveOn(t, nil, auth.RoleOwner, "", func(terms *door.Terms) {
		terms.Dial = func(context.Context) (door.Link, error) {
			return &seat{Peer: h.Join(hub.Member{Role: rights.RoleViewer, Local: true}), gone: make(chan struct{})}, nil
		}
		terms.Admit = func(_ context.Context, v door.Visitor) (func(), error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.key = v.Key
			return func() {}, nil
		}
	})
	p.url, p.code = g.url, g.opening.Code
}

// askApproval lets the coding agent ask for an approval.
func (p *proxied) askApproval(id, command string) {
	input, _ := json.Marshal(map[string]string{"command": command})
	p.coder.report(chat.RequestOpened{Request: chat.Request{ID: id, Tool: "Bash", Input: input, Allows: []chat.Choice{{Verdict: chat.Once}, {Verdict: chat.ForSession, Covers: command}}}})
}

// A page answers a real conversation, and another page reads whose answer was first. The test
// measures the time from an approval's dialog to the browser's frame that draws it.
func TestAConversationThroughASwitchboard_Client(t *testing.T) {
	t.Parallel()
	p := converse(t)
	g := &gateway{t: t, url: p.url}
	open := func() *browser.Tab {
		b := openAt(g, p.code())
		browser.JS[bool](b, `location.hash = 's=claude-1', true`)
		b.WaitFor(browser.Text(".drawer header") + ` === 'Claude Code starting'`)
		return b
	}
	b := open()
	p.coder.report(chat.Ready{Conversation: "c"})
	b.WaitFor(browser.Text(".drawer header .where") + ` === 'waits for you to write'`)
	browser.JS[bool](b, `document.querySelector('.prompt textarea').value = 'run the\ntests', document.querySelector('.prompt .go').click(), true`)
	require.Equal(t, "run the\ntests", within(t, p.coder.prompts))
	b.WaitFor(browser.Text(".said-user") + `.includes('page-k3f9') && ` + browser.Text(".bubble") + ` === 'run the tests'`)

	browser.JS[bool](b, `window.drawn = {}, new MutationObserver(() => {
		for (const e of document.querySelectorAll('.card:not(.answered) pre')) if (!drawn[e.textContent]) drawn[e.textContent] = 1, requestAnimationFrame(() => setTimeout(() => { drawn[e.textContent] = Date.now(); }));
	}).observe(document.body, {childList: true, subtree: true}), true`)
	var took []time.Duration
	for i := range 20 {
		command := "go test " + string(rune('a'+i))
		began := time.Now()
		p.askApproval(command, command)
		b.WaitFor(`drawn[` + quote(command) + `] > 1`)
		took = append(took, time.UnixMilli(int64(browser.JS[float64](b, `drawn[`+quote(command)+`]`))).Sub(began))
		b.Press("Allow once")
		require.Equal(t, chat.Once, within(t, p.coder.answers).Verdict)
		b.WaitFor(`!document.querySelector('.card:not(.answered)')`)
	}
	slices.Sort(took)
	t.Logf("an approval is on the page %v after its dialog, at most %v (of %d)", took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), len(took))

	p.askApproval("last", "make")
	b.WaitFor(pressable)
	require.NoError(t, p.room.Answer("last", protocol.ByTerminal, protocol.ChatReply{Words: "no"}))
	b.WaitFor(browser.AnsweredScript("refused at the terminal: “no”"))
	require.Empty(t, within(t, p.coder.answers).Verdict)
	require.Error(t, p.room.Answer("last", "ada", protocol.ChatReply{Verdict: protocol.ChatOnce}), "the first answer counted")
}

// within returns what a channel delivers soon.
func within[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(browser.Patience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}
