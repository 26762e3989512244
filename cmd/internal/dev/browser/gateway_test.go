package browser_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	door "terminalproxy/gateway/doors/page"
	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
)

func TestMain(m *testing.M) { browser.RunTests(m) }

// gateway is a scripted gateway behind the real door: it has the test's sessions, shows what the
// test prints, and notes what pages send.
type gateway struct {
	t       *testing.T
	door    *door.Door
	opening *door.Opening
	url     string

	mu       sync.Mutex
	sessions []*protocol.SessionInfo
	screens  map[string]*screen.Screen
	links    map[*link]bool
	sent     []protocol.Message
	heard    chan struct{} // closed and replaced when something was sent
	key      ed25519.PublicKey
	words    []string
	away     bool   // connecting is impossible
	epoch    uint64 // a decision that grants under another epoch is void; 0 for any epoch
	noKeys   *protocol.Error
	typing   *protocol.AgentTyped // what an agent typed last
	talks    map[string]*talk     // conversations of coding agents, by session
	noChat   *protocol.Error      // the answer to all messages in conversations; nil for none
	secrets  map[string]*secret   // questions of programs, by id
	noSecret *protocol.Error      // the answer to all answers to those; nil for none
	hold     chan struct{}        // an owner's page is let in only once this is closed; nil for at once
	asked    int                  // programs' questions so far
	skipped  uint64               // lines that were printed and are not in the model
	typedTo  uint64               // the number of the last keys that waitTyped has seen
}

// link is a page's connection to the gateway.
type link struct {
	g       *gateway
	out     chan []byte
	gone    chan struct{}
	once    sync.Once
	watches bool
	silent  bool
	// watchesSecrets: it gets programs' questions.
	watchesSecrets bool
	views          map[string]*viewed
	talks          map[string]bool // conversations that it follows
}

type viewed struct {
	last    *protocol.Rows
	waiting bool // for an acknowledgement
	changed bool
}

// serve opens a door of a role, before scripted sessions.
func serve(t *testing.T, role auth.Role, only string, sessions ...*protocol.SessionInfo) *gateway {
	return serveOn(t, role, only, func(*door.Terms) {}, sessions...)
}

// serveOn is serve with other terms.
func serveOn(t *testing.T, role auth.Role, only string, change func(*door.Terms), sessions ...*protocol.SessionInfo) *gateway {
	browser.ChromiumPath(t) // nothing else opens the door
	g := &gateway{t: t, screens: make(map[string]*screen.Screen), links: make(map[*link]bool), heard: make(chan struct{}), talks: make(map[string]*talk)}
	for _, s := range sessions {
		g.add(s)
	}
	d, err := door.New(door.Config{Version: "test"})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	terms := door.Terms{
		Role: role, Session: only, Expires: time.Now().Add(time.Hour), Dial: g.dial,
		Admit: func(_ context.Context, v door.Visitor) (func(), error) {
			if g.hold != nil {
				<-g.hold
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			g.key, g.words = v.Key, v.Words
			return func() {}, nil
		},
	}
	change(&terms)
	g.opening, err = d.Open(terms)
	require.NoError(t, err)
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	g.door, g.url = d, s.URL
	return g
}

// session is a running session, as a list describes it.
func session(id, cwd, command string, args ...string) *protocol.SessionInfo {
	return &protocol.SessionInfo{
		SessionID: id, Name: command, Command: command, Args: args, Cwd: cwd, Cols: 80, Rows: 24, StartedAt: 1767225600000,
		State: protocol.StateRunning, IdleMs: 60_000, Keyboard: protocol.Keyboard{Holder: protocol.HolderUser, Epoch: 3},
	}
}

func vim() *protocol.SessionInfo {
	return session("vim-1", "/home/ada/src/shop", "/usr/bin/vim", "main.go")
}

// asking is a session in which an agent asks for the keyboard.
func asking(agent, reason string, level protocol.Level) *protocol.SessionInfo {
	s := session("psql-1", "/home/ada/src/shop", "psql", "orders")
	s.Keyboard.Asking, s.Keyboard.AskingReason, s.Keyboard.AskingLevel = agent, reason, level
	return s
}

func drive(s *protocol.SessionInfo) {
	s.Keyboard = protocol.Keyboard{
		Holder: protocol.HolderAgent, AgentName: "claude", Level: protocol.LevelDrive, Epoch: 4,
		ExpiresAt: time.Now().Add(time.Hour).UnixMilli(),
	}
}

func never(s *protocol.SessionInfo) {
	s.Keyboard.Asking, s.Keyboard.AskingReason, s.Keyboard.AskingLevel = "", "", ""
}

func (g *gateway) add(s *protocol.SessionInfo) {
	g.sessions = append(g.sessions, s)
	g.screens[s.SessionID] = screen.New(screen.Config{Cols: s.Cols, Rows: s.Rows, Scrollback: 1000})
}

func (g *gateway) dial(context.Context) (door.Link, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.away {
		return nil, errors.New("away")
	}
	l := &link{g: g, out: make(chan []byte, 1000), gone: make(chan struct{}), views: make(map[string]*viewed), talks: make(map[string]bool)}
	g.links[l] = true
	return l, nil
}

// Send handles a page's message.
func (l *link) Send(m protocol.Message) error {
	g := l.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.silent {
		return nil
	}
	g.sent = append(g.sent, m)
	close(g.heard)
	g.heard = make(chan struct{})
	l.answer(m)
	return nil
}

// Next returns the page's next message.
func (l *link) Next() ([]byte, error) {
	select {
	case frame := <-l.out:
		return frame, nil
	case <-l.gone:
		return nil, errors.New("gone")
	}
}

// Close ends the link.
func (l *link) Close() {
	l.once.Do(func() { close(l.gone) })
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	delete(l.g.links, l)
}

func (l *link) put(m protocol.Message) {
	frame, err := protocol.Encode(m)
	if err != nil {
		l.g.t.Errorf("%T: %v", m, err)
		return
	}
	l.out <- frame
}

func (l *link) answer(m protocol.Message) {
	done := &protocol.Done{RequestID: protocol.RequestID(m)}
	switch m := m.(type) {
	case *protocol.SessionsWatch:
		l.watches = true
		l.put(done)
		all := l.g.list()
		for first := true; first || len(all) > 0; first = false {
			n := min(len(all), 200)
			l.put(&protocol.SessionsChanged{Full: first, Sessions: all[:n], More: n < len(all)})
			all = all[n:]
		}
	case *protocol.SessionsList:
		all, next := l.g.list(), ""
		from, _ := strconv.Atoi(m.After) // the first page begins at 0
		to := min(from+2000, len(all))
		if to < len(all) {
			next = strconv.Itoa(to)
		}
		l.put(&protocol.SessionsListResult{RequestID: m.RequestID, Sessions: all[from:to], Next: next})
	case *protocol.View:
		l.put(done)
		l.views[m.SessionID] = &viewed{changed: true}
		l.offer(m.SessionID)
	case *protocol.Unview:
		delete(l.views, m.SessionID)
	case *protocol.Ack:
		if v := l.views[m.SessionID]; v != nil && v.last != nil && v.last.Seq == m.Seq {
			v.waiting = false
			l.offer(m.SessionID)
		}
	case *protocol.Read:
		l.put(l.g.history(m))
	case *protocol.ControlDecide:
		if l.g.epoch != 0 && m.Widens() && m.Epoch != l.g.epoch {
			l.put(&protocol.Error{RequestID: m.RequestID, Code: protocol.CodeBusy, Message: "look again"})
			return
		}
		l.put(done)
	case *protocol.ChatSubscribe:
		l.put(done)
		l.talks[m.SessionID] = true
		l.catchUp(m.SessionID, m.After)
	case *protocol.ChatUnsubscribe:
		delete(l.talks, m.SessionID)
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt:
		if l.g.noChat != nil {
			l.put(protocol.WithRequestID(l.g.noChat, protocol.RequestID(m)))
			return
		}
		l.put(done)
	case *protocol.SecretReply:
		if l.g.noSecret != nil {
			l.put(protocol.WithRequestID(l.g.noSecret, m.RequestID))
			return
		}
		l.put(done)
	case *protocol.SecretWatch:
		l.watchesSecrets = true
		for _, s := range l.g.secrets {
			l.put(s.ask)
		}
		l.put(done)
	case *protocol.Keys:
		if l.g.noKeys != nil {
			l.put(protocol.WithRequestID(l.g.noKeys, m.RequestID))
			return
		}
		l.put(done)
	default:
		l.put(done)
	}
}

func (g *gateway) list() (all []protocol.SessionInfo) {
	for _, s := range g.sessions {
		all = append(all, *s)
	}
	return all
}

// offer sends the rows that a viewer lacks, unless it has yet to acknowledge some.
func (l *link) offer(id string) {
	v := l.views[id]
	if v == nil || v.waiting || !v.changed {
		return
	}
	m := message(l.g.screens[id])
	m.Line += l.g.skipped
	m.SessionID, m.Seq = id, 1
	c := l.g.screens[id].Cursor()
	m.Cursor = protocol.Cursor{Row: c.Row, Col: c.Col, Visible: c.Visible}
	s := l.g.sessions[slices.IndexFunc(l.g.sessions, func(s *protocol.SessionInfo) bool { return s.SessionID == id })]
	m.State.Title, m.State.Keyboard, m.State.Blackout, m.State.Typed = s.Title, s.Keyboard, s.Blackout, l.g.typing
	if s.Blackout.ByUser() {
		m.Line, m.Lines = 0, make([]string, m.Rows)
	}
	if v.last != nil {
		m.Seq = v.last.Seq + 1
	}
	l.put(m.Difference(v.last))
	v.last, v.waiting, v.changed = m, true, false
}

// history answers a read of a session's history, as its proxy would.
func (g *gateway) history(m *protocol.Read) protocol.Message {
	s := g.screens[m.SessionID]
	oldest := g.skipped + s.HistoryNumber()
	stop := oldest + uint64(s.HistoryLen())
	first := stop - min(stop-oldest, uint64(m.Scrollback))
	last := stop
	if m.Match != "" { // a search that took too long goes on, perhaps from a row of the screen
		_, rows := s.Size()
		last += uint64(rows)
	}
	if m.FromLine != nil {
		if first = *m.FromLine; first < oldest || first > last {
			return &protocol.Error{RequestID: m.RequestID, Code: protocol.CodeBadMessage, Field: "fromLine", Message: "no longer kept"}
		}
		stop = min(stop, first+uint64(m.Scrollback))
	}
	r := &protocol.ReadResult{ID: "r", RequestID: m.RequestID, SessionID: m.SessionID, Frame: &protocol.Frame{Seq: 1}, OldestLine: oldest, FirstLine: first, NextLine: stop}
	r.Frame.Screen.Cols, r.Frame.Screen.Rows = s.Size()
	r.Frame.Screen.Lines = make([]string, r.Frame.Screen.Rows)
	if m.Match != "" {
		r.Found = g.find(m)
		return r
	}
	var rows []string
	for line := first; line < stop; line++ {
		row := int(line - oldest)
		if s.HistoryWrapped(row) {
			r.Wraps = append(r.Wraps, protocol.Wrap{Row: len(rows), Blanks: s.HistoryBlanks(row)})
		}
		rows = append(rows, protocol.VisibleRow(string(s.AppendHistoryANSI(nil, row))))
	}
	r.Text = strings.Join(rows, "\n")
	return r
}

// find searches the history and the screen after it, as a proxy would.
func (g *gateway) find(m *protocol.Read) *protocol.Found {
	pattern, err := m.Pattern()
	require.NoError(g.t, err)
	s := g.screens[m.SessionID]
	all := protocol.Excerpt{First: g.skipped + s.HistoryNumber()}
	for i := range s.HistoryLen() {
		if s.HistoryWrapped(i) {
			all.Wraps = append(all.Wraps, protocol.Wrap{Row: i, Blanks: s.HistoryBlanks(i)})
		}
		all.Rows = append(all.Rows, s.HistoryText(i))
	}
	_, rows := s.Size()
	for y := range rows {
		all.Rows = append(all.Rows, s.RowText(y))
	}
	return all.Skip(int(*m.FromLine-all.First)).Find(pattern, m.Context, m.Scrollback)
}

// print lets a program print something.
func (g *gateway) print(id, format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.screens[id].Feed(fmt.Appendf(nil, format, args...))
	for l := range g.links {
		if v := l.views[id]; v != nil && !l.silent {
			v.changed = true
			l.offer(id)
		}
	}
}

// change changes a session and tells the pages.
func (g *gateway) change(id string, change func(*protocol.SessionInfo)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sessions {
		if s.SessionID != id {
			continue
		}
		change(s)
		for l := range g.links {
			if l.watches && !l.silent {
				l.put(&protocol.SessionsChanged{Sessions: []protocol.SessionInfo{*s}})
			}
		}
	}
}

// setEpoch makes decisions count under one epoch only.
func (g *gateway) setEpoch(epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.epoch = epoch
}

// endLinks ends all links. It admits no new one until it is called with false.
func (g *gateway) endLinks(away bool) {
	g.mu.Lock()
	g.away = away
	links := make([]*link, 0, len(g.links))
	for l := range g.links {
		links = append(links, l)
	}
	g.mu.Unlock()
	if away {
		for _, l := range links {
			l.Close()
		}
	}
}

// freezeLinks freezes the existing links, as a congested connection does.
func (g *gateway) freezeLinks() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for l := range g.links {
		l.silent = true
	}
}

// wait waits until a page has sent a message that suits, and takes it.
func wait[M protocol.Message](g *gateway, suits func(M) bool) M {
	g.t.Helper()
	deadline := time.After(browser.Patience)
	for {
		g.mu.Lock()
		for i, m := range g.sent {
			if is, ok := m.(M); ok && suits(is) {
				g.sent = slices.Delete(g.sent, i, i+1)
				g.mu.Unlock()
				return is
			}
		}
		heard := g.heard
		g.mu.Unlock()
		select {
		case <-heard:
		case <-deadline:
			var none M
			require.FailNow(g.t, "no page sent it", "%T", none)
		}
	}
}

// count returns how many messages of a type pages have sent and no wait has taken.
func count[M protocol.Message](g *gateway) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.sent {
		if _, ok := m.(M); ok {
			n++
		}
	}
	return n
}

// watcher notes breaches of the page's policy, faults of its scripts, and errors on the console.
const watcher = `{ window.faults = [];
	addEventListener('securitypolicyviolation', (e) => faults.push(e.violatedDirective + ' ' + e.blockedURI));
	const logged = console.error;
	console.error = (...all) => { faults.push(all.map(String).join(' ')); logged.apply(console, all); };
	addEventListener('error', (e) => faults.push(String(e.message)));
	addEventListener('unhandledrejection', (e) => faults.push(String(e.reason))); }`

// openPage opens the link of a gateway at a place in the page; "" for its start.
func openPage(g *gateway, hash string, steps ...chromedp.Action[chromedp.Void]) *browser.Tab {
	g.t.Helper()
	b := browser.OpenTab(g.t)
	b.RunSteps(steps...)
	b.RunBeforeScripts(watcher)
	b.RunSteps(chromedp.Navigate(g.url + "/#c=" + g.opening.Code()))
	b.WaitFor(connected)
	if hash != "" {
		visit(b, hash)
	}
	g.t.Cleanup(func() {
		if g.t.Failed() {
			return
		}
		require.Empty(g.t, browser.JS[[]string](b, "window.faults"))
	})
	return b
}

// command is a command of Chromium's DevTools protocol whose answer is ignored.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (void chromedp.Void, err error) {
		_, err = chromedp.Call(ctx, c, params)
		return void, err
	}
}
