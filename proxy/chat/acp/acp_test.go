package acp_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/acp"
	"terminalproxy/proxy/chat/chattest"
)

func TestMain(m *testing.M) { chattest.Main(m, "ID", regexp.MustCompile(`"id":(\d+)`)) }

const (
	initialized = "< initialize\n" + `> {"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}` + "\n"
	opened      = initialized + "< session/new\n" + `> {"jsonrpc":"2.0","id":ID,"result":{"sessionId":"s1"}}` + "\n"
	prompted    = opened + "< session/prompt\n"
	asks        = `> {"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t","kind":"execute",` +
		`"title":"touch x"},"options":[{"optionId":"yes to all","kind":"allow_always","name":"No"},{"optionId":"2","kind":"allow_once","name":"No"},` +
		`{"optionId":"3","kind":"reject_once","name":"Yes"}]}}` + "\n"
	done = `> {"jsonrpc":"2.0","id":ID,"result":{"stopReason":"end_turn"}}` + "\n"
)

func start(t *testing.T, script, resume string) *session {
	t.Helper()
	return startWith(t, acp.Config{Resume: resume}, script)
}

func startWith(t *testing.T, c acp.Config, script string) *session {
	t.Helper()
	return chattest.Start(t, "eliza", script, func(program string) chat.Driver {
		c.Name, c.Program, c.Dir, c.SignIn = "eliza", program, t.TempDir(), "run eliza login"
		return acp.New(c)
	})
}

type session = chattest.Conversation

// The kind of an option counts, not the agent's name for it.
func TestAnApproval(t *testing.T) {
	for verdict, want := range map[chat.Verdict]string{chat.Once: `"optionId":"2"`, chat.Refuse: `"optionId":"3"`} {
		s := start(t, prompted+asks+`< "id":"p"`+"\n", "")
		require.NoError(t, s.Send("you", "go"))
		s.WaitForState(chat.Approval)
		r := s.OpenRequests()[0]
		require.JSONEq(t, `{"title":"touch x"}`, string(r.Input))
		require.Equal(t, []chat.Choice{{Verdict: chat.Once}}, r.Allows, "what is allowed for ever is not offered")
		require.Error(t, s.Answer(r.ID, "you", chat.Answer{Verdict: chat.ForSession}))
		require.NoError(t, s.Answer(r.ID, "you", chat.Answer{Verdict: verdict}))
		got := s.CloseAndReadInput()
		require.Contains(t, got, want)
		require.Equal(t, 1, strings.Count(got, `"id":"p"`))
	}
}

// The call's report fills in what the approval leaves out. What the approval says counts more, and
// an ended call fills in nothing.
func TestAnApprovalUsesTheReportedCall(t *testing.T) {
	told := func(more string) string {
		return `> {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t",` + more + "}}}\n"
	}
	const call, diff = `"kind":"execute","title":"make","rawInput":{"command":"make all"}`, `"kind":"edit","content":[{"type":"diff","path":"a","newText":"y\n"}]`
	asks := func(more string) string {
		return `> {"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t"` + more + `},"options":[{"optionId":"1","kind":"allow_once"}]}}` + "\n"
	}
	for name, c := range map[string]struct{ said, tool, input string }{
		"nothing is said again":  {told(call) + asks(""), "execute", `{"command":"make all","title":"make"}`},
		"the title is another":   {told(call) + asks(`,"title":"run make"`), "execute", `{"command":"make all","title":"run make"}`},
		"the input is another":   {told(call) + asks(`,"rawInput":{"command":"rm"}`), "execute", `{"command":"rm","title":"make"}`},
		"an update says it":      {told(`"title":"make"`) + told(call) + asks(""), "execute", `{"command":"make all","title":"make"}`},
		"it is a change":         {told(diff) + asks(""), "edit", `{"content":"in a\n+ y\n"}`},
		"the change is said now": {told(call) + asks(`,"kind":"edit","content":[{"type":"diff","path":"b","newText":"z\n"}]`), "edit", `{"command":"make all","content":"in b\n+ z\n","title":"make"}`},
		"the call has ended":     {told(call) + told(`"status":"completed"`) + asks(""), "", ""},
		"it is another call":     {strings.Replace(told(call), `"t"`, `"u"`, 1) + asks(""), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, prompted+c.said, "")
			require.NoError(t, s.Send("you", "go"))
			if c.input == "" {
				s.WaitForNotice("does not say what it wants to do")
				require.Empty(t, s.OpenRequests())
				return
			}
			s.WaitForState(chat.Approval)
			require.Equal(t, c.tool, s.OpenRequests()[0].Tool)
			require.JSONEq(t, c.input, string(s.OpenRequests()[0].Input))
		})
	}
}

// A prompt of an agent waits for the end of the turn, and by then the user has taken the keyboard
// back: the next prompt goes in its place.
func TestAPromptThatWaitsEndsWithItsGrant(t *testing.T) {
	s := start(t, prompted+asks+`< "id":"p"`+"\n"+done+"< session/prompt\n"+done, "")
	require.NoError(t, s.Send("you", "one"))
	s.WaitForState(chat.Approval)
	var taken atomic.Bool
	require.NoError(t, s.SendForAgent("agent codex", "two", func() error {
		if taken.Load() {
			return errors.New("your grant ended")
		}
		return nil
	}))
	require.NoError(t, s.Send("you", "three"))
	taken.Store(true)
	require.NoError(t, s.Answer(s.OpenRequests()[0].ID, "you", chat.Answer{Verdict: chat.Once}))
	s.WaitForNotice("did not read: two")
	s.Next("the turn", func(r chat.Record) bool { return r.Turn != nil })
	got := s.CloseAndReadInput()
	require.NotContains(t, got, "two")
	require.Contains(t, got, "three")
}

// A request under an id that is already open refuses both requests: the answer to the one shown
// could count for the other. A request without an id does not count.
func TestAnApprovalTwice(t *testing.T) {
	without := strings.Replace(asks, `"id":"p",`, "", 1)
	s := start(t, prompted+without+asks+strings.Replace(asks, "touch x", "rm -r x", 1)+`< "id":"p"`+"\n"+done, "")
	require.NoError(t, s.Send("you", "go"))
	r := s.Next("the first", func(r chat.Record) bool { return r.Request != nil }).Request
	s.WaitForNotice("used the id of an earlier request")
	require.Error(t, s.Answer(r.ID, "you", chat.Answer{Verdict: chat.Once}))
	got := s.CloseAndReadInput()
	require.NotContains(t, got, "selected")
	require.Equal(t, 1, strings.Count(got, `"id":"p"`))
}

func TestWithoutAnAnswerNothingIsAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		then string
		do   func(s *session)
	}{
		"the agent is killed":   {"kill", func(s *session) { s.WaitForState(chat.Ended) }},
		"garbage comes":         {"> garbage\n> {}\n> []\n> 7\n> {\"id\":99,\"result\":{}}", func(s *session) { s.WaitForNotice("was not asked") }},
		"the user interrupts":   {"", func(s *session) { require.NoError(s.T, s.Interrupt("you")) }},
		"the session is closed": {"", func(*session) {}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, prompted+asks+c.then, "")
			require.NoError(t, s.Send("you", "go"))
			s.WaitForState(chat.Approval)
			c.do(s)
			require.NotContains(t, s.CloseAndReadInput(), `"optionId":"2"`)
			require.Empty(t, s.OpenRequests())
		})
	}
}

func TestWhatIsNotUnderstoodIsRefused(t *testing.T) {
	permission := func(params string) string {
		return `> {"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":` + params + "}\n"
	}
	for name, c := range map[string]struct{ line, notice, hears string }{
		"another conversation": {permission(`{"sessionId":"s2","toolCall":{"title":"x"},"options":[]}`), "another conversation", `"outcome":"cancelled"`},
		"nothing is said":      {permission(`{"sessionId":"s1","options":[{"optionId":"2","kind":"allow_once"}]}`), "does not say", `"outcome":"cancelled"`},
		"wrong types":          {permission(`{"sessionId":7}`), "refused", `"outcome":"cancelled"`},
		"a file":               {`> {"jsonrpc":"2.0","id":"p","method":"fs/write_text_file","params":{}}` + "\n", "was not offered", `"code":-32601`},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, prompted+c.line, "")
			require.NoError(t, s.Send("you", "go"))
			s.WaitForNotice(c.notice)
			require.Empty(t, s.OpenRequests())
			require.Contains(t, s.CloseAndReadInput(), c.hears)
		})
	}
	two := strings.Replace(asks, `"kind":"allow_always"`, `"kind":"allow_once"`, 1)
	s := start(t, prompted+two, "")
	require.NoError(t, s.Send("you", "go"))
	s.WaitForState(chat.Approval)
	require.Empty(t, s.OpenRequests()[0].Allows, "of two options of a kind none is chosen")
}

// Prompts are sent one after the other, since agents take a second one for the end of the first.
func TestFollowUpsWait(t *testing.T) {
	update := func(words string) string {
		return `> {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + words + `"}}}}` + "\n"
	}
	s := start(t, prompted+update("one ")+update("done")+done+"< session/prompt\n"+update("two")+"< session/cancel\n"+
		`> {"jsonrpc":"2.0","id":4,"result":{"stopReason":"cancelled"}}`+"\n", "")
	for _, text := range []string{"first", "second", "third"} {
		require.NoError(t, s.Send("you", text))
	}
	text := func(r chat.Record) bool { return r.Item != nil && r.Item.Kind == chat.Text }
	require.Equal(t, "one done", s.Next("text", text).Item.Text)
	require.Equal(t, chat.Done, s.Turn().Outcome)
	s.Next("the second", func(r chat.Record) bool { return r.Piece != nil && r.Piece.Text == "two" })
	require.NoError(t, s.Interrupt("you"))
	s.WaitForNotice("eliza did not read: third")
	require.Equal(t, chat.Interrupted, s.Turn().Outcome)
	s.WaitForState(chat.AtPrompt)
	require.Equal(t, 2, strings.Count(s.CloseAndReadInput(), "session/prompt"))
}

// An approval without an id, outside any turn, or of an agent that ends. Nothing is allowed without
// an answer, and the agent's other messages still arrive.
func TestAnApprovalOutOfPlace(t *testing.T) {
	without := strings.Replace(asks, `"id":"p",`, "", 1)
	words := `> {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"STILL HERE"}}}}` + "\n"
	for name, c := range map[string]struct {
		script string
		see    func(s *session)
	}{
		"without an id": {without + words + done, func(s *session) { s.WaitForNotice("a request without an id cannot be answered") }},
		"a null id":     {strings.Replace(asks, `"id":"p"`, `"id":null`, 1) + words + done, func(s *session) { s.WaitForNotice("a request without an id cannot be answered") }},
		"after the turn": {words + done + asks, func(s *session) {
			s.Turn()
			s.WaitForState(chat.Approval)
			require.NoError(s.T, s.Answer(s.OpenRequests()[0].ID, "you", chat.Answer{}))
		}},
		"then it ends": {words + asks + "exit", func(s *session) {
			r := s.Next("the request", func(r chat.Record) bool { return r.Request != nil }).Request
			require.Equal(s.T, "eliza ended", s.Next("its end", func(r chat.Record) bool { return r.Closed != nil }).Closed.Why)
			s.WaitForState(chat.Ended)
			require.ErrorContains(s.T, s.Answer(r.ID, "you", chat.Answer{Verdict: chat.Once}), "eliza ended")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, prompted+c.script, "")
			require.NoError(t, s.Send("you", "go"))
			c.see(s)
			got := s.CloseAndReadInput()
			require.NotContains(t, got, "selected\",\"optionId\":\"2")
			all, _, err := s.Records(t.Context(), 0)
			require.NoError(t, err)
			said := ""
			for _, r := range all {
				if r.Item != nil && r.Item.Kind == chat.Text {
					said += r.Item.Text
				}
			}
			require.Equal(t, "STILL HERE", said)
		})
	}
}

// A large approval arrives whole; each place that shows it says what it has to cut.
func TestALargeApprovalArrivesWhole(t *testing.T) {
	var asked []chat.Request
	line := acp.Reader("s1", func(e chat.Event) {
		if one, ok := e.(chat.RequestOpened); ok {
			asked = append(asked, one.Request)
		}
	})
	line([]byte(strings.TrimPrefix(strings.Replace(asks, "touch x", strings.Repeat("x", 10<<20), 1), "> ")))
	require.Len(t, asked, 1)
	require.Greater(t, len(asked[0].Input), 10<<20)
}

// Some agents put notices between their model's words.
func TestANoticeIsNotTheAnswer(t *testing.T) {
	update := func(words string) string {
		return `> {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + words + `"}}}}` + "\n"
	}
	const notice = "Info: Request failed due to a transient API error. Retrying..."
	for notices, want := range map[bool][]string{
		true:  {"text THE", "notice eliza says: " + notice, "text ANSWER"},
		false: {"text THE" + notice + "ANSWER"},
	} {
		s := startWith(t, acp.Config{Notices: notices}, prompted+update("THE")+update(notice)+update("ANS")+update("WER")+done)
		require.NoError(t, s.Send("you", "go"))
		s.Turn()
		all, _, err := s.Records(t.Context(), 0)
		require.NoError(t, err)
		var said []string
		for _, r := range all {
			if r.Item != nil && r.Item.Kind != chat.User {
				said = append(said, r.Item.Kind+" "+r.Item.Text)
			}
		}
		require.Equal(t, want, said)
	}
}

func TestATurnFails(t *testing.T) {
	for answer, why := range map[string]string{
		`"result":{"stopReason":"max_tokens"}`:                                         "it stopped: max_tokens",
		`"error":{"code":-32603,"message":"Internal error","data":{"details":"oops"}}`: "Internal error: oops",
		`"error":{"code":-32000,"message":"Authentication required"}`:                  "it wants to know who you are (Authentication required): run eliza login",
	} {
		s := start(t, prompted+`> {"jsonrpc":"2.0","id":ID,`+answer+"}\n", "")
		require.NoError(t, s.Send("you", "go"))
		require.Equal(t, chat.Turn{Outcome: chat.Broken, Why: why}, s.Turn())
	}
}

func TestItSaysWhyItDidNotStart(t *testing.T) {
	for script, why := range map[string]string{
		"< initialize\n" + `> {"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":2}}`:                                      "version 2 of the protocol",
		"< initialize\n" + `> {"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":1}}`:                                      "cannot go on with a conversation",
		initialized + "< session/load\n" + `> {"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"Log in"}}`:          "run eliza login",
		initialized + "< session/load\n" + `> {"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"no such conversation"}}`: "no such conversation",
		"kill": "eliza was killed",
	} {
		s := start(t, script, "s1")
		_ = s.Send("you", "lost") // it is refused if the agent is gone already
		require.Contains(t, s.WaitForState(chat.Failed).Why, why)
	}
}

// When a conversation continues, what the agent repeats of it is not new, even if it comes after
// the answer.
func TestItGoesOn(t *testing.T) {
	old := `> {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"OLD"}}}}` + "\n"
	s := start(t, initialized+"< session/load\n"+old+`> {"jsonrpc":"2.0","id":ID,"result":null}`+"\n"+old+
		"< _gateway/loaded\n"+`> {"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"?"}}`+"\n< session/prompt\n"+done, "s1")
	require.NoError(t, s.Send("you", "go"))
	require.Equal(t, chat.Done, s.Turn().Outcome)
	require.Equal(t, "s1", s.Conversation())
	got, _, err := s.Records(t.Context(), 0)
	require.NoError(t, err)
	for _, r := range got {
		require.Nil(t, r.Piece)
	}
}

func TestToolsAndTheirResults(t *testing.T) {
	update := func(u string) string {
		return `> {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` + u + "}}\n"
	}
	s := start(t, prompted+
		update(`{"sessionUpdate":"tool_call","toolCallId":"t1","kind":"edit","title":"Edit a","rawInput":{"path":"a"},"status":"pending"}`)+
		update(`{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","content":[{"type":"diff","path":"a","oldText":"x\n","newText":"y\nz\n"}]}`)+
		update(`{"sessionUpdate":"tool_call_update","toolCallId":"t2","status":"failed","title":"ls","content":[{"type":"content","content":{"type":"text","text":"no"}},{"type":"terminal"}]}`)+
		update(`{"sessionUpdate":"plan","entries":[]}`)+update(`{"sessionUpdate":"news"}`)+update(`{"sessionUpdate":"news"}`)+done, "")
	require.NoError(t, s.Send("you", "go"))
	s.Turn()
	got, _, err := s.Records(t.Context(), 0)
	require.NoError(t, err)
	var items []string
	for _, r := range got {
		if i := r.Item; i != nil && i.Kind != chat.User {
			items = append(items, fmt.Sprintf("%s %s %s%s%s %v", i.Kind, i.ID, i.Text, i.Tool, i.Input, i.Failed))
		}
	}
	require.Equal(t, []string{
		`tool call t1 edit{"path":"a","title":"Edit a"} false`, "tool result t1 in a\n- x\n+ y\n+ z\n false",
		`tool call t2 a tool{"title":"ls"} false`, "tool result t2 no\n[terminal] true", "notice  eliza sent something unknown: news false",
	}, items)
}
