package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, fake.Lingering()) }

// good has a successful request for every operation.
var validRequests = map[string]struct{ path, body string }{
	"GET /v1/sessions":                       {"/v1/sessions", ""},
	"GET /v1/sessions/{id}":                  {"/v1/sessions/vim-1", ""},
	"GET /v1/sessions/{id}/screen":           {"/v1/sessions/vim-1/screen?format=json&since=3", ""},
	"GET /v1/sessions/{id}/history":          {"/v1/sessions/vim-1/history?format=json", ""},
	"GET /v1/sessions/{id}/command":          {"/v1/sessions/vim-1/command?format=json", ""},
	"GET /v1/sessions/{id}/events":           {"/v1/sessions/vim-1/events?everyMs=5&changes=true", ""},
	"GET /v1/sessions/{id}/chat":             {"/v1/sessions/vim-1/chat?after=3", ""},
	"POST /v1/sessions/{id}/chat/send":       {"/v1/sessions/vim-1/chat/send", `{"text":"go"}`},
	"POST /v1/sessions/{id}/chat/answer":     {"/v1/sessions/vim-1/chat/answer", `{"request":"t1","answer":{"replies":{"q1":["Red"]}}}`},
	"POST /v1/sessions/{id}/chat/interrupt":  {"/v1/sessions/vim-1/chat/interrupt", ""},
	"POST /v1/sessions/{id}/input":           {"/v1/sessions/vim-1/input", `{"data":"ls","kind":"text","expect":{"seq":7}}`},
	"POST /v1/sessions/{id}/wait":            {"/v1/sessions/vim-1/wait", `{"until":{"text":"$"},"timeoutMs":100}`},
	"POST /v1/sessions/{id}/control/request": {"/v1/sessions/vim-1/control/request", `{"level":"drive","reason":"to fix it"}`},
	"POST /v1/sessions/{id}/control/release": {"/v1/sessions/vim-1/control/release", ""},
	"POST /v1/sessions/{id}/message":         {"/v1/sessions/vim-1/message", `{"text":"done"}`},
	"POST /v1/sessions/{id}/control/grant":   {"/v1/sessions/vim-1/control/grant", `{"level":"type","seconds":60}`},
	"POST /v1/sessions/{id}/control/reclaim": {"/v1/sessions/vim-1/control/reclaim", ""},
	"POST /v1/sessions/{id}/control/hide":    {"/v1/sessions/vim-1/control/hide", `{"hide":"off"}`},
	"POST /v1/sessions/{id}/control/refuse":  {"/v1/sessions/vim-1/control/refuse", `{"agentName":"claude"}`},
	"POST /v1/sessions/{id}/control/mute":    {"/v1/sessions/vim-1/control/mute", `{"agentName":"claude"}`},
	"GET /metrics":                           {"/metrics", ""},
	"GET /v1/openapi.json":                   {"/v1/openapi.json", ""},
	"GET /healthz":                           {"/healthz", ""},
}

// upstream are the switchboard's error codes that an operation passes on.
var upstream = []protocol.Code{
	protocol.CodeBadMessage, protocol.CodeTooLarge, protocol.CodeUnauthorized, protocol.CodeForbidden, protocol.CodeNoSession, protocol.CodeNoGrant,
	protocol.CodeStaleEpoch, protocol.CodeScreenChanged, protocol.CodeBlackout, protocol.CodeBusy, protocol.CodeUserTyping, protocol.CodeTimeout,
	protocol.CodeExited, protocol.CodeUnavailable, protocol.CodeReservedKey, protocol.CodeNotReading,
	protocol.CodeSecretPrompt, protocol.CodeUserRefused, protocol.CodeOtherProgram,
}

// Exactly what the document says happens.
func TestEveryPathAndCodeOfTheDocument(t *testing.T) {
	s := newSpec(t)
	v := &caller{role: RoleAgent, answer: plain, ended: make(chan struct{})}
	server := serve(t, v)
	seen := map[string][]string{}
	check := func(operation string, got answer) {
		t.Helper()
		status := fmt.Sprint(got.status)
		require.Contains(t, s.operations()[operation], status, "%s answers what the document does not know: %s", operation, got.body)
		s.checkBody(operation, status, got.header.Get("Content-Type"), []byte(got.body))
		if !slices.Contains(seen[operation], status) {
			seen[operation] = append(seen[operation], status)
		}
	}
	for operation, request := range validRequests {
		method, pattern, _ := strings.Cut(operation, " ")
		if strings.HasSuffix(pattern, "/events") {
			v.stream = make(chan protocol.Message)
			close(v.stream) // an end at once
		}
		if request.body != "" {
			s.checkRequest(operation, []byte(request.body))
		}
		if ownerMay(operation) {
			v.role = RoleOwner
		}
		check(operation, server.do(method, request.path, request.body))
		v.stream = nil
		if pattern == "/v1/openapi.json" || pattern == "/healthz" {
			continue
		}
		check(operation, server.do(method, request.path, request.body, "Authorization: "))
		v.role = RoleViewer
		owners := ownerMay(operation)
		if got := server.do(method, request.path, request.body); method == http.MethodPost {
			require.Equal(t, http.StatusForbidden, got.status)
			check(operation, got)
		}
		v.role = "stranger"
		check(operation, server.do(method, request.path, request.body))
		v.role = RoleAgent
		if owners {
			v.role = RoleOwner
			check(operation, server.do(method, request.path, request.body))
		}
		check(operation, server.do(method, request.path+"?nonsense=1", `{"nonsense":1}`))
		if method == http.MethodPost {
			check(operation, server.do(method, request.path, "{}", "Content-Type: text/plain"))
			check(operation, server.do(method, request.path, strings.Repeat(" ", protocol.MaxAgentMessage+1)+"{}"))
		}
		if pattern == "/metrics" {
			continue
		}
		for _, code := range upstream {
			if !slices.Contains(s.operations()[operation], fmt.Sprint(statusOf(code))) {
				continue // the switchboard does not answer this request so
			}
			v.answer = refusing(code)
			check(operation, server.do(method, request.path, request.body))
		}
		v.answer, v.role = plain, RoleAgent
	}
	const screen, request = "GET /v1/sessions/{id}/screen", "POST /v1/sessions/{id}/control/request"
	for _, query := range []string{"?since=7", "?format=text", "?format=ansi", "?format=svg", "?format=png"} {
		check(screen, server.do("GET", "/v1/sessions/vim-1/screen"+query, ""))
	}
	check("GET /v1/sessions/{id}/history", server.do("GET", "/v1/sessions/vim-1/history", ""))
	check("GET /v1/sessions/{id}/command", server.do("GET", "/v1/sessions/vim-1/command", ""))
	check("GET /v1/sessions/{id}", server.do("GET", "/v1/sessions/nope", ""))
	v.answer = history
	check("GET /v1/sessions/{id}/command", server.do("GET", "/v1/sessions/vim-1/command", ""))
	v.answer = func(ctx context.Context, _ protocol.Message) (protocol.Message, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	check(request, server.do("POST", "/v1/sessions/vim-1/control/request?timeoutMs=1", validRequests[request].body))
	v.answer = func(_ context.Context, _ protocol.Message) (protocol.Message, error) {
		return &protocol.ControlRevoke{ID: "v", RequestID: "x", SessionID: "vim-1", Reason: protocol.ReasonRefused}, nil
	}
	check(request, server.do("POST", "/v1/sessions/vim-1/control/request", validRequests[request].body))
	for _, got := range []protocol.InputResult{
		{Status: protocol.StatusRefused, Reason: protocol.CodeScreenChanged, Frame: frame()},
		{Status: protocol.StatusDropped, Ended: protocol.ReasonReclaimed, WrittenBytes: 2, DroppedBytes: 3},
	} {
		v.answer = func(context.Context, protocol.Message) (protocol.Message, error) { return &got, nil }
		check("POST /v1/sessions/{id}/input", server.do("POST", "/v1/sessions/vim-1/input", `{"data":"hello"}`))
	}
	v.answer = func(context.Context, protocol.Message) (protocol.Message, error) {
		f := frame()
		f.Screen.Cols, f.Screen.Rows = 1000, 1000
		return &protocol.ReadResult{Frame: f}, nil
	}
	check(screen, server.do("GET", "/v1/sessions/vim-1/screen?format=png", ""))
	v.answer, server.cfg.Draw = plain, nil
	server.start()
	check(screen, server.do("GET", "/v1/sessions/vim-1/screen?format=png", ""))

	for operation, statuses := range s.operations() {
		slices.Sort(statuses)
		slices.Sort(seen[operation])
		require.Equal(t, statuses, seen[operation], "%s: documented and happened", operation)
	}
	require.Len(t, validRequests, len(s.operations()))
}

func TestScreenInItsFormats(t *testing.T) {
	server := serve(t, &caller{role: RoleViewer, answer: plain})
	got := server.do("GET", "/v1/sessions/vim-1/screen", "")
	require.Equal(t, "red <b>\ntwo\n", got.body, "nothing that a terminal would act on")
	require.Equal(t, "text/plain; charset=utf-8", got.header.Get("Content-Type"))
	require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.Equal(t, "7", got.header.Get("Terminal-Rev"))
	require.Equal(t, "2,3", got.header.Get("Terminal-Cursor"))
	require.Equal(t, "20x3", got.header.Get("Terminal-Size"))
	require.Equal(t, "user (cl?ude X: y asks)", got.header.Get("Terminal-Keyboard"))
	require.Empty(t, got.header.Get("X"), "a name makes no header field of its own")

	require.Equal(t, "\x1b[31mred\x1b[0m <b>\x1b[0m\ntwo \x1b[0m\n\x1b[0m\n", server.do("GET", "/v1/sessions/vim-1/screen?format=ansi", "").body)
	got = server.do("GET", "/v1/sessions/vim-1/screen?format=svg", "")
	require.Equal(t, `<svg 20x3 "\x1b[31mred\x1b[0m <b>">`, got.body)
	require.Contains(t, got.header.Get("Content-Security-Policy"), "sandbox")
	require.Contains(t, server.do("GET", "/v1/sessions/vim-1/screen?format=json", "").body, `<b>`)
	require.Empty(t, server.do("GET", "/v1/sessions/vim-1/screen?since=7", "").body)
	require.Equal(t, "older]0;evil row\nred <b>\ntwo\n", server.do("GET", "/v1/sessions/vim-1/history", "").body)
}

// R25: a hidden screen shows nothing and says so; only the user answers a password.
func TestAHiddenScreenSaysSo(t *testing.T) {
	why := &protocol.Hidden{Why: protocol.BlackoutUser}
	server := serve(t, &caller{role: RoleViewer, answer: func(context.Context, protocol.Message) (protocol.Message, error) {
		f := frame()
		f.Blackout = why
		return &protocol.ReadResult{ID: "r", RequestID: "x", SessionID: "vim-1", Frame: f}, nil
	}})
	for _, path := range []string{"screen", "screen?format=ansi", "screen?format=png", "screen?since=7", "history"} {
		got := server.do("GET", "/v1/sessions/vim-1/"+path, "")
		require.Equal(t, http.StatusLocked, got.status, path)
		require.Contains(t, got.body, "the user hid the screen")
	}
	require.Equal(t, http.StatusOK, server.do("GET", "/v1/sessions/vim-1/screen?format=json", "").status)
	why = &protocol.Hidden{Why: protocol.BlackoutPassword, Secret: protocol.SecretHard}
	got := server.do("GET", "/v1/sessions/vim-1/screen", "")
	require.Equal(t, http.StatusOK, got.status)
	require.Contains(t, got.header.Get("Terminal-Note"), "a password is being asked for")
}

// The wire's request: the path fills its fields in, and the body passes on the rest.
func TestBodiesAreMessagesOfTheWire(t *testing.T) {
	var asked protocol.Message
	server := serve(t, &caller{role: RoleAgent, answer: func(ctx context.Context, m protocol.Message) (protocol.Message, error) {
		asked = m
		return plain(ctx, m)
	}})
	seq := uint64(7)
	require.Equal(t, http.StatusOK, server.do("POST", "/v1/sessions/vim-1/input", `{"requestId":"mine","data":"ctrl-c","kind":"keys","expect":{"seq":7},"settleMs":5}`).status)
	require.Equal(t, &protocol.Input{
		RequestID: "mine", SessionID: "vim-1", Data: "ctrl-c", InputKind: protocol.InputKeys, Expect: &protocol.Expect{Seq: &seq}, SettleMs: 5,
	}, asked)
	require.Equal(t, http.StatusOK, server.do("POST", "/v1/sessions/vim-1/input", `{"requestId":"mine","data":"drag","kind":"mouse","on":"OK","to":{"row":0,"col":4}}`).status)
	require.Equal(t, &protocol.Input{
		RequestID: "mine", SessionID: "vim-1", Data: "drag", InputKind: protocol.InputMouse, On: "OK", To: &protocol.Cell{Col: 4},
	}, asked)
	require.Equal(t, http.StatusOK, server.do("POST", "/v1/sessions/vim-1/control/release", " ").status)
	require.Equal(t, &protocol.ControlRelease{RequestID: "made-up", SessionID: "vim-1"}, asked)
	require.Equal(t, http.StatusOK, server.do("POST", "/v1/sessions/vim-1/wait", `{"sessionId":"vim-1","until":{"exit":true}}`).status)
	require.Equal(t, http.StatusOK, server.do("GET", "/v1/sessions/vim-1/screen?format=png", "").status)
	require.Equal(t, &protocol.Read{RequestID: "made-up", SessionID: "vim-1", Attributes: true}, asked)
}

func TestBadRequestsNameTheFieldAndWhatToDo(t *testing.T) {
	server := serve(t, &caller{role: RoleAgent, answer: plain})
	const at = "/v1/sessions/vim-1/"
	for _, c := range []struct{ method, path, body, field, say string }{
		{"POST", at + "input", `{"data":"x","expct":{"seq":1}}`, "expct", `field "expct": unknown field; the request takes requestId, data, epoch, kind, at, on, to, parts, expect, settleMs, timeoutMs`},
		{"POST", at + "input", `{"data":"x","expect":{"sec":1}}`, "sec", "unknown field"},
		{"POST", at + "input", `{}`, "data", `field "data": is missing`},
		{"POST", at + "input", `{"data":"click","kind":"mouse","at":{"row":5,"column":1}}`, "column", "unknown field"},
		{"POST", at + "input", `{"data":"click","kind":"mouse","at":"5,12"}`, "at", "must be"},
		{"POST", at + "input", `{"data":"x","on":"OK"}`, "on", "belongs to the kind mouse"},
		{"POST", at + "input", `{"data":1}`, "data", "must be a string"},
		{"POST", at + "input", `{"data":"x","DATA":"y"}`, "DATA", "appears twice"},
		{"POST", at + "input", `{"data":"x","type":"terminal.input"}`, "type", "leave it out"},
		{"POST", at + "input", `{"data":"x","sessionId":"other"}`, "sessionId", "the path names another session: leave it out"},
		{"POST", at + "input", `{"data":"x","SessionId":"other"}`, "SessionId", "appears twice"},
		{"POST", at + "input", `{"data":"x"`, "", "must be a JSON object"},
		{"POST", at + "input", `[1]`, "", "must be a JSON object"},
		{"POST", at + "input", `null`, "", "must be a JSON object"},
		{"POST", at + "input", `{"data":"x"} {"data":"y"}`, "", "must be a JSON object"},
		{"POST", at + "wait", `{"until":{}}`, "until", "exactly one of text, regex"},
		{"POST", at + "control/request", `{"level":"root","reason":"r"}`, "level", "must be one of: type, drive"},
		{"POST", at + "control/request?timeoutMs=-1", `{}`, "timeoutMs", `is "-1", must be a whole number from 0 to 86400000`},
		{"GET", at + "screen?format=gif", "", "format", "must be one of: text, json, ansi, png, svg"},
		{"GET", at + "screen?since=x", "", "since", "must be a whole number"},
		{"GET", at + "screen?since=1&since=2", "", "since", "is given twice"},
		{"GET", at + "screen?%zz", "", "", "not well-formed"},
		{"GET", at + "history?lines=0", "", "lines", "from 1 to 2000"},
		{"GET", at + "events?every=1", "", "every", "unknown parameter; this path takes everyMs"},
		{"GET", at + "events?changes=1", "", "changes", "must be one of: false, true, moves"},
		{"GET", "/v1/sessions?x=1", "", "x", "this path takes none"},
		{"GET", "/v1/sessions/a%20b/screen", "", "sessionId", "GET /v1/sessions lists the sessions"},
	} {
		got := server.do(c.method, c.path, c.body)
		require.Equal(t, http.StatusBadRequest, got.status, "%s %s: %s", c.path, c.body, got.body)
		require.Contains(t, got.body, strings.ReplaceAll(c.say, `"`, `\"`), c.body)
		if c.field != "" {
			require.Contains(t, got.body, fmt.Sprintf(`"field":%q`, c.field), c.body)
		}
	}
	got := server.do("DELETE", "/v1/sessions/vim-1", "")
	require.Equal(t, http.StatusMethodNotAllowed, got.status)
	require.Equal(t, "GET", got.header.Get("Allow"))
	require.Contains(t, got.body, `{"error":{"code":"bad_message"`)
	require.Equal(t, http.StatusNotFound, server.do("GET", "/v1/sessions/vim-1/nope", "").status)
}

// ownerMay reports whether an operation is an owner's decision.
func ownerMay(operation string) bool {
	return strings.HasSuffix(operation, "/grant") || strings.HasSuffix(operation, "/reclaim") || strings.HasSuffix(operation, "/hide") ||
		strings.HasSuffix(operation, "/refuse") || strings.HasSuffix(operation, "/mute") || strings.HasSuffix(operation, "/chat/answer")
}

// The path says whether a decision grants or takes away: the body cannot turn one into the other.
func TestOwnersActs(t *testing.T) {
	var asked protocol.Message
	v := &caller{role: RoleOwner, answer: func(ctx context.Context, m protocol.Message) (protocol.Message, error) {
		asked = m
		return plain(ctx, m)
	}}
	server := serve(t, v)
	for _, c := range []struct {
		act, body string
		want      protocol.ControlDecide
	}{
		{"grant", `{"level":"type","seconds":60,"agentName":"claude","epoch":3,"at":5,"signatureB64":"AQI="}`, protocol.ControlDecide{
			Grant: true, By: "owner", Level: protocol.LevelType, Seconds: 60, AgentName: "claude", Epoch: 3, At: 5, SignatureB64: []byte{1, 2},
		}},
		{"reclaim", "", protocol.ControlDecide{By: "owner"}},
		{"reclaim", `{"by":"ada"}`, protocol.ControlDecide{By: "ada"}},
		{"hide", "", protocol.ControlDecide{By: "owner", Hide: protocol.HideOn}},
		{"hide", `{"hide":"off"}`, protocol.ControlDecide{By: "owner", Hide: protocol.HideOff}},
		{"refuse", "", protocol.ControlDecide{By: "owner", Refuse: true}},
		{"refuse", `{"agentName":"claude"}`, protocol.ControlDecide{By: "owner", Refuse: true, AgentName: "claude"}},
		{"mute", `{"agentName":"claude"}`, protocol.ControlDecide{By: "owner", Mute: protocol.MuteOn, AgentName: "claude"}},
		{"mute", `{"mute":"off"}`, protocol.ControlDecide{By: "owner", Mute: protocol.MuteOff}},
	} {
		asked = nil
		c.want.RequestID, c.want.SessionID = "made-up", "vim-1"
		got := server.do("POST", "/v1/sessions/vim-1/control/"+c.act, c.body)
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, &c.want, asked)
	}
	asked = nil
	for act, body := range map[string]string{"grant": `{"grant":true}`, "reclaim": `{"grant":true}`, "hide": `{"grant":false}`, "reclaim?": `{"hide":"off"}`, "refuse": `{"refuse":false}`, "hide?": `{"mute":"off"}`, "mute?": `{"agentName":"x","refuse":true}`} {
		got := server.do("POST", "/v1/sessions/vim-1/control/"+act, body)
		require.Equal(t, http.StatusBadRequest, got.status, got.body)
		require.Contains(t, got.body, "leave it out")
	}
	require.Nil(t, asked)
}
