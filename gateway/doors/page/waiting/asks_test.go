package waiting_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/doors/page/waiting"
	"terminalproxy/protocol"
)

// gateway is a scripted gateway.
type gateway struct {
	t *testing.T

	mu       sync.Mutex
	sessions map[string]*protocol.SessionInfo
	links    map[*link]bool
	dialled  int
	lists    int // requests
	secrets  []*protocol.SecretAsk
	told     []string
	at       []time.Time
}

type link struct {
	g    *gateway
	out  chan []byte
	gone chan struct{}
	once sync.Once
}

func (g *gateway) dial(context.Context) (waiting.Link, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dialled++
	l := &link{g: g, out: make(chan []byte, 100), gone: make(chan struct{})}
	g.links[l] = true
	return l, nil
}

func (l *link) Next() ([]byte, error) {
	select {
	case frame := <-l.out:
		return frame, nil
	case <-l.gone:
		return nil, errors.New("gone")
	}
}

func (l *link) Close() {
	l.once.Do(func() { close(l.gone) })
}

func (l *link) put(m protocol.Message) {
	frame, err := protocol.Encode(m)
	if err != nil {
		l.g.t.Error(err)
	}
	l.out <- frame
}

func (l *link) Send(m protocol.Message) error {
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	var all []protocol.SessionInfo
	for _, s := range l.g.sessions {
		all = append(all, *s)
	}
	switch m := m.(type) {
	case *protocol.SessionsWatch:
		l.put(&protocol.Done{RequestID: m.RequestID})
		l.put(&protocol.SessionsChanged{Full: true, Sessions: all})
	case *protocol.SessionsList:
		l.g.lists++
		l.put(&protocol.SessionsListResult{RequestID: m.RequestID, Sessions: all})
	case *protocol.SecretWatch:
		for _, ask := range l.g.secrets {
			l.put(ask)
		}
		l.put(&protocol.Done{RequestID: m.RequestID})
	default:
		l.g.t.Errorf("a %T", m)
	}
	return nil
}

// change changes a session; quiet sends no update.
func (g *gateway) change(id string, quiet bool, change func(*protocol.SessionInfo)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.sessions[id]
	if s == nil {
		s = &protocol.SessionInfo{SessionID: id, Name: "vim", Command: "vim", Args: []string{}, Cols: 80, Rows: 24, State: protocol.StateRunning, Keyboard: protocol.Keyboard{Holder: protocol.HolderUser, Epoch: 3}}
		g.sessions[id] = s
	}
	change(s)
	if quiet {
		return
	}
	for l := range g.links {
		l.put(&protocol.SessionsChanged{Sessions: []protocol.SessionInfo{*s}})
	}
}

// cut ends the open connections.
func (g *gateway) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for l := range g.links {
		l.Close()
		delete(g.links, l)
	}
}

// heard returns what was told so far.
func (g *gateway) heard() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string{}, g.told...)
}

func asking(s *protocol.SessionInfo) {
	s.Keyboard.Asking, s.Keyboard.AskingReason, s.Keyboard.AskingLevel = "claude", "hush", protocol.LevelDrive
}

// runWatched runs a test beside a watch with ten seconds of patience.
func runWatched(t *testing.T, do func(g *gateway)) {
	t.Helper()
	runWith(t, waiting.Config{}, do)
}

// runWith is runWatched with more of a configuration.
func runWith(t *testing.T, conf waiting.Config, do func(g *gateway)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &gateway{t: t, sessions: make(map[string]*protocol.SessionInfo), links: make(map[*link]bool)}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			conf.Dial, conf.After = g.dial, 10*time.Second
			conf.Report = func(a waiting.Ask) {
				g.mu.Lock()
				defer g.mu.Unlock()
				g.told, g.at = append(g.told, a.Text()), append(g.at, time.Now())
			}
			waiting.Run(ctx, conf)
		})
		synctest.Wait()
		do(g)
		cancel()
		wg.Wait()
	})
}

func TestAnAskIsToldOnceAfterAWhile(t *testing.T) {
	runWatched(t, func(g *gateway) {
		began := time.Now()
		g.change("vim-1", false, asking)
		time.Sleep(9 * time.Second)
		require.Empty(t, g.heard())
		time.Sleep(time.Hour)
		require.Equal(t, []string{"claude asks in vim-1"}, g.heard())
		require.Equal(t, 10*time.Second, g.at[0].Sub(began))
		require.Equal(t, 1, g.lists, "it asks for the list when something is due, and not otherwise")
		g.change("vim-1", false, func(s *protocol.SessionInfo) { s.Title = "new" })
		g.cut()
		time.Sleep(time.Hour)
		require.Len(t, g.heard(), 1, "the same question, on another connection")
		g.change("vim-1", false, func(s *protocol.SessionInfo) { s.Keyboard.Asking = "" })
		g.change("vim-1", false, asking)
		time.Sleep(time.Hour)
		require.Len(t, g.heard(), 2, "it asks anew")
		g.change("vim-1", false, func(s *protocol.SessionInfo) { s.Keyboard.AskingReason = "other" })
		time.Sleep(time.Hour)
		require.Len(t, g.heard(), 3, "for something else")
	})
}

func TestAViewerIsNotNotified(t *testing.T) {
	runWatched(t, func(g *gateway) {
		g.change("vim-1", true, func(s *protocol.SessionInfo) { asking(s); s.Viewed = true })
		g.cut()
		time.Sleep(time.Minute)
		require.Empty(t, g.heard(), "a page shows it")
		g.change("vim-1", true, func(s *protocol.SessionInfo) { s.Viewed = false })
		time.Sleep(time.Minute)
		require.Equal(t, []string{"claude asks in vim-1"}, g.heard())

		g.change("vim-2", false, asking)
		for range 5 { // keys at the desk, which the watch does not see
			time.Sleep(9 * time.Second)
			g.change("vim-2", true, func(s *protocol.SessionInfo) { s.UsedAt = time.Now().UnixMilli() })
		}
		last := time.Now()
		require.Len(t, g.heard(), 1)
		time.Sleep(time.Hour)
		require.Len(t, g.heard(), 2)
		require.Equal(t, 10*time.Second, g.at[1].Sub(last))
	})
}

func TestWhatWaitsForAPerson(t *testing.T) {
	drives := func(s *protocol.SessionInfo) {
		s.Keyboard.Holder, s.Keyboard.AgentName = protocol.HolderAgent, "codex"
	}
	for name, c := range map[string]struct {
		change func(*protocol.SessionInfo)
		want   []string
	}{
		"an agent drives":    {drives, []string{}},
		"its input is held":  {func(s *protocol.SessionInfo) { drives(s); s.Keyboard.Held = true }, []string{"codex waits in x-1"}},
		"a password, nobody": {func(s *protocol.SessionInfo) { drives(s); s.Blackout = &protocol.Hidden{Unattended: true} }, []string{"codex waits in x-1"}},
		"a password, a user": {func(s *protocol.SessionInfo) { drives(s); s.Blackout = &protocol.Hidden{} }, []string{}},
		"it has ended":       {func(s *protocol.SessionInfo) { asking(s); s.State = protocol.StateExited }, []string{}},
		"a hostile name": {func(s *protocol.SessionInfo) {
			asking(s)
			s.Keyboard.Asking = "a\r\nb\x1b[2J\u202e" + strings.Repeat("x", 100)
		}, []string{"ab[2J" + strings.Repeat("x", 35) + "… asks in x-1"}},
		"a coding agent's approval": {func(s *protocol.SessionInfo) {
			s.Chat = &protocol.ChatState{Agent: "Claude Code", State: protocol.ChatApproval, Open: 1, Why: "hush"}
		}, []string{"Claude Code asks in x-1"}},
		"a coding agent at work": {func(s *protocol.SessionInfo) {
			s.Chat = &protocol.ChatState{Agent: "Claude Code", State: protocol.ChatWorking}
		}, []string{}},
		"no name": {func(s *protocol.SessionInfo) { asking(s); s.Keyboard.Asking = "\u200b" }, []string{"an agent asks in x-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			runWatched(t, func(g *gateway) {
				g.change("x-1", false, c.change)
				time.Sleep(time.Hour)
				require.Equal(t, c.want, g.heard())
			})
		})
	}
}

// Each request is told once, whatever happens to the keyboard meanwhile.
func TestEachTimeACodingAgentAsks(t *testing.T) {
	runWatched(t, func(g *gateway) {
		open := func(n int) {
			g.change("x-1", false, func(s *protocol.SessionInfo) { s.Chat = &protocol.ChatState{Agent: "Claude Code", Open: n} })
		}
		for _, n := range []int{1, 0, 2, 1} {
			open(n)
			time.Sleep(time.Minute)
			g.change("x-1", false, func(s *protocol.SessionInfo) { s.Keyboard.Epoch++ })
			time.Sleep(time.Minute)
		}
		require.Equal(t, []string{"Claude Code asks in x-1", "Claude Code asks in x-1"}, g.heard())
	})
}

// A request closed while another one opens is told apart by its number. Requests behind the open
// one are not told.
func TestACodingAgentAsksAgainAtOnce(t *testing.T) {
	runWatched(t, func(g *gateway) {
		for _, c := range []protocol.ChatState{{Open: 1, Oldest: 1}, {Open: 1, Oldest: 2}, {Open: 2, Oldest: 2}, {Open: 1, Oldest: 3}} {
			g.change("x-1", false, func(s *protocol.SessionInfo) {
				s.Chat = &c
				s.Chat.Agent = "Claude Code"
			})
			time.Sleep(time.Hour)
		}
		require.Len(t, g.heard(), 3)
	})
}

func TestItComesBackToAGateway(t *testing.T) {
	runWatched(t, func(g *gateway) {
		for range 3 {
			g.cut()
			time.Sleep(time.Minute)
		}
		g.change("vim-1", false, asking)
		time.Sleep(time.Minute)
		require.Len(t, g.heard(), 1)
		require.Equal(t, 4, g.dialled)
	})
}

func TestAnAnswerInTime(t *testing.T) {
	runWatched(t, func(g *gateway) {
		g.change("vim-1", false, asking)
		time.Sleep(9 * time.Second)
		g.change("vim-1", false, func(s *protocol.SessionInfo) { s.Keyboard.Asking = "" })
		time.Sleep(time.Hour)
		require.Empty(t, g.heard())
		require.Zero(t, g.lists)
	})
}

// say sends all links a message.
func (g *gateway) say(m protocol.Message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for l := range g.links {
		l.put(m)
	}
}

// A program's question for a secret is told once, without its words, if it still waits after a
// while.
func TestAQuestionForASecretIsTold(t *testing.T) {
	ask := func(id, session, agent string) *protocol.SecretAsk {
		return &protocol.SecretAsk{
			RequestID: id, SessionID: session, Kind: protocol.SecretHidden, Prompt: "hush", PublicKeyB64: []byte("k"),
			Asker: protocol.SecretAsker{Program: "sudo", Command: "sudo hush", Agent: agent},
		}
	}
	runWith(t, waiting.Config{Secrets: true, Session: "sh-1"}, func(g *gateway) {
		g.say(ask("1", "sh-1", "codex"))
		g.say(ask("2", "sh-1", ""))
		g.say(ask("3", "other-2", "codex"))
		time.Sleep(9 * time.Second)
		g.say(&protocol.SecretEnded{Question: "2", SessionID: "sh-1"})
		require.Empty(t, g.heard())
		time.Sleep(time.Hour)
		require.Equal(t, []string{"codex needs an answer for a program"}, g.heard())
		require.Zero(t, g.lists)

		g.mu.Lock()
		g.secrets = []*protocol.SecretAsk{ask("1", "sh-1", "codex"), ask("4", "sh-1", "")}
		g.mu.Unlock()
		g.cut()
		time.Sleep(time.Hour)
		require.Equal(t, []string{"codex needs an answer for a program", "a program of yours needs an answer for a program"}, g.heard())
	})
	runWatched(t, func(g *gateway) {
		g.say(ask("1", "sh-1", "codex")) // a viewer's watch asks for none
		g.cut()
		time.Sleep(time.Minute)
	})
}
