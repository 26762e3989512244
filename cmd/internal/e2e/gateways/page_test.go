package gateways_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/protocol"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// webPage behaves towards the gateway as a page in a browser.
type webPage struct {
	w     *world.World
	base  string // http://127.0.0.1:PORT, or https:
	key   ed25519.PrivateKey
	id    string
	words string
	ws    *websocket.Conn
	typed uint64 // the number of its newest keys
	// dialer opens its connections.
	dialer net.Dialer
}

// visit enters by a link, with a key of its own.
func visit(w *world.World, link string) *webPage {
	w.T.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(w.T, err)
	p := &webPage{w: w, key: key}
	own, told := p.enter(link)
	require.Equal(w.T, own, told)
	p.words = own
	return p
}

// enter enters by a link. It returns the words that the page makes from its own key, and the words
// that the gateway tells it.
func (p *webPage) enter(link string) (own, told string) {
	p.w.T.Helper()
	var code string
	p.base, code, _ = strings.Cut(link, "/#c=")
	public, _ := p.key.Public().(ed25519.PublicKey)
	var in struct {
		Page  string
		Words []string
	}
	require.Equal(p.w.T, http.StatusOK, p.post("/v1/page/enter", map[string]any{"code": code, "key": hex.EncodeToString(public)}, &in))
	words, err := page.Words(public)
	require.NoError(p.w.T, err)
	p.id = in.Page
	return strings.Join(words, " "), strings.Join(in.Words, " ")
}

func (p *webPage) post(path string, body, into any) (status int) {
	p.w.T.Helper()
	raw, err := json.Marshal(body)
	require.NoError(p.w.T, err)
	req, err := http.NewRequestWithContext(p.w.Ctx, http.MethodPost, p.base+path, bytes.NewReader(raw))
	require.NoError(p.w.T, err)
	req.Header.Set("Origin", p.base)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: trust(p.w), DisableKeepAlives: true}}
	resp, err := client.Do(req)
	require.NoError(p.w.T, err)
	defer func() { _ = resp.Body.Close() }()
	require.NoError(p.w.T, json.NewDecoder(resp.Body).Decode(into))
	return resp.StatusCode
}

// ticket asks for a ticket.
func (p *webPage) ticket() (status int, ticket string) {
	p.w.T.Helper()
	var got struct{ Ticket string }
	at := time.Now().UnixMilli()
	status = p.post("/v1/tickets", map[string]any{"page": p.id, "at": at, "signature": hex.EncodeToString(ed25519.Sign(p.key, page.TicketBytes(p.id, at)))}, &got)
	return status, got.Ticket
}

// connect waits until the page may enter, and opens its WebSocket.
func (p *webPage) connect() {
	p.w.T.Helper()
	p.w.Until(func() bool { return p.tryConnect() == nil }, func() string { return p.tryConnect().Error() })
}

// tryConnect is one attempt of connect.
func (p *webPage) tryConnect() error {
	p.w.T.Helper()
	status, ticket := p.ticket()
	if status != http.StatusOK {
		return errors.New(http.StatusText(status))
	}
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}, TLSClientConfig: trust(p.w), NetDialContext: p.dialer.DialContext}
	ws, resp, err := dialer.DialContext(p.w.Ctx, "ws"+strings.TrimPrefix(p.base, "http")+"/v1/page", http.Header{"Origin": {p.base}})
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	p.w.T.Cleanup(func() { _ = ws.Close() })
	var welcome struct{ Type string }
	if err := errors.Join(ws.SetReadDeadline(time.Now().Add(world.Patience)), ws.WriteJSON(map[string]string{"type": "hello", "ticket": ticket}), ws.ReadJSON(&welcome)); err != nil {
		return err
	}
	require.Equal(p.w.T, "welcome", welcome.Type)
	p.ws = ws
	return nil
}

// next returns the gateway's next message.
func (p *webPage) next() protocol.Message {
	p.w.T.Helper()
	_, frame, err := p.ws.ReadMessage()
	require.NoError(p.w.T, err)
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	require.NoError(p.w.T, err)
	return m
}

func (p *webPage) send(m protocol.Message) {
	p.w.T.Helper()
	frame, err := protocol.Encode(m)
	require.NoError(p.w.T, err)
	require.NoError(p.w.T, p.ws.WriteMessage(websocket.TextMessage, frame))
}

// request sends a request and returns its answer.
func (p *webPage) request(m protocol.Message) protocol.Message {
	p.w.T.Helper()
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
	p.w.T.Helper()
	list, ok := p.request(&protocol.SessionsList{}).(*protocol.SessionsListResult)
	require.True(p.w.T, ok)
	require.Len(p.w.T, list.Sessions, 1)
	return list.Sessions[0]
}

// waitForRow looks at the session until a row holds text.
func (p *webPage) waitForRow(id, text string) {
	p.w.T.Helper()
	require.IsType(p.w.T, &protocol.Done{}, p.request(&protocol.View{SessionID: id}))
	for last := (*protocol.Rows)(nil); ; {
		rows, ok := p.next().(*protocol.Rows)
		if !ok {
			continue
		}
		last, ok = rows.Complete(last)
		require.True(p.w.T, ok)
		p.send(&protocol.Ack{SessionID: id, Seq: rows.Seq})
		if strings.Contains(strings.Join(last.Lines, "\n"), text) {
			break
		}
	}
	p.send(&protocol.Unview{SessionID: id})
}

// signedGrant returns a decision that grants the keyboard, signed with a key.
func (p *webPage) signedGrant(key ed25519.PrivateKey) protocol.Message {
	p.w.T.Helper()
	s := p.session()
	m := &protocol.ControlDecide{SessionID: s.SessionID, By: "x", Grant: true, Seconds: 60, Epoch: s.Keyboard.Epoch, At: time.Now().UnixMilli()}
	m.SignatureB64 = ed25519.Sign(key, m.Signed(s.StartedAt))
	return p.request(m)
}

// checkRefused checks that an answer is an error with a code.
func (p *webPage) checkRefused(code protocol.Code, got protocol.Message) {
	p.w.T.Helper()
	no, ok := got.(*protocol.Error)
	require.True(p.w.T, ok, "%#v", got)
	require.Equal(p.w.T, code, no.Code, no.Message)
}

// readToClose reads up to the close frame.
func (p *webPage) readToClose() (code int, why string) {
	p.w.T.Helper()
	for {
		if _, _, err := p.ws.ReadMessage(); err != nil {
			end, ok := errors.AsType[*websocket.CloseError](err)
			require.True(p.w.T, ok, "%v", err)
			return end.Code, end.Text
		}
	}
}

// tokens returns the names of the tokens that this machine's proxies accept.
func tokens(w *world.World) string {
	w.T.Helper()
	return w.MustGateway("token", "ls")
}

// An owner's page grants and reclaims, at the local gateway and at a server. The session's own
// machine checks the page's signatures. The page ends with its gateway open, or with the token that
// made its link. A page that the user does not know stays outside.
func TestAnOwnersPageGrantsAndReclaims(t *testing.T) {
	t.Parallel()
	for _, remote := range []bool{false, true} {
		t.Run("server="+strconv.FormatBool(remote), func(t *testing.T) {
			w := world.New(t)
			proxyFlags, openFlags := "--agent", "--role owner "
			if remote {
				server := startPageServer(w)
				proxyFlags, openFlags = server.proxyFlags(), server.openFlags()+openFlags
			}
			s, o := w.Terminal(100, 24), w.Terminal(100, 60)
			s.RunListener(proxyFlags)
			id := w.Session()
			_, link := o.OpenPage(openFlags + id)
			stranger := visit(w, link)
			o.Wait(stranger.words)
			o.Typed("\n")
			o.Wait("The page was not admitted.")
			status, _ := stranger.ticket()
			require.NotEqual(t, http.StatusOK, status)
			o.Typed("\n")
			o.See("a second link", func(screen string) bool { return strings.Count(screen, "/#c=") == 2 })
			link = strings.Fields(o.Screen()[strings.LastIndex(o.Screen(), "http"):])[0]

			p := visit(w, link)
			o.Wait(p.words)
			status, _ = p.ticket()
			require.Equal(t, http.StatusConflict, status, "before the user said yes")
			require.NotContains(t, tokens(w), "page-")
			o.Typed("y\n")
			p.connect()
			require.Contains(t, tokens(w), "page-")
			require.Equal(t, id, p.session().SessionID)
			p.waitForRow(id, "listening")

			asking := w.Start("gateway", "request", id, "--reason", "to test", "--as", "codex")
			s.WaitQuestion()
			p.checkRefused(protocol.CodeForbidden, p.request(&protocol.ControlDecide{SessionID: id, By: "x", Grant: true, Epoch: 1, At: time.Now().UnixMilli()}))
			p.checkRefused(protocol.CodeForbidden, p.signedGrant(stranger.key))
			require.True(t, s.HasQuestion(), "nothing was given:\n%s", s.Screen())
			require.IsType(t, &protocol.Done{}, p.signedGrant(p.key))
			require.Zero(t, asking.Wait().Status)
			w.MustGateway("send", id, "--as", "codex", "--text", "milk")
			w.WaitContent("heard", "milk")
			require.IsType(t, &protocol.Done{}, p.request(&protocol.ControlDecide{SessionID: id, By: "x"}))
			w.WaitKeyboard(id, "user")

			want, end := "closed in the terminal", 0
			if remote {
				want, end = "revoked", 1
				w.MustGateway("token", "revoke", "owner")
			} else {
				o.Press("C-c")
			}
			code, why := p.readToClose()
			require.Equal(t, websocket.ClosePolicyViolation, code)
			require.Contains(t, why, want)
			require.Equal(t, end, o.Status())
			require.NotContains(t, tokens(w), "page-", "its key is worth nothing any more")
			s.QuitProgram("\x04")
		})
	}
}

// A page opened only to look can do nothing else, and it sees what it was opened for.
func TestAPageThatLooks(t *testing.T) {
	w := world.New(t)
	s, other, o := w.Terminal(100, 24), w.Terminal(100, 24), w.Terminal(100, 24)
	s.RunListener("--agent")
	id := w.Session()
	other.Run("proxy --agent sleep 1000")
	ids := w.IDs(2)
	hidden := ids[0]
	if hidden == id {
		hidden = ids[1]
	}
	_, link := o.OpenPage(id)
	o.Wait("It may look at the session " + id + ", and do nothing else.")
	p := visit(w, link)
	p.connect()
	require.Equal(t, id, p.session().SessionID)
	p.waitForRow(id, "listening")
	p.checkRefused(protocol.CodeForbidden, p.request(&protocol.Read{SessionID: hidden}))
	p.checkRefused(protocol.CodeForbidden, p.request(&protocol.ControlDecide{SessionID: id, By: "x"}))
	p.checkRefused(protocol.CodeForbidden, p.request(&protocol.Input{SessionID: id, Data: "rm"}))
	require.Empty(t, w.Content("heard"))
	s.Press("C-d")
	require.Zero(t, s.Status())
	other.Press("C-c")
	other.Status()
	o.Press("C-c")
	require.Zero(t, o.Status())
}

// When the process that serves the gateway is killed, pages are told to reconnect, and find the
// session again.
func TestAPageComesBackToTheNextGateway(t *testing.T) {
	w := world.New(t)
	s, other, o := w.Terminal(100, 24), w.Terminal(100, 24), w.Terminal(100, 24)
	proxy := s.RunListener("--agent")
	w.Session()
	other.Run("proxy --agent sh -c 'echo stays; sleep 1000'")
	w.IDs(2)
	_, link := o.OpenPage("")
	p := visit(w, link)
	p.connect()
	w.Kill(proxy, syscall.SIGKILL)
	code, _ := p.readToClose()
	require.Equal(t, websocket.CloseServiceRestart, code)
	var found []protocol.SessionInfo
	w.Until(func() bool {
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
	o.Press("C-c")
	require.Zero(t, o.Status())
	other.Press("C-c")
	other.Status()
}
