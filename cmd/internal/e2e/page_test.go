package e2e_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/page"
	"terminalproxy/protocol"
)

// webPage behaves towards the gateway as a page in a browser.
type webPage struct {
	w     *world
	base  string // http://127.0.0.1:PORT, or https:
	key   ed25519.PrivateKey
	id    string
	words string
	ws    *websocket.Conn
	typed uint64 // the number of its newest keys
	// dialer opens its connections.
	dialer net.Dialer
}

// openPage runs gateway open with more flags at a terminal, and returns its process id and the
// link.
func (s *terminal) openPage(flags string) (pid, link string) {
	s.w.t.Helper()
	mark := fmt.Sprintf("open%d=", s.marks) // an earlier run's output may still stand there
	s.run("sh -c 'echo " + mark + "$$; exec gateway open " + flags + "'")
	pid = s.match(mark + `(\d+)\s`)
	return pid, s.match(mark + `\d+\s(?s:.*)(https?://127\.0\.0\.1:\d+/#c=[a-z2-7]{16})\s`)
}

// visit enters by a link, with a key of its own.
func (w *world) visit(link string) *webPage {
	w.t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(w.t, err)
	p := &webPage{w: w, key: key}
	own, told := p.enter(link)
	require.Equal(w.t, own, told)
	p.words = own
	return p
}

// enter enters by a link. It returns the words that the page makes from its own key, and the words
// that the gateway tells it.
func (p *webPage) enter(link string) (own, told string) {
	p.w.t.Helper()
	var code string
	p.base, code, _ = strings.Cut(link, "/#c=")
	public, _ := p.key.Public().(ed25519.PublicKey)
	var in struct {
		Page  string
		Words []string
	}
	require.Equal(p.w.t, http.StatusOK, p.post("/v1/page/enter", map[string]any{"code": code, "key": hex.EncodeToString(public)}, &in))
	words, err := page.Words(public)
	require.NoError(p.w.t, err)
	p.id = in.Page
	return strings.Join(words, " "), strings.Join(in.Words, " ")
}

func (p *webPage) post(path string, body, into any) (status int) {
	p.w.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(p.w.t, err)
	req, err := http.NewRequestWithContext(p.w.ctx, http.MethodPost, p.base+path, bytes.NewReader(raw))
	require.NoError(p.w.t, err)
	req.Header.Set("Origin", p.base)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: p.w.trust(), DisableKeepAlives: true}}
	resp, err := client.Do(req)
	require.NoError(p.w.t, err)
	defer func() { _ = resp.Body.Close() }()
	require.NoError(p.w.t, json.NewDecoder(resp.Body).Decode(into))
	return resp.StatusCode
}

// ticket asks for a ticket.
func (p *webPage) ticket() (status int, ticket string) {
	p.w.t.Helper()
	var got struct{ Ticket string }
	at := time.Now().UnixMilli()
	status = p.post("/v1/tickets", map[string]any{"page": p.id, "at": at, "signature": hex.EncodeToString(ed25519.Sign(p.key, page.TicketBytes(p.id, at)))}, &got)
	return status, got.Ticket
}

// connect waits until the page may enter, and opens its WebSocket.
func (p *webPage) connect() {
	p.w.t.Helper()
	p.w.until(func() bool { return p.tryConnect() == nil }, func() string { return p.tryConnect().Error() })
}

// tryConnect is one attempt of connect.
func (p *webPage) tryConnect() error {
	p.w.t.Helper()
	status, ticket := p.ticket()
	if status != http.StatusOK {
		return errors.New(http.StatusText(status))
	}
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}, TLSClientConfig: p.w.trust(), NetDialContext: p.dialer.DialContext}
	ws, resp, err := dialer.DialContext(p.w.ctx, "ws"+strings.TrimPrefix(p.base, "http")+"/v1/page", http.Header{"Origin": {p.base}})
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	p.w.t.Cleanup(func() { _ = ws.Close() })
	var welcome struct{ Type string }
	if err := errors.Join(ws.SetReadDeadline(time.Now().Add(patience)), ws.WriteJSON(map[string]string{"type": "hello", "ticket": ticket}), ws.ReadJSON(&welcome)); err != nil {
		return err
	}
	require.Equal(p.w.t, "welcome", welcome.Type)
	p.ws = ws
	return nil
}

// next returns the gateway's next message.
func (p *webPage) next() protocol.Message {
	p.w.t.Helper()
	_, frame, err := p.ws.ReadMessage()
	require.NoError(p.w.t, err)
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	require.NoError(p.w.t, err)
	return m
}

func (p *webPage) send(m protocol.Message) {
	p.w.t.Helper()
	frame, err := protocol.Encode(m)
	require.NoError(p.w.t, err)
	require.NoError(p.w.t, p.ws.WriteMessage(websocket.TextMessage, frame))
}

// request sends a request and returns its answer.
func (p *webPage) request(m protocol.Message) protocol.Message {
	p.w.t.Helper()
	m = protocol.WithRequestID(m, protocol.NewID())
	p.send(m)
	for {
		if got := p.next(); protocol.RequestID(got) == protocol.RequestID(m) {
			return got
		}
	}
}

// session returns the only session of the list.
func (p *webPage) session() protocol.SessionInfo {
	p.w.t.Helper()
	list, ok := p.request(&protocol.SessionsList{}).(*protocol.SessionsListResult)
	require.True(p.w.t, ok)
	require.Len(p.w.t, list.Sessions, 1)
	return list.Sessions[0]
}

// waitForRow looks at the session until a row holds text.
func (p *webPage) waitForRow(id, text string) {
	p.w.t.Helper()
	require.IsType(p.w.t, &protocol.Done{}, p.request(&protocol.View{SessionID: id}))
	for last := (*protocol.Rows)(nil); ; {
		rows, ok := p.next().(*protocol.Rows)
		if !ok {
			continue
		}
		last, ok = rows.Complete(last)
		require.True(p.w.t, ok)
		p.send(&protocol.Ack{SessionID: id, Seq: rows.Seq})
		if strings.Contains(strings.Join(last.Lines, "\n"), text) {
			break
		}
	}
	p.send(&protocol.Unview{SessionID: id})
}

// signedGrant returns a decision that grants the keyboard, signed with a key.
func (p *webPage) signedGrant(key ed25519.PrivateKey) protocol.Message {
	p.w.t.Helper()
	s := p.session()
	m := &protocol.ControlDecide{SessionID: s.SessionID, By: "x", Grant: true, Seconds: 60, Epoch: s.Keyboard.Epoch, At: time.Now().UnixMilli()}
	m.SignatureB64 = ed25519.Sign(key, m.Signed(s.StartedAt))
	return p.request(m)
}

// checkRefused checks that an answer is an error with a code.
func (p *webPage) checkRefused(code protocol.Code, got protocol.Message) {
	p.w.t.Helper()
	no, ok := got.(*protocol.Error)
	require.True(p.w.t, ok, "%#v", got)
	require.Equal(p.w.t, code, no.Code, no.Message)
}

// readToClose reads up to the close frame.
func (p *webPage) readToClose() (code int, why string) {
	p.w.t.Helper()
	for {
		if _, _, err := p.ws.ReadMessage(); err != nil {
			end, ok := errors.AsType[*websocket.CloseError](err)
			require.True(p.w.t, ok, "%v", err)
			return end.Code, end.Text
		}
	}
}

// tokens returns the names of the tokens that this machine's proxies accept.
func (w *world) tokens() string {
	w.t.Helper()
	return w.mustGateway("token", "ls")
}

func TestAnOwnersPageAnswersAndTakesBack(t *testing.T) {
	w := newWorld(t, "vim")
	w.write("notes.txt", "to do\n")
	s, o := w.terminal(100, 24), w.terminal(100, 30)
	s.run("proxy --agent vim -u NONE notes.txt")
	s.wait("to do")
	id := w.session()
	_, link := o.openPage("--role owner")
	p := w.visit(link)
	o.wait(p.words)
	status, _ := p.ticket()
	require.Equal(t, http.StatusConflict, status, "before the user said yes")
	require.Contains(t, w.tokens(), "no tokens")
	o.typed("y\n")
	p.connect()
	require.Contains(t, w.tokens(), "page-")
	require.Equal(t, id, p.session().SessionID)
	p.waitForRow(id, "to do")

	asking := w.start("gateway", "request", id, "--reason", "add the milk", "--as", "codex")
	s.waitQuestion()
	_, stranger, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	p.checkRefused(protocol.CodeForbidden, p.request(&protocol.ControlDecide{SessionID: id, By: "x", Grant: true, Epoch: 1, At: time.Now().UnixMilli()}))
	p.checkRefused(protocol.CodeForbidden, p.signedGrant(stranger))
	require.True(t, s.hasQuestion(), "nothing was given:\n%s", s.screen())
	require.IsType(t, &protocol.Done{}, p.signedGrant(p.key))
	require.Zero(t, asking.wait().status)
	s.wait("lets codex drive")
	w.mustGateway("send", id, "--as", "codex", "o", "m", "i", "l", "k", "esc")
	p.waitForRow(id, "milk")
	require.IsType(t, &protocol.Done{}, p.request(&protocol.ControlDecide{SessionID: id, By: "x"}))
	w.waitKeyboard(id, "user")
	s.wait("a page")

	o.press("C-c")
	require.Zero(t, o.status())
	code, why := p.readToClose()
	require.Equal(t, websocket.ClosePolicyViolation, code)
	require.Contains(t, why, "closed in the terminal")
	require.Contains(t, w.tokens(), "no tokens", "its key is worth nothing any more")
}

// Enter refuses the standing question, and the page stays outside. Without a question, Enter makes
// a new link.
func TestAPageThatTheUserDoesNotKnow(t *testing.T) {
	w := newWorld(t)
	s, o := w.terminal(100, 24), w.terminal(100, 40)
	s.runListener("--agent")
	w.session()
	_, link := o.openPage("--role owner")
	p := w.visit(link)
	o.wait(p.words)
	o.typed("\n")
	o.wait("The page was not let in.")
	w.until(func() bool { status, _ := p.ticket(); return status == http.StatusForbidden }, func() string { return "it is let in" })
	require.Contains(t, w.tokens(), "no tokens")
	o.typed("\n")
	o.see("a second link", func(screen string) bool { return strings.Count(screen, "/#c=") == 2 })
	o.press("C-c")
	require.Zero(t, o.status())
}

// A page opened only to look can do nothing else, and it sees what it was opened for.
func TestAPageThatLooks(t *testing.T) {
	w := newWorld(t)
	s, other, o := w.terminal(100, 24), w.terminal(100, 24), w.terminal(100, 24)
	s.runListener("--agent")
	id := w.session()
	other.run("proxy --agent sleep 1000")
	ids := w.ids(2)
	hidden := ids[0]
	if hidden == id {
		hidden = ids[1]
	}
	_, link := o.openPage(id)
	o.wait("It may look at the session " + id + ", and do nothing else.")
	p := w.visit(link)
	p.connect()
	require.Equal(t, id, p.session().SessionID)
	p.waitForRow(id, "listening")
	p.checkRefused(protocol.CodeForbidden, p.request(&protocol.Read{SessionID: hidden}))
	p.checkRefused(protocol.CodeForbidden, p.request(&protocol.ControlDecide{SessionID: id, By: "x"}))
	p.checkRefused(protocol.CodeForbidden, p.request(&protocol.Input{SessionID: id, Data: "rm"}))
	require.Empty(t, w.content("heard"))
	s.press("C-d")
	require.Zero(t, s.status())
	other.press("C-c")
	other.status()
	o.press("C-c")
	require.Zero(t, o.status())
}

// A killed gateway open leaves a key that no longer opens anything; the next gateway open removes
// it.
func TestAKilledOpenLeavesNoKey(t *testing.T) {
	w := newWorld(t)
	s, o := w.terminal(100, 24), w.terminal(100, 30)
	s.runListener("--agent")
	w.session()
	pid, link := o.openPage("--role owner --for 1h")
	p := w.visit(link)
	o.wait(p.words)
	o.typed("y\n")
	p.connect()
	require.Contains(t, w.tokens(), "page-")
	w.kill(pid, syscall.SIGKILL)
	require.Equal(t, 137, o.status())
	require.Contains(t, w.tokens(), "page-")
	o.openPage("")
	require.Contains(t, w.tokens(), "no tokens")
	o.press("C-c")
	require.Zero(t, o.status())
}

// When the process that serves the gateway is killed, pages are told to reconnect, and find the
// session again.
func TestAPageComesBackToTheNextGateway(t *testing.T) {
	w := newWorld(t)
	s, other, o := w.terminal(100, 24), w.terminal(100, 24), w.terminal(100, 24)
	proxy := s.runListener("--agent")
	w.session()
	other.run("proxy --agent sh -c 'echo stays; sleep 1000'")
	w.ids(2)
	_, link := o.openPage("")
	p := w.visit(link)
	p.connect()
	w.kill(proxy, syscall.SIGKILL)
	code, _ := p.readToClose()
	require.Equal(t, websocket.CloseServiceRestart, code)
	var found []protocol.SessionInfo
	w.until(func() bool {
		if p.tryConnect() != nil {
			return false
		}
		list, ok := p.request(&protocol.SessionsList{}).(*protocol.SessionsListResult)
		if ok {
			found = list.Sessions
		}
		return len(found) > 0
	}, func() string { return "no gateway" })
	p.waitForRow(found[0].SessionID, "stays")
	o.press("C-c")
	require.Zero(t, o.status())
	other.press("C-c")
	other.status()
}
