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
