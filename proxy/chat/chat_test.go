package chat_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/proxy/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a driver whose agent the test plays.
type fake struct {
	report func(chat.Event)
	fails  error

	mu   sync.Mutex
	did  []string
	sent []chat.Prompt
}

func (f *fake) do(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, what)
	return f.fails
}

func (f *fake) done() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.did)
}

func (f *fake) Start(report func(chat.Event)) error { f.report = report; return f.do("start") }
func (f *fake) Interrupt(chat.MayAct) error         { return f.do("interrupt") }
func (f *fake) Close() error                        { f.report(chat.AgentExited{Why: "killed"}); return f.do("close") }

func (f *fake) SetOption(name, value string) error { return f.do("set " + name + " " + value) }

func (f *fake) Send(p chat.Prompt) error {
	f.sent = append(f.sent, p)
	return f.do("send " + p.Text)
}

func (f *fake) Answer(id string, a chat.Answer) error {
	said := "refuse"
	switch {
	case a.Verdict != chat.Refuse:
		said = "allow " + a.Verdict
	case a.Replies != nil:
		said = "reply " + strings.Join(a.Replies["q1"], "+")
	}
	return f.do(said + " " + id)
}

func start(t *testing.T) (*chat.Session, *fake) {
	t.Helper()
	f := &fake{}
	s := chat.New("claude", f)
	require.NoError(t, s.Start())
	require.Equal(t, chat.Starting, s.State())
	f.report(chat.Ready{})
	require.Equal(t, chat.AtPrompt, s.State())
	return s, f
}

func approval(id string) chat.RequestOpened {
	return chat.RequestOpened{Request: chat.Request{ID: id, Tool: "Bash", Allows: []chat.Choice{{Verdict: chat.Once}}}}
}

func question(id string, many bool) chat.RequestOpened {
	return chat.RequestOpened{Request: chat.Request{ID: id, Form: []chat.Question{
		{ID: "q1", Text: "Which?", Many: many, Options: []chat.Option{{Label: "Red"}, {Label: "Blue"}}},
	}}}
}

// records returns everything that the log holds, in words.
func records(t *testing.T, s *chat.Session) (all []string) {
	t.Helper()
	got, lost, err := s.Records(t.Context(), 0)
	require.NoError(t, err)
	require.Zero(t, lost)
	for _, r := range got {
		switch {
		case r.Item != nil:
			all = append(all, r.Item.Kind+" "+r.Item.Author+": "+r.Item.Text)
		case r.Piece != nil:
			all = append(all, "piece "+r.Piece.Text)
		case r.Request != nil:
			all = append(all, "request "+r.Request.ID)
		case r.Closed != nil:
			all = append(all, "closed "+r.Closed.ID+" by "+r.Closed.By+r.Closed.Answer.Verdict+" "+r.Closed.Why)
		case r.Turn != nil:
			all = append(all, "turn "+r.Turn.Outcome)
		default:
			all = append(all, "state "+r.State+" "+r.Why)
		}
	}
	return all
}

func TestATurn(t *testing.T) {
	s, f := start(t)
	require.Error(t, s.Send("you", ""))
	require.NoError(t, s.Send("you", "go"))
	require.Equal(t, chat.Working, s.State())
	f.report(chat.PromptAccepted{Prompt: f.sent[0].ID})
	require.NoError(t, s.Send("you", "and more"))
	f.report(chat.TextAppended{Piece: chat.Piece{ID: "t1", Text: "I "}})
	require.Contains(t, records(t, s), "piece I ")
	f.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Text, ID: "t1", Text: "I did"}})
	f.report(chat.Finished{Turn: chat.Turn{Outcome: chat.Done}})
	require.Equal(t, chat.Working, s.State(), "a prompt waits")
	f.report(chat.PromptAccepted{Prompt: f.sent[1].ID})
	f.report(chat.Finished{Turn: chat.Turn{Outcome: chat.Done}})
	require.Equal(t, chat.AtPrompt, s.State())
	require.NoError(t, s.Close())
	require.Equal(t, []string{
		"state starting ", "state at prompt ", "user you: go", "state working ", "user you: and more",
		"text claude: I did", "turn done", "turn done", "state at prompt ", "state ended ",
	}, records(t, s), "a text that is whole is there once")
	require.Error(t, s.Send("you", "too late"))
}

// Of two answers, the first counts, whatever the other says.
func TestTheFirstAnswerCounts(t *testing.T) {
	for range 50 {
		s, f := start(t)
		require.NoError(t, s.Send("you", "go"))
		f.report(approval("a1"))
		require.Equal(t, chat.Approval, s.State())
		var wg sync.WaitGroup
		errs := make([]error, 2)
		wg.Go(func() { errs[0] = s.Answer("a1", "ada", chat.Answer{Verdict: chat.Once}) })
		wg.Go(func() { errs[1] = s.Answer("a1", "bob", chat.Answer{}) })
		wg.Wait()
		first, second, said := "ada", errs[1], "allow once a1"
		if errs[0] != nil {
			first, second, said = "bob", errs[0], "refuse a1"
		}
		late, ok := errors.AsType[*chat.AnsweredError](second)
		require.True(t, ok, "%v", errs)
		require.Equal(t, first, late.By)
		require.Equal(t, []string{"start", "send go", said}, f.done())
		require.Equal(t, chat.Working, s.State())
	}
}

// Without an answer, nothing is allowed.
func TestWhatEndsARequestRefuses(t *testing.T) {
	for name, end := range map[string]func(*chat.Session, *fake){
		"interrupted": func(s *chat.Session, _ *fake) { _ = s.Interrupt("you") },
		"closed":      func(s *chat.Session, _ *fake) { _ = s.Close() },
		"withdrawn":   func(_ *chat.Session, f *fake) { f.report(chat.Withdrawn{ID: "a1"}); f.report(chat.Withdrawn{ID: "q"}) },
		"the agent ended": func(_ *chat.Session, f *fake) {
			f.report(chat.AgentExited{Why: "killed"})
		},
		"asked again": func(_ *chat.Session, f *fake) { f.report(approval("a1")); f.report(question("q", false)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, f := start(t)
			require.NoError(t, s.Send("you", "go"))
			f.report(approval("a1"))
			f.report(question("q", false))
			end(s, f)
			require.Empty(t, s.OpenRequests())
			for _, id := range []string{"a1", "q"} {
				require.Error(t, s.Answer(id, "you", chat.Answer{Verdict: chat.Once}))
			}
			require.NotContains(t, strings.Join(f.done(), "\n"), "allow")
			require.NotContains(t, strings.Join(f.done(), "\n"), "reply")
			require.NotContains(t, []chat.State{chat.Approval, chat.Asks}, s.State())
		})
	}
}

// The log records no approval that the agent never received.
func TestAnAnswerThatDoesNotReachTheAgentAllowsNothing(t *testing.T) {
	s, f := start(t)
	f.report(approval("a1"))
	f.fails = errors.New("its hook is gone")
	require.ErrorContains(t, s.Answer("a1", "ada", chat.Answer{Verdict: chat.Once}), "its hook is gone")
	late, ok := errors.AsType[*chat.AnsweredError](s.Answer("a1", "bob", chat.Answer{}))
	require.True(t, ok)
	require.Equal(t, chat.AnsweredError{Why: "the answer of ada did not reach claude: its hook is gone"}, *late)
	all, _, err := s.Records(t.Context(), 0)
	require.NoError(t, err)
	at := slices.IndexFunc(all, func(r chat.Record) bool { return r.Closed != nil })
	require.Equal(t, chat.Closed{ID: "a1", Why: late.Why}, *all[at].Closed)
}

func TestAnAnswerHasToFit(t *testing.T) {
	s, f := start(t)
	require.NoError(t, s.Send("you", "go"))
	f.report(approval("a1"))
	f.report(question("q", false))
	reply := func(labels ...string) chat.Answer { return chat.Answer{Replies: map[string][]string{"q1": labels}} }
	for id, wrong := range map[string][]chat.Answer{
		"a1": {{Verdict: chat.ForSession}, {Verdict: "yes"}, reply("Red"), {Verdict: chat.Once, Replies: map[string][]string{}}},
		"q":  {{Verdict: chat.Once}, reply(), reply("Red", "Blue"), {Replies: map[string][]string{"q1": {"Red"}, "q2": {"Red"}}}},
	} {
		for _, a := range wrong {
			require.Error(t, s.Answer(id, "you", a), "%s %+v", id, a)
		}
	}
	require.ErrorIs(t, s.Answer("a2", "you", chat.Answer{}), chat.ErrNoRequest)
	require.Equal(t, []string{"start", "send go"}, f.done())
	require.Len(t, s.OpenRequests(), 2)
	require.NoError(t, s.Answer("q", "you", reply("something else")))
	require.NoError(t, s.Answer("a1", "you", chat.Answer{Words: "no"}))
	f.report(question("many", true))
	require.Equal(t, chat.Asks, s.State())
	require.NoError(t, s.Answer("many", "you", reply("Red", "Blue")))
	require.Equal(t, []string{"reply something else q", "refuse a1", "reply Red+Blue many"}, f.done()[2:])
}

// A prompt that the agent never read is named.
func TestNoPromptIsLostWithoutAWord(t *testing.T) {
	s, f := start(t)
	require.NoError(t, s.Send("you", "first"))
	f.report(chat.PromptAccepted{Prompt: f.sent[0].ID})
	require.NoError(t, s.Send("you", "second"))
	require.NoError(t, s.Send("you", "third"))
	f.report(chat.PromptDropped{Prompt: f.sent[1].ID})
	require.Equal(t, chat.Working, s.State())
	f.report(chat.AgentExited{Why: "claude was killed"})
	got := strings.Join(records(t, s), "\n")
	require.Contains(t, got, "claude did not read: second")
	require.Contains(t, got, "claude did not read: third\nstate ended claude was killed")
	require.NotContains(t, got, "did not read: first")

	s, f = start(t)
	f.fails = errors.New("broken")
	require.Error(t, s.Send("you", "fourth"))
	require.Equal(t, chat.AtPrompt, s.State())
	require.Contains(t, records(t, s), "notice claude: not sent: broken")

	s, f = start(t) // withdrawn before it was begun
	require.NoError(t, s.Send("you", "fifth"))
	f.report(chat.PromptDropped{Prompt: f.sent[0].ID})
	require.Equal(t, chat.AtPrompt, s.State())
}

func TestItSaysWhyItDidNotStart(t *testing.T) {
	f := &fake{fails: errors.New("claude is not installed")}
	s := chat.New("claude", f)
	require.Error(t, s.Start())
	require.Equal(t, chat.Failed, s.State())
	require.Contains(t, records(t, s), "state failed to start claude is not installed")

	f = &fake{}
	s = chat.New("claude", f)
	require.NoError(t, s.Start())
	require.NoError(t, s.Send("you", "early"))
	f.report(chat.Finished{Turn: chat.Turn{Outcome: chat.Broken}})
	f.report(chat.AgentExited{Why: "no such conversation"})
	require.Equal(t, chat.Failed, s.State())
	require.Contains(t, strings.Join(records(t, s), "\n"), "did not read: early\nstate failed to start no such conversation")
	<-s.Done()
}

// A follower continues where it was, and is told how much is lost.
func TestTheLogIsBounded(t *testing.T) {
	s, f := start(t)
	big := strings.Repeat("ä", 200<<10)
	for range 60 {
		f.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Text, Text: big, Input: []byte(`"` + big + `"`)}})
	}
	got, lost, err := s.Records(t.Context(), 1)
	require.NoError(t, err)
	require.Positive(t, lost)
	require.Equal(t, lost+2, got[0].Number)
	require.Less(t, len(got), 40)
	require.Equal(t, len(big)-256<<10+len(big)+2, got[0].Item.Cut)
	require.Nil(t, got[0].Item.Input)
	last := got[len(got)-1].Number

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = s.Records(ctx, last)
	require.ErrorIs(t, err, context.Canceled)
	var wg sync.WaitGroup
	wg.Go(func() {
		got, lost, err = s.Records(t.Context(), last)
	})
	f.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Notice, Text: "news"}})
	wg.Wait()
	require.NoError(t, err)
	require.Zero(t, lost)
	require.Equal(t, "news", got[0].Item.Text)
}

// The log has each setting and its author before the agent receives it, and other changes as well.
func TestWhatCanBeSet(t *testing.T) {
	s, f := start(t)
	models := []chat.Option{{Label: "small"}}
	require.ErrorIs(t, s.Set("ada", chat.Model, "small"), chat.ErrNoSetting)
	f.report(chat.SettingsChanged{Settings: []chat.Setting{{Name: chat.Mode}, {Name: chat.Model, Choices: models}}})
	f.report(chat.SettingsChanged{Settings: []chat.Setting{{Name: chat.Mode, Value: "asks"}, {Name: chat.Model, Choices: models}}})
	require.Error(t, s.Set("ada", chat.Model, "tiny"))
	require.Error(t, s.Set("ada", chat.Mode, "two words"))
	require.NoError(t, s.Set("ada", chat.Model, "Small"))
	f.report(chat.SettingsChanged{Settings: []chat.Setting{{Name: chat.Mode, Value: "asks nobody"}, {Name: chat.Model, Value: "small"}}})
	require.Equal(t, []string{
		"notice claude: the mode is asks", "notice ada: sets the model to small", "notice claude: the mode is asks nobody now", "notice claude: the model is small now",
	}, records(t, s)[2:])
	require.Contains(t, f.done(), "set model small")
}

// If the agent's own check rejects an answer, the request stays open.
func TestAnAnswerThatTheAgentDoesNotTake(t *testing.T) {
	s, f := start(t)
	asked := question("f1", false)
	asked.Request.Check = func(replies map[string][]string) error {
		if replies["q1"][0] != "Red" {
			return errors.New("must be Red")
		}
		return nil
	}
	f.report(asked)
	require.ErrorContains(t, s.Answer("f1", "ada", chat.Answer{Replies: map[string][]string{"q1": {"Blue"}}}), "must be Red")
	require.Len(t, s.OpenRequests(), 1)
	require.NoError(t, s.Answer("f1", "ada", chat.Answer{Replies: map[string][]string{"q1": {"Red"}}}))
	require.Equal(t, []string{"start", "reply Red f1"}, f.done())
}

// Another agent asks the same people: only the asker hears the answer.
func TestAnOutsiderAsks(t *testing.T) {
	s, f := start(t)
	var heard []string
	ask := func(id string) error {
		r := approval(id).Request
		r.By = "agent gemini"
		return s.AskUser(r, func(c chat.Closed) {
			heard = append(heard, c.ID+" by "+c.By+" "+c.Answer.Verdict+" "+c.Why)
		})
	}
	took := func() []string {
		all := heard
		heard = nil
		return all
	}
	require.NoError(t, ask("x1"))
	require.Equal(t, chat.Approval, s.State())
	require.ErrorContains(t, ask("x1"), "not new")
	require.Empty(t, took())
	require.NoError(t, s.Answer("x1", "ada", chat.Answer{Verdict: chat.Once}))
	require.Equal(t, []string{"x1 by ada once "}, took())
	require.ErrorContains(t, s.Answer("x1", "bob", chat.Answer{Verdict: chat.Once}), "ada")
	require.Error(t, ask("x1"), "an answer counts for one request")
	require.Equal(t, chat.AtPrompt, s.State())

	require.NoError(t, ask("x2"))
	s.WithdrawRequest("x2", "it is gone")
	require.Equal(t, []string{"x2 by   it is gone"}, took())
	require.Equal(t, chat.AtPrompt, s.State())
	s.WithdrawRequest("x2", "again")

	f.report(approval("t1"))
	s.WithdrawRequest("t1", "it is the agent's")
	require.Len(t, s.OpenRequests(), 1)
	require.NoError(t, ask("x3"))
	require.NoError(t, s.Interrupt("ada"))
	require.Equal(t, []string{"x3 by ada  the turn was interrupted"}, took())

	require.NoError(t, ask("x4"))
	f.report(chat.AgentExited{})
	require.Equal(t, []string{"x4 by   claude ended"}, took())
	require.ErrorIs(t, ask("x5"), chat.ErrOver)
	require.Equal(t, []string{"start", "refuse t1", "interrupt"}, f.done(), "the agent hears nothing of it")
}

func TestTheEndRefusesAnOutsidersRequests(t *testing.T) {
	s, _ := start(t)
	heard := 0
	r := approval("x1").Request
	require.NoError(t, s.AskUser(r, func(c chat.Closed) {
		heard++
		require.True(t, c.Answer.Refuses())
	}))
	require.NoError(t, s.Close())
	require.Equal(t, 1, heard)
}
