package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/gateway/doors/page/push"
	"terminalproxy/gateway/doors/page/push/fakepush"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// pushing is a door whose pages a push service on this machine notifies.
func pushing(t *testing.T) (*house, *fakepush.Service) {
	service := fakepush.Serve(t)
	sender, err := push.NewLocal("https://desk.example", service.Roots())
	require.NoError(t, err)
	return openDoor(t, func(c *setup) { c.Push, c.NotifyAfter = sender, time.Millisecond }), service
}

// setNotifications sets where a page is to be notified; "" ends that.
func (b *browser) setNotifications(endpoint string, end *fakepush.Browser) answer {
	b.h.t.Helper()
	in := map[string]string{"ticket": b.ticket(), "endpoint": endpoint, "p256dh": end.P256DH(), "auth": end.Auth()}
	body, err := json.Marshal(in)
	require.NoError(b.h.t, err)
	return b.h.do("POST", "/v1/push", string(body))
}

// list is the gateway's end of the list that a door watches.
type list struct {
	h     *house
	link  *link
	epoch uint64
}

// watchedList returns what the door watches from its first subscription on.
func (h *house) watchedList() *list {
	h.t.Helper()
	l := <-h.links
	_, ok := (<-l.sent).(*protocol.SessionsWatch)
	require.True(h.t, ok)
	return &list{h: h, link: l}
}

func (l *list) say(m protocol.Message) {
	frame, err := protocol.Encode(m)
	require.NoError(l.h.t, err)
	l.link.frames <- string(frame)
}

// ask lets an agent ask anew while no one looks.
func (l *list) ask() {
	l.h.t.Helper()
	l.epoch++
	all := []protocol.SessionInfo{{
		SessionID: "vim-1", Name: "vim", Command: "vim", Args: []string{}, Cols: 80, Rows: 24, State: protocol.StateRunning, Title: "secret.txt",
		Keyboard: protocol.Keyboard{Holder: protocol.HolderUser, Epoch: l.epoch, Asking: "claude", AskingLevel: protocol.LevelDrive, AskingReason: "hush"},
	}}
	l.say(&protocol.SessionsChanged{Full: true, Sessions: all})
	m, ok := (<-l.link.sent).(*protocol.SessionsList)
	require.True(l.h.t, ok)
	l.say(&protocol.SessionsListResult{RequestID: m.RequestID, Sessions: all})
}

// nextPush returns the next message for a browser.
func nextPush(t *testing.T, s *fakepush.Service) fakepush.Pushed {
	t.Helper()
	select {
	case p := <-s.Received:
		return p
	case <-time.After(fake.Soon):
		require.FailNow(t, "nothing was pushed")
		return fakepush.Pushed{}
	}
}

func TestAPageThatWantsToIsNotified(t *testing.T) {
	h, service := pushing(t)
	b, end := h.newPage(), fakepush.NewBrowser(t)
	key := h.do("GET", "/v1/push", "").fields["key"]
	require.Regexp(t, `^B[A-Za-z0-9_-]{86}$`, key)
	got := b.setNotifications(service.URL+"/1", end)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, true, got.fields["notified"])
	l := h.watchedList()
	l.ask()
	p := nextPush(t, service)
	require.Equal(t, "POST /1", p.Path)
	require.Contains(t, p.Header.Get("Authorization"), fmt.Sprint(", k=", key))
	require.JSONEq(t, `{"page":"`+b.id+`","session":"vim-1","agent":"claude","held":false,"epoch":1,"owner":false}`, end.Open(p.Body),
		"who and where, and nothing of the screen or of the agent's words")

	second := h.newPage()
	require.Equal(t, http.StatusOK, second.setNotifications(service.URL+"/2", end).status)
	require.Equal(t, http.StatusOK, b.setNotifications("", end).status)
	l.ask()
	require.Equal(t, "POST /2", nextPush(t, service).Path, "the first one has ended it")
	require.Empty(t, service.Received)
	require.Empty(t, h.links, "one watch for all pages")
}

// An expired subscription is forgotten, and one that fails is tried once more.
func TestAnExpiredSubscriptionIsForgotten(t *testing.T) {
	h, service := pushing(t)
	end := fakepush.NewBrowser(t)
	first, second := h.newPage(), h.newPage()
	first.setNotifications(service.URL+"/1", end)
	l := h.watchedList()
	service.Status.Store(http.StatusServiceUnavailable)
	l.ask()
	require.Equal(t, "POST /1", nextPush(t, service).Path)
	service.Status.Store(http.StatusGone)
	require.Equal(t, "POST /1", nextPush(t, service).Path)
	second.setNotifications(service.URL+"/2", end)
	service.Status.Store(http.StatusCreated)
	for deadline, quiet := time.Now().Add(fake.Soon), 0; quiet < 5; { // the answer to the first may still be on its way
		require.True(t, time.Now().Before(deadline), "it is not forgotten")
		l.ask()
		quiet++
		for path := ""; path != "POST /2"; {
			if path = nextPush(t, service).Path; path == "POST /1" {
				quiet = 0
			}
		}
	}
}

func TestInvalidSubscriptionsAreRefused(t *testing.T) {
	h, service := pushing(t)
	b, end := h.newPage(), fakepush.NewBrowser(t)
	require.Equal(t, http.StatusForbidden, h.do("POST", "/v1/push", `{"ticket":"x","endpoint":"https://push.example/"}`).status)
	require.Equal(t, http.StatusForbidden, h.do("POST", "/v1/push", `{}`).status)
	require.Equal(t, http.StatusForbidden, h.do("POST", "/v1/push", `{}`, "Origin", "http://evil.example").status)
	require.Equal(t, http.StatusBadRequest, h.do("POST", "/v1/push", `[`).status)
	for _, endpoint := range []string{"http://push.example/", "file:///etc/passwd", "https://ada:pw@push.example/"} {
		got := b.setNotifications(endpoint, end)
		require.Equal(t, http.StatusBadRequest, got.status, endpoint)
		require.Contains(t, got.fields["error"], `field "endpoint"`)
	}
	ticket := b.ticket()
	body := `{"ticket":"` + ticket + `","endpoint":"` + service.URL + `/1","p256dh":"` + end.P256DH() + `","auth":"` + end.Auth() + `"}`
	require.Equal(t, http.StatusOK, h.do("POST", "/v1/push", body).status)
	require.Equal(t, http.StatusForbidden, h.do("POST", "/v1/push", body).status, "a ticket is good once")

	outside := openDoor(t, func(c *setup) { c.Config = page.Config{Now: c.Now} })
	at := outside.newPage()
	got := at.setNotifications("https://192.168.1.1/", end)
	require.Equal(t, http.StatusBadRequest, got.status)
	require.Contains(t, got.fields["error"], "private network")
}

func TestTheWorkerIsServedFromTheRoot(t *testing.T) {
	h := openDoor(t, nil)
	got := h.do("GET", "/sw.js", "")
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "text/javascript; charset=utf-8", got.header.Get("Content-Type"))
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.NotContains(t, got.body, "{{")
	require.Regexp(t, `from '/app/[0-9a-f]{16}/keys\.js'`, got.body)
}

// An owner's page is notified of a program's question for a secret: by whom and what for, without
// the program, its command and its words. A viewer's page hears nothing of it.
func TestAQuestionForASecretNotifiesAnOwnersPage(t *testing.T) {
	service := fakepush.Serve(t)
	sender, err := push.NewLocal("https://desk.example", service.Roots())
	require.NoError(t, err)
	h := openDoor(t, func(c *setup) {
		c.Push, c.NotifyAfter, c.Role = sender, time.Millisecond, auth.RoleOwner
		c.Admit = func(context.Context, page.Visitor) (func(), error) { return func() {}, nil }
	})
	b, end := h.newPage(), fakepush.NewBrowser(t)
	b.waitFor(http.StatusOK)
	require.Equal(t, http.StatusOK, b.setNotifications(service.URL+"/1", end).status)
	l := h.watchedList()
	require.IsType(t, &protocol.SecretWatch{}, <-l.link.sent)
	l.say(&protocol.SecretAsk{
		RequestID: "v-1:1", SessionID: "vim-1", Kind: protocol.SecretHidden, Prompt: "hush", PublicKeyB64: []byte("k"),
		Asker: protocol.SecretAsker{Program: "sudo", Command: "sudo hush", Cwd: "/hush", Agent: "codex"},
	})
	p := nextPush(t, service)
	require.JSONEq(t, `{"page":"`+b.id+`","session":"vim-1","agent":"codex","held":false,"epoch":0,"owner":true,"secret":"secret"}`, end.Open(p.Body))
	require.Equal(t, "110", p.Header.Get("TTL"), "no longer than the question stands")

	guests, _ := pushing(t)
	guests.newPage().setNotifications(service.URL+"/2", end)
	g := guests.watchedList()
	g.ask()
	require.Empty(t, g.link.sent, "and asks for the list alone")
}
