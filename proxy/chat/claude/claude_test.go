package claude_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/chattest"
	"terminalproxy/proxy/chat/claude"
)

func TestMain(m *testing.M) { chattest.Main(m, "UUID", regexp.MustCompile(`"uuid":"([^"]*)"`)) }

type session = chattest.Conversation

const (
	ready = "< initialize\n> {\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"ours-1\"}}\n"
	asks  = `> {"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"rm -rf x"},` +
		`"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"},` +
		`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"rm *"}],"behavior":"allow","destination":"localSettings"}]}}` + "\n"
	done = `> {"type":"result","subtype":"success","result":"done"}` + "\n"
)

func start(t *testing.T, script string, c claude.Config) *session {
	t.Helper()
	return chattest.Start(t, "claude", script, func(program string) chat.Driver {
		c.Program, c.ID = program, "0000-1111"
		return claude.New(c)
	})
}

func TestAnApproval(t *testing.T) {
	for name, c := range map[string]struct {
		answer chat.Answer
		hears  string
	}{
		"once": {chat.Answer{Verdict: chat.Once}, `"response":{"behavior":"allow","updatedInput":{"command":"rm -rf x"}}`},
		"for the session": {chat.Answer{Verdict: chat.ForSession}, `"updatedPermissions":[{"type":"addRules","behavior":"allow",` +
			`"rules":[{"toolName":"Bash","ruleContent":"rm *"}],"destination":"session"}]`},
		"refused": {chat.Answer{Words: "use trash"}, `"response":{"behavior":"deny","message":"use trash"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, ready+"< go\n"+asks+"< control_response\n"+done, claude.Config{})
			s.WaitForState(chat.AtPrompt)
			require.NoError(t, s.Send("you", "go"))
			s.WaitForState(chat.Approval)
			r := s.OpenRequests()[0]
			require.Equal(t, "Bash", r.Tool)
			require.JSONEq(t, `{"command":"rm -rf x"}`, string(r.Input))
			require.Equal(t, []chat.Choice{{Verdict: chat.Once}, {Verdict: chat.ForSession, Covers: "Bash(rm *)"}}, r.Allows)
			require.NoError(t, s.Answer("r1", "you", c.answer))
			s.WaitForState(chat.AtPrompt)
			got := s.CloseAndReadInput()
			require.Contains(t, got, c.hears)
			require.Equal(t, 1, strings.Count(got, "control_response"))
		})
	}
}

// Whatever goes wrong while an approval is open, nothing is allowed.
func TestWithoutAnAnswerNothingIsAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		then string
		do   func(s *session)
	}{
		"the agent is killed":     {"kill", func(s *session) { s.WaitForState(chat.Ended) }},
		"the agent ends":          {"exit", func(s *session) { s.WaitForState(chat.Ended) }},
		"the agent reads no more": {"close", func(*session) {}},
		"garbage comes":           {"> garbage\n> {}\n> []\n> {\"type\":\"control_request\"}\n> {\"type\":\"result\"}", func(s *session) { s.WaitForNotice("without an id") }},
		"the agent takes it back": {`> {"type":"control_cancel_request","request_id":"r1"}`, func(s *session) { s.WaitForState(chat.Working) }},
		"it is asked again":       {strings.Replace(asks, "rm -rf x", "rm -rf y", 1), func(s *session) { s.WaitForNotice("refused: it used the id of an earlier request") }},
		"the user interrupts":     {"", func(s *session) { require.NoError(s.T, s.Interrupt("you")) }},
		"the session is closed":   {"", func(*session) {}},
		"another answer comes late": {"", func(s *session) {
			_ = s.Answer("r1", "you", chat.Answer{})
			_ = s.Answer("r1", "ada", chat.Answer{Verdict: chat.Once})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, ready+"< go\n"+asks+c.then, claude.Config{})
			s.WaitForState(chat.AtPrompt)
			require.NoError(t, s.Send("you", "go"))
			s.WaitForState(chat.Approval)
			c.do(s)
			got := s.CloseAndReadInput()
			require.NotContains(t, got, "allow")
			require.Error(t, s.Answer("r1", "you", chat.Answer{Verdict: chat.Once}))
			require.Empty(t, s.OpenRequests())
		})
	}
}

func TestWhatIsNotUnderstoodIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ request, notice, hears string }{
		"without a tool":     {`{"subtype":"can_use_tool","input":{}}`, "it does not name the tool, or say what the tool should do", `"behavior":"deny"`},
		"without an input":   {`{"subtype":"can_use_tool","tool_name":"Bash"}`, "it does not name the tool, or say what the tool should do", `"behavior":"deny"`},
		"input is no object": {`{"subtype":"can_use_tool","tool_name":"Bash","input":"ls"}`, "it does not name the tool, or say what the tool should do", `"behavior":"deny"`},
		"wrong types":        {`{"subtype":"can_use_tool","tool_name":7}`, "could not be read", `"behavior":"deny"`},
		"no questions":       {`{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[]}}`, "no questions", `"behavior":"deny"`},
		"one question twice": {
			`{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[{"question":"a"},{"question":"a"}]}}`, "twice", `"behavior":"deny"`,
		},
		"an unknown request": {`{"subtype":"dance"}`, "unknown", `"subtype":"error"`},
		"no request":         {`7`, "could not be read", `"subtype":"error"`},
		"a form of a server": {`{"subtype":"elicitation"}`, "declined a form", `"action":"decline"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, ready+`> {"type":"control_request","request_id":"r1","request":`+c.request+"}\n", claude.Config{})
			s.WaitForNotice(c.notice)
			require.Empty(t, s.OpenRequests())
			got := s.CloseAndReadInput()
			require.Contains(t, got, c.hears)
			require.NotContains(t, got, "allow")
		})
	}
}

func TestQuestions(t *testing.T) {
	s := start(t, ready+`> {"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":`+
		`{"questions":[{"question":"Which?","header":"H","options":[{"label":"Red","description":"warm"}]},{"question":"What?","multiSelect":true}],"x":1}}}`+"\n",
		claude.Config{})
	s.WaitForState(chat.Asks)
	require.Equal(t, []chat.Question{
		{ID: "q1", Header: "H", Text: "Which?", Options: []chat.Option{{Label: "Red", Description: "warm"}}}, {ID: "q2", Text: "What?", Many: true},
	}, s.OpenRequests()[0].Form)
	require.NoError(t, s.Answer("r1", "you", chat.Answer{Replies: map[string][]string{"q1": {"neither"}, "q2": {"a", "b"}}}))
	require.Contains(t, s.CloseAndReadInput(), `"updatedInput":{"answers":{"What?":"a, b","Which?":"neither"},"questions":[`)
}

func TestWhatItSays(t *testing.T) {
	s := start(t, ready+`< go
> {"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"text"}},"parent_tool_use_id":null}
> {"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"I lo"}},"parent_tool_use_id":null}
> {"type":"assistant","message":{"content":[{"type":"text","text":"I look"}]},"parent_tool_use_id":null}
> {"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
> {"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"one"},{"type":"image"}],"is_error":true}]}}
> {"type":"assistant","message":{"content":[{"type":"text","text":"found"}]},"parent_tool_use_id":"t1"}
> {"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"error_status":529}
> {"type":"system","subtype":"init","permissionMode":"bypassPermissions"}
> {"type":"news"}
> {"type":"news"}
> {"type":"result","is_error":true,"result":"Not logged in"}
`, claude.Config{})
	s.WaitForState(chat.AtPrompt)
	require.NoError(t, s.Send("you", "go"))
	s.Next("the turn", func(r chat.Record) bool {
		return r.Turn != nil && *r.Turn == chat.Turn{Outcome: chat.Broken, Why: "Not logged in"}
	})
	got, _, err := s.Records(t.Context(), 3)
	require.NoError(t, err)
	var items []string
	for _, r := range got {
		if i := r.Item; i != nil {
			items = append(items, fmt.Sprintf("%s %s %s %s%s%s %v", i.Author, i.Kind, i.ID, i.Text, i.Tool, i.Input, i.Failed))
		}
	}
	require.Equal(t, []string{
		"claude text text-1 I look false",
		`claude tool call t1 Bash{"command":"ls"} false`,
		"claude tool result t1 one\n[image] true",
		"a subagent of claude text  found false",
		"claude notice  claude asks its model again: status 529, attempt 2 of 10 false",
		"claude notice  the mode is bypassPermissions (asks nothing) false",
		"claude notice  claude sent something unknown: news false",
	}, items)
}

func TestItSaysHowItEnded(t *testing.T) {
	in := start(t, ready+"< go\n"+`> {"type":"assistant","error":"authentication_failed","message":{"content":[]}}`+"\n"+`> {"type":"result","is_error":true,"result":"Please run /login"}`+"\n", claude.Config{})
	in.WaitForState(chat.AtPrompt)
	require.NoError(t, in.Send("you", "go"))
	in.Next("the turn", func(r chat.Record) bool {
		return r.Turn != nil && strings.Contains(r.Turn.Why, "claude is not signed in: run claude")
	})

	s := start(t, "! No conversation found\nexit", claude.Config{})
	require.Equal(t, "claude ended with exit status 3: No conversation found", s.WaitForState(chat.Failed).Why)
	s = start(t, ready+"kill", claude.Config{})
	require.Equal(t, "claude was killed: killed", s.WaitForState(chat.Ended).Why)

	s.Session = chat.New("claude", claude.New(claude.Config{Program: "/nonexistent/claude"}))
	require.ErrorContains(t, s.Start(), "is not installed")
	require.NoError(t, s.Close())
}

// What the user decides on the command line stays.
func TestItsCommandLine(t *testing.T) {
	for _, c := range []struct {
		config    claude.Config
		has, lack string
	}{
		{claude.Config{}, "--permission-prompt-tool stdio --session-id 0000-1111 --permission-mode default", "--resume"},
		{claude.Config{Resume: true}, "--resume 0000-1111", "--session-id"},
		{claude.Config{Args: []string{"--permission-mode=plan", "-x"}}, "--permission-mode=plan -x", "default"},
		{claude.Config{Args: []string{"--dangerously-skip-permissions"}}, "--dangerously-skip-permissions", "default"},
	} {
		t.Setenv("CLAUDECODE", "1")
		s := start(t, ready, c.config)
		s.WaitForState(chat.AtPrompt)
		got := s.CloseAndReadInput()
		require.Contains(t, got, c.has)
		require.NotContains(t, got, c.lack)
	}
}

// Claude Code reports what became of messages sent while a turn ran.
func TestFollowUps(t *testing.T) {
	lifecycle := func(state string) string {
		return `> {"type":"command_lifecycle","command_uuid":"UUID","state":"` + state + "\"}\n"
	}
	s := start(t, ready+"< first\n"+lifecycle("started")+"< second\n"+lifecycle("cancelled")+"< third\n"+lifecycle("queued")+done+"< fourth\nkill", claude.Config{})
	s.WaitForState(chat.AtPrompt)
	for _, text := range []string{"first", "second", "third"} {
		require.NoError(t, s.Send("you", text))
	}
	s.WaitForNotice("claude did not read: second")
	s.Next("the turn", func(r chat.Record) bool { return r.Turn != nil })
	require.Equal(t, chat.Working, s.State(), "the third waits")
	require.NoError(t, s.Send("you", "fourth"))
	s.WaitForNotice("claude did not read: third")
	s.WaitForNotice("claude did not read: fourth")
	s.WaitForState(chat.Ended)
}

// Our requests set what can be set, and each change is reported, whoever made it.
func TestWhatCanBeSet(t *testing.T) {
	s := start(t, "< initialize\n"+`> {"type":"control_response","response":{"subtype":"success","request_id":"ours-1","response":{"current_permission_mode":"default","models":[{"value":"opus","description":"best"},{"value":"haiku"}]}}}`+"\n"+
		"< set_model\n"+`> {"type":"control_response","response":{"subtype":"success","request_id":"ours-2","response":{}}}`+"\n"+
		"< set_permission_mode\n"+`> {"type":"control_response","response":{"subtype":"error","request_id":"ours-3","error":"not launched for it"}}`+"\n"+
		`> {"type":"system","subtype":"status","permissionMode":"plan"}`+"\n", claude.Config{})
	s.WaitForState(chat.AtPrompt)
	require.Equal(t, chat.Setting{Name: "model", Choices: []chat.Option{{Label: "opus", Description: "best"}, {Label: "haiku"}}}, s.Settings()[0])
	require.Error(t, s.Set("you", "model", "nonsense"))
	require.NoError(t, s.Set("you", "model", "haiku"))
	s.WaitForNotice("the model is haiku now")
	require.NoError(t, s.Set("you", "mode", "bypassPermissions"))
	s.WaitForNotice("did not set the mode: not launched for it")
	s.WaitForNotice("the mode is plan (changes nothing) now")
	require.Contains(t, s.CloseAndReadInput(), `"model":"haiku"`)
}

// An MCP server's form is asked as other questions are.
func TestAServersForm(t *testing.T) {
	form := `> {"type":"control_request","request_id":"r1","request":{"subtype":"elicitation","mcp_server_name":"deploy","message":"Where to?",` +
		`"mode":"form","requested_schema":{"type":"object","required":["host"],"properties":{"host":{"type":"string","enum":["a","b"]}}}}}` + "\n"
	for want, answer := range map[string]chat.Answer{
		`"response":{"action":"accept","content":{"host":"b"}}`: {Replies: map[string][]string{"host": {"b"}}},
		`"response":{"action":"decline"}`:                       {},
		`"response":{"action":"cancel"}`:                        {Words: "nobody is there"},
	} {
		s := start(t, ready+form+"< r1\n", claude.Config{})
		s.WaitForState(chat.Asks)
		r := s.OpenRequests()[0]
		require.Equal(t, "for the MCP server deploy", r.Why)
		require.Error(t, s.Answer(r.ID, "you", chat.Answer{Replies: map[string][]string{"host": {"c"}}}))
		require.NoError(t, s.Answer(r.ID, "you", answer))
		require.Contains(t, s.CloseAndReadInput(), want)
	}
	s := start(t, ready+strings.Replace(form, `"mode":"form"`, `"mode":"url"`, 1), claude.Config{})
	s.WaitForNotice("declined a form")
	require.Contains(t, s.CloseAndReadInput(), `"action":"decline"`)
}
