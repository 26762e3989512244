package opencode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/chattest"
	"terminalproxy/proxy/chat/opencode"
	"terminalproxy/proxy/chat/stdio"
)

// asServer makes the test binary opencode's server, with its value as the output. In passwordFile
// the server leaves its password and its process.
const (
	asServer     = "CHAT_TEST_SAYS"
	passwordFile = "CHAT_TEST_PASSWORD"
	patience     = 2 * time.Minute
)

func TestMain(m *testing.M) {
	if says := os.Getenv(asServer); says != "" {
		left := fmt.Sprintf("%s %d %s", os.Getenv("OPENCODE_SERVER_PASSWORD"), os.Getpid(), strings.Join(os.Args[1:], " "))
		place := os.Getenv(passwordFile) // another server's calls may read it meanwhile
		if os.WriteFile(place+".new", []byte(left), 0o600) != nil || os.Rename(place+".new", place) != nil || says == "nothing" {
			os.Exit(3)
		}
		fmt.Println("Warning: something first")
		fmt.Println(says)
		time.Sleep(time.Hour) // until it is told to end; select {} is a deadlock if cgo is off
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http/httptest.(*Server).goServe.func1"))
}

// call is a request to the server.
type call struct{ what, body string }

// server plays opencode's server.
type server struct {
	t      *testing.T
	http   *httptest.Server
	left   string        // file with the password
	calls  chan call     // without those that only read
	events chan string   // for the stream; "" ends it
	end    chan struct{} // ends the streams

	mu    sync.Mutex
	says  map[string]string // answers, by request
	fails map[string]int    // status instead of an answer
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{
		t: t, left: t.TempDir() + "/left", calls: make(chan call, 100), events: make(chan string), end: make(chan struct{}),
		says: map[string]string{
			"POST /session": `{"id":"ses_1"}`, "GET /session/ses_1": `{"id":"ses_1"}`, "GET /permission": `[]`, "GET /question": `[]`, "GET /session/status": `{}`,
		}, fails: map[string]int{},
	}
	s.http = httptest.NewServer(s)
	t.Cleanup(func() { close(s.end); s.http.Close() })
	t.Setenv(passwordFile, s.left)
	t.Setenv(asServer, "opencode server listening on "+s.http.URL)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	return s
}

// process returns what the server's process left: its password, its id and its arguments.
func (s *server) process() (password string, pid int, args string) {
	b, err := os.ReadFile(s.left)
	require.NoError(s.t, err)
	_, err = fmt.Sscanf(string(b), "%s %d", &password, &pid)
	require.NoError(s.t, err)
	_, args, _ = strings.Cut(string(b), fmt.Sprint(pid)+" ")
	return password, pid, args
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, password, _ := r.BasicAuth()
	if wanted, _, _ := s.process(); wanted == "" || password != wanted {
		http.Error(w, "", http.StatusUnauthorized)
		return
	}
	if r.URL.Path == "/event" {
		s.stream(w)
		return
	}
	what := r.Method + " " + r.URL.Path
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	said, fails := s.says[what], s.fails[what]
	s.mu.Unlock()
	if r.Method != http.MethodGet {
		s.calls <- call{what, string(body)}
	}
	if fails != 0 {
		w.WriteHeader(fails)
	}
	_, _ = io.WriteString(w, said)
}

func (s *server) stream(w http.ResponseWriter) {
	for e := `{"type":"server.connected","properties":{}}`; e != ""; {
		fmt.Fprintf(w, "data: %s\n\n", e)
		w.(http.Flusher).Flush()
		select {
		case e = <-s.events:
		case <-s.end:
			return
		}
	}
}

func (s *server) sendEvents(events ...string) {
	s.t.Helper()
	for _, e := range events {
		select {
		case s.events <- e:
		case <-time.After(patience):
			require.FailNow(s.t, "nobody reads the events")
		}
	}
}

// setAnswer sets the answer to a request from now on.
func (s *server) setAnswer(what, said string, fails int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says[what], s.fails[what] = said, fails
}

func (s *server) waitCall(what string) (body string) {
	s.t.Helper()
	select {
	case c := <-s.calls:
		require.Equal(s.t, what, c.what)
		return c.body
	case <-time.After(patience):
		require.FailNow(s.t, "not asked: "+what)
	}
	return ""
}

// talk is a conversation through the driver, and the records that were read.
type talk struct {
	*server
	*opencode.Driver
	session *chattest.Conversation
}

func (s *server) talks(c opencode.Config) *talk {
	s.t.Helper()
	c.Program = os.Args[0]
	d, err := opencode.Serve(s.t.Context(), c)
	require.NoError(s.t, err)
	k := &talk{server: s, Driver: d, session: &chattest.Conversation{Session: chat.New("opencode", d), T: s.t}}
	require.NoError(s.t, k.session.Start())
	s.t.Cleanup(func() {
		_ = k.session.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	k.session.WaitForState(chat.AtPrompt)
	return k
}

func (k *talk) item(kind chat.Kind) chat.Item {
	k.t.Helper()
	return *k.session.Next("item "+kind, func(r chat.Record) bool { return r.Item != nil && r.Item.Kind == kind }).Item
}

func (k *talk) closed(id string) chat.Closed {
	k.t.Helper()
	return *k.session.Next("closed "+id, func(r chat.Record) bool { return r.Closed != nil && r.Closed.ID == id }).Closed
}

func (k *talk) request() *chat.Request {
	k.t.Helper()
	return k.session.Next("request", func(r chat.Record) bool { return r.Request != nil }).Request
}

// Events as opencode 1.18 sends them.
const (
	busy  = `{"type":"session.status","properties":{"sessionID":"ses_1","status":{"type":"busy"}}}`
	idle  = `{"type":"session.idle","properties":{"sessionID":"ses_1"}}`
	asks  = `{"type":"permission.asked","properties":{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["touch made"],"metadata":{"command":"touch made"},"always":["touch *"]}}`
	form  = `{"type":"question.asked","properties":{"id":"que_1","sessionID":"ses_1","questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"}]},{"question":"Sizes?","header":"S","multiple":true,"options":[]}]}}`
	abort = `{"type":"session.error","properties":{"sessionID":"ses_1","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}}`
)

func message(id, session, role, parent string) string {
	return fmt.Sprintf(`{"type":"message.updated","properties":{"sessionID":%[1]q,"info":{"id":%[2]q,"sessionID":%[1]q,"role":%[3]q,"parentID":%[4]q}}}`, session, id, role, parent)
}

func text(id, message, session, words string, end int) string {
	return fmt.Sprintf(`{"type":"message.part.updated","properties":{"part":{"id":%q,"messageID":%q,"sessionID":%q,"type":"text","text":%q,"time":{"end":%d}}}}`, id, message, session, words, end)
}

func tool(status, output string) string {
	return fmt.Sprintf(`{"type":"message.part.updated","properties":{"part":{"id":"prt_t","messageID":"msg_2","sessionID":"ses_1","type":"tool","tool":"bash","callID":"call_1","state":{"status":%q,"input":{"command":"touch made"},%q:"no output"}}}}`, status, output)
}

// promptEvents returns the events with which the server accepts one of our prompts.
func (k *talk) promptEvents(id, words string) []string {
	k.t.Helper()
	require.NoError(k.t, k.session.Send("page", words))
	var got struct{ Parts []struct{ ID, Text string } }
	require.NoError(k.t, json.Unmarshal([]byte(k.waitCall("POST /session/ses_1/prompt_async")), &got))
	require.Equal(k.t, words, got.Parts[0].Text)
	return []string{message(id, "ses_1", "user", ""), text(got.Parts[0].ID, id, "ses_1", words, 0)}
}

// What is said and done, by us and in opencode's own interface, comes once and in order.
func TestATurn(t *testing.T) {
	k := newServer(t).talks(opencode.Config{Env: []string{"OPENCODE_SERVER_PASSWORD=from elsewhere"}})
	require.Equal(t, "ses_1", k.session.Conversation())
	password, _, args := k.process()
	require.Equal(t, []string{"attach", k.http.URL, "--session", "ses_1"}, k.Args())
	require.Contains(t, k.Env(), "OPENCODE_SERVER_PASSWORD="+password)
	require.Equal(t, "serve --port=0 --hostname=127.0.0.1 --mdns=false", args)
	k.waitCall("POST /session")

	k.sendEvents(k.promptEvents("msg_1", "make a file")...)
	k.sendEvents(busy, message("msg_2", "ses_1", "assistant", "msg_1"), text("prt_a", "msg_2", "ses_1", "", 0),
		`{"type":"message.part.delta","properties":{"sessionID":"ses_1","messageID":"msg_2","partID":"prt_a","field":"text","delta":"I ma"}}`,
		`{"type":"message.part.delta","properties":{"sessionID":"ses_1","messageID":"msg_2","partID":"prt_thought","field":"text","delta":"hm"}}`)
	require.Equal(t, "page", k.item(chat.User).Author)
	require.Equal(t, chat.Piece{ID: "prt_a", Text: "I ma"}, *k.session.Next("a piece", func(r chat.Record) bool { return r.Piece != nil }).Piece)
	k.sendEvents(text("prt_a", "msg_2", "ses_1", "I make it", 1), text("prt_a", "msg_2", "ses_1", "I make it", 1), tool("pending", "raw"), tool("running", "x"),
		tool("running", "x"), tool("completed", "output"), tool("completed", "output"), busy, idle, idle)
	require.Equal(t, chat.Item{Kind: chat.Text, ID: "prt_a", Author: "opencode", Text: "I make it"}, k.item(chat.Text))
	called := k.item(chat.ToolCall)
	require.Equal(t, "bash", called.Tool)
	require.JSONEq(t, `{"command":"touch made"}`, string(called.Input))
	require.Equal(t, chat.Item{Kind: chat.ToolResult, ID: "call_1", Author: "opencode", Text: "no output"}, k.item(chat.ToolResult))
	require.Equal(t, chat.Turn{Outcome: chat.Done}, k.session.Turn())
	k.session.WaitForState(chat.AtPrompt)

	k.sendEvents(message("msg_5", "ses_1", "user", ""), text("prt_u", "msg_5", "ses_1", "typed there", 0), text("prt_u", "msg_5", "ses_1", "typed there", 0), busy, tool("error", "error"), idle)
	require.Equal(t, chat.Item{Kind: chat.User, ID: "prt_u", Author: "terminal", Text: "typed there"}, k.item(chat.User))
	require.Equal(t, chat.Turn{Outcome: chat.Done}, *k.session.Next("no second item", func(r chat.Record) bool {
		require.True(t, r.Item == nil || r.Item.Kind != chat.User)
		return r.Turn != nil
	}).Turn)
}

// The first answer counts, in either place, and each side hears of the other's.
func TestAnswers(t *testing.T) {
	k := newServer(t).talks(opencode.Config{Resume: "ses_1"})
	k.sendEvents(busy, asks, asks)
	r := k.request()
	require.Equal(t, "bash", r.Tool)
	require.JSONEq(t, `{"command":"touch made","patterns":["touch made"]}`, string(r.Input))
	require.Equal(t, []chat.Choice{{Verdict: chat.Once}}, r.Allows)
	k.session.WaitForState(chat.Approval)
	require.NoError(t, k.session.Answer("per_1", "page", chat.Answer{Verdict: chat.Once}))
	require.JSONEq(t, `{"reply":"once"}`, k.waitCall("POST /permission/per_1/reply"))
	require.Error(t, k.Answer("per_1", chat.Answer{Verdict: chat.Once}))
	k.sendEvents(asks, `{"type":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"once"}}`)

	k.sendEvents(strings.ReplaceAll(asks, "per_1", "per_2"))
	require.Equal(t, "page", k.closed("per_1").By)
	k.request()
	k.sendEvents(`{"type":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_2","reply":"always"}}`)
	require.Equal(t, chat.Closed{ID: "per_2", Why: "allowed in opencode's own interface (always)"}, k.closed("per_2"))
	answered := &chat.AnsweredError{}
	require.ErrorAs(t, k.session.Answer("per_2", "page", chat.Answer{}), &answered)

	k.sendEvents(strings.ReplaceAll(asks, "per_1", "per_3"))
	k.request()
	k.setAnswer("POST /permission/per_3/reply", `{"message":"not found"}`, http.StatusNotFound)
	require.NoError(t, k.session.Answer("per_3", "page", chat.Answer{Words: "use the other one"}))
	require.JSONEq(t, `{"reply":"reject","message":"use the other one"}`, k.waitCall("POST /permission/per_3/reply"))
	require.Contains(t, k.item(chat.Notice).Text, "came too late")

	k.sendEvents(form)
	r = k.request()
	require.Equal(t, []chat.Question{
		{ID: "1", Header: "Colour", Text: "Which colour?", Options: []chat.Option{{Label: "Red", Description: "warm"}}},
		{ID: "2", Header: "S", Text: "Sizes?", Many: true, Options: []chat.Option{}},
	}, r.Form)
	require.NoError(t, k.session.Answer("que_1", "page", chat.Answer{Replies: map[string][]string{"2": {"S", "L"}, "1": {"Green"}}}))
	require.JSONEq(t, `{"answers":[["Green"],["S","L"]]}`, k.waitCall("POST /question/que_1/reply"))
	k.sendEvents(strings.ReplaceAll(form, "que_1", "que_2"))
	k.request()
	require.NoError(t, k.session.Answer("que_2", "page", chat.Answer{}))
	k.waitCall("POST /question/que_2/reject")
	k.sendEvents(strings.ReplaceAll(form, "que_1", "que_3"), `{"type":"question.rejected","properties":{"sessionID":"ses_1","requestID":"que_3"}}`)
	require.Equal(t, chat.Closed{ID: "que_3", Why: "refused in opencode's own interface"}, k.closed("que_3"))
}

// Open requests are refused, and waiting prompts withdrawn. An interruption by Esc in opencode's
// own interface closes open requests, too, although opencode does not report it.
func TestInterrupt(t *testing.T) {
	k := newServer(t).talks(opencode.Config{Resume: "ses_1"})
	k.sendEvents(k.promptEvents("msg_1", "think")...)
	k.sendEvents(busy, message("msg_2", "ses_1", "assistant", "msg_1"), asks)
	k.request()
	k.sendEvents(k.promptEvents("msg_3", "and then")...)
	require.NoError(t, k.session.Interrupt("page"))
	k.waitCall("POST /permission/per_1/reply")
	k.waitCall("POST /session/ses_1/abort")
	k.sendEvents(abort, idle, message("msg_2", "ses_1", "assistant", "msg_1"), idle)
	require.Contains(t, k.item(chat.Notice).Text, "did not read: and then")
	require.Equal(t, chat.Interrupted, k.session.Turn().Outcome)
	k.waitCall("DELETE /session/ses_1/message/msg_3")
	k.session.WaitForState(chat.AtPrompt)

	k.sendEvents(busy, strings.ReplaceAll(asks, "per_1", "per_2"), abort, idle)
	require.Equal(t, chat.Closed{ID: "per_2", Why: "the turn ended"}, k.closed("per_2"))
	require.JSONEq(t, `{"reply":"reject"}`, k.waitCall("POST /permission/per_2/reply"))
	require.Equal(t, chat.Interrupted, k.session.Turn().Outcome)

	k.sendEvents(busy, `{"type":"session.status","properties":{"sessionID":"ses_1","status":{"type":"retry","attempt":1,"message":"overloaded"}}}`,
		`{"type":"session.error","properties":{"sessionID":"ses_1","error":{"name":"APIError","data":{"message":"no credit"}}}}`, idle)
	require.Contains(t, k.item(chat.Notice).Text, "overloaded")
	require.Equal(t, chat.Turn{Outcome: chat.Broken, Why: "APIError: no credit"}, k.session.Turn())
}

// The user takes the keyboard back behind the last check of an agent's grant, and before the driver
// calls the server: it does not call.
func TestAReclaimBehindTheLastCheck(t *testing.T) {
	k := newServer(t).talks(opencode.Config{Resume: "ses_1"})
	mayOnce := func() chat.MayAct {
		asked := 0
		return func() error {
			if asked++; asked > 1 { // the first one to ask is the session
				return errors.New("your grant ended")
			}
			return nil
		}
	}
	require.NoError(t, k.session.SendForAgent("agent codex", "go", mayOnce()))
	require.Contains(t, k.item(chat.Notice).Text, "did not arrive: the keyboard changed hands")
	require.Contains(t, k.item(chat.Notice).Text, "did not read: go")
	k.sendEvents(k.promptEvents("msg_1", "think")...)
	k.sendEvents(busy)
	require.NoError(t, k.session.InterruptForAgent("agent codex", mayOnce()))
	require.Contains(t, k.item(chat.Notice).Text, "not interrupted: the keyboard changed hands")
	k.sendEvents(idle)
	require.Equal(t, chat.Turn{Outcome: chat.Done}, k.session.Turn())
}

// When the server is killed, everything open is refused, and the user is told.
func TestKilled(t *testing.T) {
	k := newServer(t).talks(opencode.Config{})
	k.sendEvents(busy, asks)
	k.request()
	_, pid, _ := k.process()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Equal(t, chat.Closed{ID: "per_1", Why: "opencode ended"}, k.closed("per_1"))
	require.Equal(t, "opencode's server was killed: killed", k.session.Next("the end", func(r chat.Record) bool { return r.State == chat.Ended }).Why)
	require.Error(t, k.session.Answer("per_1", "page", chat.Answer{Verdict: chat.Once}))
	require.Error(t, k.Send(chat.Prompt{ID: "1", Text: "hello"}))
}

// What happened without the stream is asked for.
func TestTheStreamEnds(t *testing.T) {
	k := newServer(t).talks(opencode.Config{Resume: "ses_1"})
	k.sendEvents(busy, asks)
	k.request()
	k.setAnswer("GET /permission", `[{"id":"per_2","sessionID":"ses_1","permission":"edit","patterns":["a"],"metadata":{"filepath":"a","diff":"+x"}}]`, 0)
	k.setAnswer("GET /session/status", `{"ses_1":{"type":"busy"}}`, 0)
	k.sendEvents("")
	require.Equal(t, "edit", k.request().Tool)
	require.Equal(t, chat.Closed{ID: "per_1", Why: "it is no longer asked"}, k.closed("per_1"))
	k.setAnswer("GET /permission", `[]`, 0)
	k.setAnswer("GET /session/status", `{}`, 0)
	k.sendEvents("")
	k.closed("per_2")
	require.Equal(t, chat.Done, k.session.Turn().Outcome)
}

// The conversation that the user opens in opencode's own interface is followed. Those of the
// agent's helpers are not, but their questions are.
func TestTheUsersConversationIsFollowed(t *testing.T) {
	k := newServer(t).talks(opencode.Config{})
	k.waitCall("POST /session")
	k.sendEvents(`{"type":"session.created","properties":{"info":{"id":"ses_h","parentID":"ses_1"}}}`,
		message("msg_h", "ses_h", "user", ""), text("prt_h", "msg_h", "ses_h", "for a helper", 0), strings.ReplaceAll(asks, "ses_1", "ses_h"))
	k.session.Next("the request and nothing of the helper", func(r chat.Record) bool { require.Nil(t, r.Item); return r.Request != nil })
	require.Equal(t, "ses_1", k.Conversation())
	k.setAnswer("GET /session/ses_2", `{"id":"ses_2"}`, 0)
	k.sendEvents(message("msg_n", "ses_2", "user", ""), text("prt_n", "msg_n", "ses_2", "somewhere else", 0))
	require.Contains(t, k.item(chat.Notice).Text, "another conversation, ses_2")
	require.Equal(t, "somewhere else", k.item(chat.User).Text)
	require.NoError(t, k.session.Send("page", "I follow"))
	k.waitCall("POST /session/ses_2/prompt_async")
}

// A conversation in which something was said stays.
func TestAnEmptyConversationIsTakenAway(t *testing.T) {
	k := newServer(t).talks(opencode.Config{})
	require.NoError(t, k.session.Close())
	k.waitCall("POST /session")
	k.waitCall("DELETE /session/ses_1")
	_, pid, _ := k.process()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)

	k = newServer(t).talks(opencode.Config{})
	k.waitCall("POST /session")
	k.promptEvents("msg_1", "hello")
	require.NoError(t, k.session.Close())
	require.Empty(t, k.calls)
}

// A server that does not start leaves nothing behind.
func TestItDoesNotServe(t *testing.T) {
	_, err := opencode.Serve(t.Context(), opencode.Config{Program: "no-such-program"})
	missing := &stdio.NotInstalledError{}
	require.ErrorAs(t, err, &missing)
	require.ErrorIs(t, err, exec.ErrNotFound)

	s := newServer(t)
	serve := func(ctx context.Context, resume string) error {
		_, err := opencode.Serve(ctx, opencode.Config{Program: os.Args[0], Resume: resume})
		return err
	}
	require.ErrorContains(t, serve(t.Context(), "../config"), `"../config" is not the id of a conversation`)
	require.ErrorContains(t, serve(t.Context(), "ses_9/../1"), "is not the id of a conversation")
	s.setAnswer("GET /session/ses_9", `{"message":"it is not here"}`, http.StatusNotFound)
	require.EqualError(t, serve(t.Context(), "ses_9"), "opencode: there is no conversation ses_9")
	_, pid, _ := s.process()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	t.Setenv(asServer, "nothing")
	require.EqualError(t, serve(t.Context(), ""), "opencode: its server ended with exit status 3")
	t.Setenv(asServer, "opencode server listening on http://192.0.2.1:4096")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("it took too long"))
	require.ErrorContains(t, serve(ctx, ""), "its server does not start: it took too long")
}

// Those that opencode takes when it attaches to a server.
func TestArguments(t *testing.T) {
	for args, want := range map[string]opencode.Config{
		"": {}, "-c": {Latest: true}, "--continue": {Latest: true}, "-s ses_1": {Resume: "ses_1"}, "--session=ses_1 -c": {Resume: "ses_1", Latest: true},
	} {
		var got opencode.Config
		require.NoError(t, got.Read(strings.Fields(args)), args)
		require.Equal(t, want, got, args)
	}
	for args, why := range map[string]string{
		"--session": "needs the id", "-s=": "needs the id", "--continue=yes": "takes no value", "--model x/y": `opencode accepts no "--model" here, only --session ID and --continue`, "dir": `opencode accepts no "dir" here, only --session ID and --continue`,
	} {
		require.ErrorContains(t, new(opencode.Config).Read(strings.Fields(args)), why, args)
	}
}

// If there is none, one is opened.
func TestTheLatestConversation(t *testing.T) {
	s := newServer(t)
	s.setAnswer("GET /session", `[]`, 0)
	s.talks(opencode.Config{Latest: true})
	s.waitCall("POST /session")
	s.setAnswer("GET /session", `[{"id":"ses_7"}]`, 0)
	require.Equal(t, "ses_7", s.talks(opencode.Config{Latest: true}).Conversation())
	require.Empty(t, s.calls)
}

// The interface's end is the server's, and its reason is told. A dialog in it is known while it
// stands.
func TestTheInterfaceEnds(t *testing.T) {
	for why, told := range map[string]string{"": "", "was killed: killed": "opencode was killed: killed"} {
		k := newServer(t).talks(opencode.Config{Resume: "ses_1"})
		require.False(t, k.HasDialog())
		k.sendEvents(busy, strings.NewReplacer(`["touch made"]`, "[]", `{"command":"touch made"}`, "{}").Replace(asks))
		r := k.request()
		require.Empty(t, r.Allows, "of what is not said nothing is allowed")
		require.Contains(t, r.Why, "does not say")
		require.True(t, k.HasDialog())
		k.NoteExit(why, nil)
		require.Equal(t, chat.Closed{ID: "per_1", Why: "opencode ended"}, k.closed("per_1"))
		require.Equal(t, told, k.session.Next("the end", func(r chat.Record) bool { return r.State == chat.Ended }).Why)
		_, pid, _ := k.process()
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	}
}

// If another process has the conversation, nothing starts; if the user goes to another
// conversation, the user is told.
func TestAClaimedConversation(t *testing.T) {
	s := newServer(t)
	taken := func(string) error { return errors.New("somebody else has it") }
	_, err := opencode.Serve(t.Context(), opencode.Config{Program: os.Args[0], Claim: taken})
	require.EqualError(t, err, "opencode: somebody else has it")
	s.waitCall("POST /session")
	s.waitCall("DELETE /session/ses_1")
	claimed := []string{}
	k := s.talks(opencode.Config{Resume: "ses_1", Claim: func(id string) error {
		claimed = append(claimed, id)
		if id != "ses_1" {
			return taken(id)
		}
		return nil
	}})
	s.setAnswer("GET /session/ses_2", `{"id":"ses_2"}`, 0)
	k.sendEvents(message("msg_n", "ses_2", "user", ""))
	require.Contains(t, k.item(chat.Notice).Text, "another conversation")
	require.Contains(t, k.item(chat.Notice).Text, "somebody else has it")
	require.Equal(t, []string{"ses_1", "ses_2"}, claimed)
}
