package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
	"terminalproxy/proxy/detached/headless"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait for each other's messages rather than compute
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

const hostSecret = "only-this-agent-and-its-host"

// fakeGateway is the test's gateway: it knows one host and the sessions that the host starts.
type fakeGateway struct {
	t     *testing.T
	dial  fake.Dialer
	peers chan *fakePeer
	host  *fakePeer
}

// fakePeer is one of a proxy's connections.
type fakePeer struct {
	t    *testing.T
	conn fake.Conn
	in   chan protocol.Message
	sent []string
	text string // of the newest snapshot
	// holder has the keyboard, according to that snapshot.
	holder string
	size   [2]int // columns and rows of the newest resize
}

func newFakeGateway(t *testing.T) *fakeGateway {
	t.Helper()
	g := &fakeGateway{t: t, peers: make(chan *fakePeer, 16)}
	g.dial = fake.Gateway(t, func(c fake.Conn) {
		p := &fakePeer{t: t, conn: c, in: make(chan protocol.Message, 1024)}
		defer close(p.in)
		g.peers <- p
		_ = c.Answer(func(m protocol.Message) protocol.Message { p.in <- m; return nil }) // until the proxy is gone
	})
	return g
}

func (p *fakePeer) send(m protocol.Message) {
	p.t.Helper()
	require.NoError(p.t, p.conn.Send(m))
}

// hear waits for a wanted message.
func hear[T protocol.Message](p *fakePeer, wanted func(T) bool) T {
	p.t.Helper()
	timeout := time.After(fake.Soon)
	for {
		select {
		case m, ok := <-p.in:
			require.True(p.t, ok, "the connection ended after %v", p.sent)
			p.sent = append(p.sent, protocol.KindOf(m))
			switch m := m.(type) {
			case *protocol.Snapshot:
				p.text, p.holder = m.Content, m.Keyboard.Holder
			case *protocol.Resize:
				p.size = [2]int{m.Cols, m.Rows}
			}
			if got, ok := m.(T); ok && (wanted == nil || wanted(got)) {
				return got
			}
		case <-timeout:
			require.FailNow(p.t, "it was not said", "only %v", p.sent)
		}
	}
}

// waitForText waits until the session's screen shows a text.
func (p *fakePeer) waitForText(text string) {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			p.t.Logf("%q", p.text)
		}
	}()
	if !strings.Contains(p.text, text) { // it may have come with an earlier message
		hear(p, func(*protocol.Snapshot) bool { return strings.Contains(p.text, text) })
	}
}

// run runs a host until the test's end, which waits for everything that it started.
func (g *fakeGateway) run(conf headless.Config) *headless.Host {
	g.t.Helper()
	return g.serve(conf, func(conf headless.Config) *headless.Host { return NewChatHost(conf, Taste{}, nil) })
}

// serve is run for a host that is made by newHost.
func (g *fakeGateway) serve(conf headless.Config, newHost func(headless.Config) *headless.Host) *headless.Host {
	g.t.Helper()
	conf.Dial, conf.URL, conf.Key = g.dial, "ws://localhost"+protocol.PathProxy, hostSecret
	if conf.Allow == nil {
		conf.Allow = func(*protocol.ProxyStart) error { return nil }
	}
	h := newHost(conf)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); h.Run(ctx) }() // ends with cancel
	g.t.Cleanup(func() { cancel(); fake.Receive(g.t, ended, "the end of the host and of what it started") })
	g.host = g.peer()
	hello := hear[*protocol.ProxyHost](g.host, nil)
	require.Equal(g.t, hostSecret, hello.HostKey)
	g.host.send(&protocol.Done{RequestID: hello.RequestID})
	require.NoError(g.t, h.WaitReady(g.t.Context()))
	return h
}

func (g *fakeGateway) peer() *fakePeer {
	g.t.Helper()
	return fake.Receive(g.t, g.peers, "a connection")
}

func starting(command string, args ...string) *protocol.ProxyStart {
	return &protocol.ProxyStart{RequestID: "a-1:r1", Command: command, Args: args, AgentID: "a-1", AgentName: "claude"}
}

// startProgram starts a program and waits until it runs.
func (g *fakeGateway) startProgram(m *protocol.ProxyStart) (p *fakePeer, id string) {
	g.t.Helper()
	g.host.send(m)
	p = g.peer()
	open := hear[*protocol.SessionOpen](p, nil)
	require.True(g.t, open.Headless)
	answer := hear[*protocol.ProxyStarted](g.host, nil)
	require.Empty(g.t, answer.Error)
	require.Equal(g.t, m.RequestID, answer.RequestID)
	require.Equal(g.t, open.SessionID, answer.SessionID)
	return p, open.SessionID
}

// waitEnd waits for the end of a session.
func (p *fakePeer) waitEnd(code int) {
	p.t.Helper()
	require.Equal(p.t, code, hear[*protocol.SessionClose](p, nil).ExitCode)
}

// R33: the word of a gateway starts nothing.
func TestAHostStartsOnlyWhatIsAllowedR33(t *testing.T) {
	g := newFakeGateway(t)
	mark := filepath.Join(t.TempDir(), "mark")
	g.run(headless.Config{Allow: func(m *protocol.ProxyStart) error {
		return errors.New("nobody asked for " + m.Command)
	}})
	g.host.send(starting("touch", mark))
	require.Equal(t, "nobody asked for touch", hear[*protocol.ProxyStarted](g.host, nil).Error)
	require.NoFileExists(t, mark)
	require.Empty(t, g.peers)
}

func TestARepeatedStartStartsOnce(t *testing.T) {
	g := newFakeGateway(t)
	g.run(headless.Config{})
	m := starting("cat")
	_, id := g.startProgram(m)
	g.host.send(m)
	require.Equal(t, id, hear[*protocol.ProxyStarted](g.host, nil).SessionID)
	require.Empty(t, g.peers)
}

func TestAFailedStartIsASentence(t *testing.T) {
	g := newFakeGateway(t)
	g.run(headless.Config{})
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for i, c := range []struct{ change, want string }{
		{`{"command":"no-such-program"}`, "no-such-program: command not found"},
		{`{"command":"./no-such","cwd":"/"}`, "/no-such: no such file or directory"},
		{`{"cwd":"/no/such"}`, `cwd "/no/such": there is no such directory`},
		{`{"cwd":"` + file + `"}`, "it is not a directory"},
		{`{"env":["=x"]}`, `env: "=x" is not NAME=value`},
		{`{"env":["x"]}`, `env: "x" is not NAME=value`},
		{`{"env":["A=` + strings.Repeat(`","A=`, 256) + `"]}`, "the limit is 256"},
	} {
		m := starting("cat")
		m.RequestID = "a-1:e" + string(rune('a'+i))
		require.NoError(t, json.Unmarshal([]byte(c.change), m))
		g.host.send(m)
		answer := hear[*protocol.ProxyStarted](g.host, nil)
		require.Contains(t, answer.Error, c.want)
		require.Empty(t, answer.SessionID)
	}
	require.Empty(t, g.peers)
}

func TestTheProgramIsToldOfItsOwnTerminal(t *testing.T) {
	t.Setenv("TERM", "dumb")
	t.Setenv("COLUMNS", "7")
	t.Setenv("TMUX", "/tmp/another")
	t.Setenv("PROXY_TOKEN_FILE", "/secret")
	g := newFakeGateway(t)
	g.run(headless.Config{})
	m := starting("sh", "-c", `echo "$TERM/$COLUMNS/$TMUX/$PROXY_TOKEN_FILE/$MORE/$TERMINALPROXY_SESSION/$(pwd)"; stty size`)
	m.Env, m.Cwd, m.Cols, m.Rows, m.Name = []string{"MORE=yes", SessionVariable + "=forged"}, "/", 91, 31, "mine"
	p, id := g.startProgram(m)
	require.Regexp(t, `^mine-`, id)
	p.waitForText("xterm-256color////yes/" + id + "//\n31 91")
}

func TestAnIdleSessionEnds(t *testing.T) {
	g := newFakeGateway(t)
	ended := make(chan headless.Result, 1)
	g.run(headless.Config{Idle: 200 * time.Millisecond, Ended: func(r headless.Result) { ended <- r }})
	_, id := g.startProgram(starting("cat"))
	r := fake.Receive(t, ended, "the end of the idle session")
	require.Equal(t, id, r.ID)
	require.True(t, r.Idle, "who hosts it can say why it ended")
}

// A program's output and requests count as activity.
func TestActivityKeepsASessionAlive(t *testing.T) {
	g := newFakeGateway(t)
	mark := filepath.Join(t.TempDir(), "mark")
	sessions := make(chan *headless.Session, 1)
	g.serve(headless.Config{}, func(conf headless.Config) *headless.Host {
		return headless.New(conf, func(ctx context.Context, s *headless.Session) (headless.Result, error) {
			sessions <- s
			return runHosted(conf, Taste{}, nil)(ctx, s)
		})
	})
	p, id := g.startProgram(starting("sh", "-c", `until [ -e "$0" ]; do sleep 0.02; done; echo tick; exec cat`, mark))
	s := <-sessions
	before := s.LastUse()
	require.NoError(t, os.WriteFile(mark, nil, 0o600))
	p.waitForText("tick")
	printed := s.LastUse()
	require.Greater(t, printed, before)
	p.send(&protocol.Read{RequestID: "a-1:r", SessionID: id})
	hear[*protocol.ReadResult](p, nil)
	require.Greater(t, s.LastUse(), printed)
}
