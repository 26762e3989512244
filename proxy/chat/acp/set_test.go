package acp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/acp"
)

const (
	steered = `< initialize
> {"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":1,"_meta":{"steering":{"supported":true}}}}
< session/new
> {"jsonrpc":"2.0","id":ID,"result":{"sessionId":"s1"}}
< session/prompt
> begun
`
	formAsked = `> {"jsonrpc":"2.0","id":"f","method":"elicitation/create","params":{"sessionId":"s1","mode":"form","message":"Which?",` +
		`"requestedSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}}` + "\n"
)

// A message during a turn goes into the turn at once, if the agent takes that.
func TestSteering(t *testing.T) {
	s := start(t, steered+"< _session/steering\n"+`> {"jsonrpc":"2.0","id":ID,"result":{"outcome":"injected"}}`+"\n"+
		"< _session/steering\n"+`> {"jsonrpc":"2.0","id":ID,"result":{"outcome":"promptRequired"}}`+"\n"+
		`> {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`+"\n"+
		"< session/prompt\n"+done, "")
	require.NoError(t, s.Send("you", "first"))
	s.WaitForNotice("begun") // the agent has the first prompt: the state says so sooner
	require.NoError(t, s.Send("you", "second"))
	require.NoError(t, s.Send("you", "third"))
	s.Turn()
	require.Equal(t, chat.Done, s.Turn().Outcome)
	got := s.CloseAndReadInput()
	require.Equal(t, 1, strings.Count(got, `"text":"second"`))
	require.Equal(t, 2, strings.Count(got, `"text":"third"`), "what came too late for the turn is the next one")
	require.Equal(t, 2, strings.Count(got, `"idleBehavior":"promptRequired"`))
}

// What an interrupted turn took in may be lost; the rest is dropped.
func TestSteeringIsInterrupted(t *testing.T) {
	s := start(t, steered+"< _session/steering\n"+`> {"jsonrpc":"2.0","id":ID,"result":{"outcome":"injected"}}`+"\n< _session/steering\n< session/cancel\n"+
		`> {"jsonrpc":"2.0","id":5,"result":{"outcome":"promptRequired"}}`+"\n"+`> {"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}`+"\n", "")
	require.NoError(t, s.Send("you", "first"))
	s.WaitForNotice("begun") // the agent has the first prompt: the state says so sooner
	require.NoError(t, s.Send("you", "second"))
	require.NoError(t, s.Send("you", "third"))
	require.NoError(t, s.Interrupt("you"))
	s.WaitForNotice("did not read: third")
	s.WaitForNotice("may not have read: second")
	require.Equal(t, chat.Interrupted, s.Turn().Outcome)
}

func TestAForm(t *testing.T) {
	for want, answer := range map[string]chat.Answer{
		`"result":{"action":"accept","content":{"n":7}}`: {Replies: map[string][]string{"n": {"7"}}},
		`"result":{"action":"decline"}`:                  {},
		`"result":{"action":"cancel"}`:                   {Words: "nobody is there"},
	} {
		s := start(t, prompted+formAsked+`< "id":"f"`+"\n", "")
		require.NoError(t, s.Send("you", "go"))
		s.WaitForState(chat.Asks)
		r := s.OpenRequests()[0]
		require.Equal(t, "Which?", r.Form[0].Text)
		require.ErrorContains(t, s.Answer(r.ID, "you", chat.Answer{Replies: map[string][]string{"n": {"seven"}}}), "must be a whole number")
		require.NoError(t, s.Answer(r.ID, "you", answer))
		require.Contains(t, s.CloseAndReadInput(), want)
	}
}

// A form may be withdrawn, and one that cannot be shown is declined.
func TestAFormThatIsNotAnswered(t *testing.T) {
	s := start(t, prompted+formAsked+`> {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"f"}}`+"\n", "")
	require.NoError(t, s.Send("you", "go"))
	closed := s.Next("a closed request", func(r chat.Record) bool { return r.Closed != nil }).Closed
	require.Equal(t, "eliza took it back", closed.Why)
	require.Contains(t, s.CloseAndReadInput(), `"code":-32800`)
	for _, params := range []string{`{"sessionId":"s2","mode":"form","message":"x"}`, `{"sessionId":"s1","mode":"url","message":"x"}`, `{"sessionId":"s1"}`} {
		s := start(t, prompted+`> {"jsonrpc":"2.0","id":"f","method":"elicitation/create","params":`+params+"}\n", "")
		require.NoError(t, s.Send("you", "go"))
		s.WaitForNotice("declined a form")
		require.Contains(t, s.CloseAndReadInput(), `"action":"decline"`)
		require.Empty(t, s.OpenRequests())
	}
}

const settings = initialized + "< session/new\n" + `> {"jsonrpc":"2.0","id":ID,"result":{"sessionId":"s1",` +
	`"modes":{"currentModeId":"agent","availableModes":[{"id":"agent","name":"Agent"},{"id":"read-only","name":"Read"}]},` +
	`"configOptions":[{"id":"m","category":"model","type":"select","currentValue":"b","options":[{"name":"all","options":[{"value":"a","name":"A"}]},{"value":"b"}]},` +
	`{"id":"Fast","type":"select","currentValue":"https://x#on","options":[{"value":"https://x#on","name":"On"}]}]}}` + "\n"

func TestWhatCanBeSet(t *testing.T) {
	option := `{"id":"m","category":"model","type":"select","currentValue":"a","options":[{"value":"a"},{"value":"c"}]}`
	s := start(t, settings+`< "configId":"m"`+"\n"+`> {"jsonrpc":"2.0","id":ID,"result":{"configOptions":[`+option+"]}}\n"+
		"< session/set_mode\n"+`> {"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"not today"}}`+"\n"+
		`> {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"current_mode_update","currentModeId":"read-only"}}}`+"\n", "")
	s.WaitForState(chat.AtPrompt)
	require.Equal(t, []chat.Setting{
		{Name: "model", Value: "b", Choices: []chat.Option{{Label: "a", Description: "A"}, {Label: "b"}}},
		{Name: "fast", Value: "On", Choices: []chat.Option{{Label: "On"}}},
		{Name: "mode", Value: "agent", Choices: []chat.Option{{Label: "agent", Description: "Agent"}, {Label: "read-only", Description: "Read"}}},
	}, s.Settings())
	require.ErrorIs(t, s.Set("you", "colour", "red"), chat.ErrNoSetting)
	require.Error(t, s.Set("you", "model", "z"))
	require.NoError(t, s.Set("you", "model", "A"))
	s.WaitForNotice("sets the model to a")
	s.WaitForNotice("the model is a now")
	require.NoError(t, s.Set("you", "mode", "agent"))
	s.WaitForNotice("did not set the mode: not today")
	s.WaitForNotice("the mode is read-only (Read) now")
	require.Contains(t, s.CloseAndReadInput(), `"value":"a"`)
}

// The conversation begins only once the mode in which the agent asks is set.
func TestTheModeInWhichItAsks(t *testing.T) {
	for answer, then := range map[string]chat.State{`"result":{}`: chat.AtPrompt, `"error":{"code":1,"message":"no such mode"}`: chat.Failed} {
		s := startWith(t, acp.Config{Mode: "read-only"}, settings+"< session/set_mode\n"+`> {"jsonrpc":"2.0","id":ID,`+answer+"}\n< session/prompt\n"+done)
		require.NoError(t, s.Send("you", "go"))
		if then == chat.Failed {
			require.Contains(t, s.WaitForState(then).Why, "it does not take the mode read-only: no such mode")
			require.NotContains(t, s.CloseAndReadInput(), "session/prompt")
			continue
		}
		s.WaitForState(then)
		require.Contains(t, s.CloseAndReadInput(), `"modeId":"read-only"`)
		require.Equal(t, "read-only", s.Mode())
	}
	s := startWith(t, acp.Config{Mode: "nonsense"}, settings+"< session/set_mode\n")
	require.Contains(t, s.WaitForState(chat.Failed).Why, `it has no mode "nonsense": it has agent, read-only`)
	require.NotContains(t, s.CloseAndReadInput(), "session/set_mode")
}
