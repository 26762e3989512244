package gateway

import (
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// On the local socket, another process takes over at once. On TCP, this server itself returns.
func TestClientsAreToldHowToReconnect(t *testing.T) {
	store, err := auth.OpenStore(t.TempDir()+"/private/tokens", nil)
	require.NoError(t, err)
	token, err := store.Create(auth.Token{Name: "claude", Role: auth.RoleAgent})
	require.NoError(t, err)
	s := New(Config{Tokens: store})
	remote := bearer(serveTCP(t, s, nil), token).mustConnect(t, protocol.PathAgent)
	here := serveSocket(t, s).mustConnect(t, protocol.PathAgent)
	closing := make(chan error, 1)
	go func() { closing <- s.Close() }() // ends within seconds
	require.Equal(t, websocket.CloseServiceRestart, closeCodeOf(t, remote))
	require.Equal(t, websocket.CloseGoingAway, closeCodeOf(t, here))
	require.NoError(t, <-closing)
}

// A server that has just started does not deny a session whose proxy is reconnecting.
func TestAReconnectingSessionIsWaitedFor(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{GathersUntil: time.Now().Add(fake.Soon)})
	agent := bearer(addr, tokens[auth.RoleAgent])
	first, answer, err := agent.connect(t, protocol.PathAgent)
	require.NoError(t, err)
	require.Equal(t, "1", answer.Header.Get(client.HeaderGathering))
	require.NoError(t, answer.Body.Close())
	message(t, first, &protocol.Read{RequestID: "r", SessionID: "vim-1"})
	require.Equal(t, protocol.CodeNoSession, hear[*protocol.Error](t, first).Code, "the server answers; its clients ask again")

	answers := make(chan string, 2)
	plain, c, within := agent.plain(t), agent.client(t, ""), fake.Within(t)
	go func() { // ends with the answer
		_, body := plain.do("GET", at+"screen", "")
		answers <- body
	}()
	go func() { // likewise
		r, err := c.Read(within, &protocol.Read{SessionID: "vim-1"})
		if err == nil {
			answers <- r.Frame.Screen.Lines[0] + "\n"
			return
		}
		answers <- err.Error()
	}()
	metrics := bearer(addr, tokens[auth.RoleViewer]).plain(t)
	require.Eventually(t, func() bool { // both have asked, in vain
		return metrics.metric(`terminalproxy_participants{role="agent"}`) == 3
	}, fake.Soon, fake.Soon/1000)
	startProxy(t, bearer(addr, tokens[auth.RoleProxy]), "vim-1")
	for range 2 {
		require.Equal(t, "hello\n", fake.Receive(t, answers, "an answer"))
	}

	addr, tokens, _ = tcp(t, Config{})
	_, answer, err = bearer(addr, tokens[auth.RoleAgent]).connect(t, protocol.PathAgent)
	require.NoError(t, err)
	require.Empty(t, answer.Header.Get(client.HeaderGathering))
	require.NoError(t, answer.Body.Close())
}
