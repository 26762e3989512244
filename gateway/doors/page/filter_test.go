package page_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/protocol"
)

// asks are messages that a page may send, or not.
var asks = map[string]string{
	"sessions.list":            `"requestId":"1"`,
	"sessions.watch":           `"requestId":"1"`,
	"terminal.view":            `"requestId":"1","sessionId":"vim-1"`,
	"terminal.ack":             `"sessionId":"vim-1","seq":1`,
	"terminal.unview":          `"sessionId":"vim-1"`,
	"terminal.read":            `"requestId":"1","sessionId":"vim-1"`,
	"terminal.control.decide":  `"requestId":"1","sessionId":"vim-1","grant":false,"by":"x"`,
	"terminal.message":         `"requestId":"1","sessionId":"vim-1","from":"user","text":"hm"`,
	"terminal.input":           `"requestId":"1","sessionId":"vim-1","data":"x"`,
	"terminal.attach":          `"requestId":"1","sessionId":"vim-1","cols":80,"rows":24`,
	"terminal.typed":           `"sessionId":"vim-1","dataB64":"eA=="`,
	"terminal.detach":          `"sessionId":"vim-1"`,
	"terminal.watch":           `"sessionId":"vim-1"`,
	"terminal.unwatch":         `"sessionId":"vim-1"`,
	"terminal.close":           `"requestId":"1","sessionId":"vim-1"`,
	"terminal.wait":            `"requestId":"1","sessionId":"vim-1","until":{"quietMs":1}`,
	"terminal.cancel":          `"requestId":"1","sessionId":"vim-1"`,
	"terminal.control.request": `"requestId":"1","sessionId":"vim-1","agentId":"a","agentName":"a","level":"drive","reason":"r"`,
	"terminal.control.release": `"requestId":"1","sessionId":"vim-1","agentId":"a"`,
	"terminal.proxy.start":     `"requestId":"1","command":"sh"`,
	"terminal.proxy.host":      `"requestId":"1","hostKey":"aaaaaaaaaaaaaaaaaaaaaaaa"`,
	"sessions.subscribe":       `"requestId":"1","sessionId":"vim-1"`,
	"secret.watch":             `"requestId":"1"`,
	"secret.reply":             `"requestId":"1","sessionId":"vim-1","question":"v-1:1","verdict":"refuse","at":1,"signatureB64":"c2ln"`,
	"secret.answer":            `"requestId":"1","sessionId":"vim-1","verdict":"refuse"`,
	"secret.ended":             `"question":"v-1:1","sessionId":"vim-1"`,
	"done":                     `"requestId":"1"`,
}

func TestWhatAPageMaySend(t *testing.T) {
	looks := map[string]bool{"sessions.list": true, "sessions.watch": true, "terminal.view": true, "terminal.ack": true, "terminal.unview": true, "terminal.read": true}
	acts := map[string]bool{"terminal.control.decide": true, "terminal.message": true, "secret.watch": true, "secret.reply": true}
	for _, role := range []auth.Role{auth.RoleViewer, auth.RoleOwner} {
		t.Run(string(role), func(t *testing.T) {
			h := openDoor(t, func(c *setup) {
				c.Role = role
				c.Admit = func(context.Context, page.Visitor) (func(), error) { return func() {}, nil }
			})
			b := h.newPage()
			b.waitFor(http.StatusOK)
			s := h.connect(b.ticket())
			s.next()
			l := <-h.links
			for kind, fields := range asks {
				s.say(`{"type":"` + kind + `",` + fields + `}`)
				if looks[kind] || acts[kind] && role == auth.RoleOwner {
					require.Equal(t, kind, protocol.KindOf(<-l.sent))
					continue
				}
				got := s.next()
				require.Equal(t, "error", got["type"], kind)
				require.Equal(t, "forbidden", got["code"], "%s: %v", kind, got)
			}
			require.Empty(t, l.sent)
		})
	}
}

// A decision that gives is signed; who says it is not the page's to write.
func TestADecisionOfAPageIsSigned(t *testing.T) {
	s, l := openDoor(t, func(c *setup) { c.admitOwners() }).visitAsOwner()
	for _, fields := range []string{`"grant":true`, `"grant":false,"hide":"off"`} {
		s.say(`{"type":"terminal.control.decide","requestId":"7","sessionId":"vim-1","by":"root",` + fields + `}`)
		got := s.next()
		require.Equal(t, "forbidden", got["code"], fields)
		require.Equal(t, "7", got["requestId"])
		require.Empty(t, l.sent)
	}
	s.say(`{"type":"terminal.control.decide","requestId":"7","sessionId":"vim-1","by":"root","grant":true,"epoch":3,"at":5,"signatureB64":"eA=="}`)
	got, ok := (<-l.sent).(*protocol.ControlDecide)
	require.True(t, ok)
	require.Equal(t, &protocol.ControlDecide{RequestID: "7", SessionID: "vim-1", By: "a page", Grant: true, Epoch: 3, At: 5, SignatureB64: []byte("x")}, got)
	s.say(`{"type":"terminal.message","requestId":"8","sessionId":"vim-1","from":"user","by":"root","text":"hm"}`)
	note, ok := (<-l.sent).(*protocol.Note)
	require.True(t, ok)
	require.Equal(t, "a page", note.By)
}

func TestAPageOfOneSession(t *testing.T) {
	h := openDoor(t, func(c *setup) { c.Session = "vim-1" })
	s, l := h.visit()
	for _, kind := range []string{"terminal.view", "terminal.read", "terminal.unview"} {
		s.say(`{"type":"` + kind + `","requestId":"1","sessionId":"bash-2"}`)
		got := s.next()
		require.Equal(t, "forbidden", got["code"])
		require.Contains(t, got["message"], "limited to the session vim-1")
	}
	require.Empty(t, l.sent)
	s.say(`{"type":"terminal.view","requestId":"1","sessionId":"vim-1"}`)
	require.Equal(t, "terminal.view", protocol.KindOf(<-l.sent))
	session := func(id string) string {
		return `{"sessionId":"` + id + `","name":"x","command":"x","args":[],"cwd":"/","cols":80,"rows":24,"pid":1,"startedAt":1,` +
			`"state":"running","seq":1,"idleMs":0,"keyboard":{"holder":"user","epoch":0}}`
	}
	l.frames <- `{"type":"sessions.list.result","requestId":"2","sessions":[` + session("bash-2") + "," + session("vim-1") + `]}`
	got := s.next()
	require.Len(t, got["sessions"], 1)
	require.NotContains(t, string(mustJSON(t, got)), "bash-2")
	l.frames <- `{"type":"sessions.changed","sessions":[` + session("bash-2") + `],"gone":["sh-3"]}` // nothing of it
	l.frames <- `{"type":"sessions.changed","full":true,"sessions":[` + session("bash-2") + "," + session("vim-1") + `],"gone":["sh-3"]}`
	got = s.next()
	require.Len(t, got["sessions"], 1)
	require.NotContains(t, string(mustJSON(t, got)), "bash-2")
	require.NotContains(t, got, "gone")
	l.frames <- `{"type":"sessions.changed","full":true,"sessions":[` + session("bash-2") + `]}`
	require.Equal(t, []any{}, s.next()["sessions"])
	l.frames <- `{"type":"sessions.changed","sessions":[` + session("bash-2") + `],"gone":["bash-2"]}`
	l.frames <- `{"type":"sessions.changed","sessions":[` + session("bash-2") + "," + session("vim-1") + `],"gone":["bash-2"]}`
	got = s.next()
	require.Len(t, got["sessions"], 1)
	require.NotContains(t, string(mustJSON(t, got)), "bash-2")
	l.frames <- `{"type":"sessions.changed","sessions":[],"gone":["bash-2","vim-1"]}`
	require.Equal(t, []any{"vim-1"}, s.next()["gone"])
	l.frames <- `{"type":"terminal.session.close","id":"m1","sessionId":"bash-2","exitCode":0}`
	l.frames <- `{"type":"of.a.newer.gateway","sessionId":"bash-2"}`
	l.frames <- `{"type":"error","requestId":"3","code":"no_such_session","message":"no session vim-1: there is bash-2"}`
	got = s.next()
	require.Equal(t, "no_such_session", got["code"])
	require.NotContains(t, got["message"], "bash-2")
	l.frames <- `{"type":"terminal.session.close","id":"m2","sessionId":"vim-1","exitCode":0}`
	require.Equal(t, "m2", s.next()["id"])
}

// Only rows of the page's session reach it, in any order and from any writer.
func TestRowsOfItsOwnSession(t *testing.T) {
	h := openDoor(t, func(c *setup) { c.Session = "vim-1" })
	s, l := h.visit()
	const screen = `"seq":1,"rev":1,"cols":80,"rows":24,"cursor":{"row":0,"col":0},"state":{"keyboard":{"holder":"user","epoch":1}}}`
	for _, head := range []string{
		`{"type":"terminal.rows","sessionId":"vim-10",`, `{"type":"terminal.rows","sessionId":"vim-2",`, `{"type":"terminal.rows","sessionId":"vim-1\u0030",`,
		`{"sessionId":"vim-2","type":"terminal.rows",`,
	} {
		l.frames <- head + screen
	}
	for _, head := range []string{`{"type":"terminal.rows","sessionId":"vim-1",`, `{"sessionId":"vim-1","type":"terminal.rows",`} {
		l.frames <- head + screen
		_, got, err := s.ws.ReadMessage()
		require.NoError(t, err)
		require.Equal(t, head+screen, string(got))
	}
}
