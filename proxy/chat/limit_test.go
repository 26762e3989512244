package chat_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
)

// startWithin is start with a limit for answers.
func startWithin(t *testing.T, limit time.Duration) (*chat.Session, *fake) {
	t.Helper()
	f := &fake{}
	s := chat.New("claude", f)
	s.AnswerWithin(limit)
	require.NoError(t, s.Start())
	f.report(chat.Ready{})
	return s, f
}

// Requests of each kind are refused once, with a reason, and not before their time.
func TestAnUnansweredRequestIsRefusedInTime(t *testing.T) {
	for name, asked := range map[string]chat.RequestOpened{"approval": approval("a1"), "question": question("a1", false)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, f := startWithin(t, 90*time.Minute)
				f.report(asked)
				require.Equal(t, time.Now().Add(90*time.Minute), s.OpenRequests()[0].Until)
				time.Sleep(90*time.Minute - time.Second)
				synctest.Wait()
				require.Equal(t, []string{"start"}, f.done())
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.Equal(t, []string{"start", "refuse a1"}, f.done())
				require.Empty(t, s.OpenRequests())
				require.Equal(t, chat.AtPrompt, s.State())
				require.Contains(t, records(t, s), "closed a1 by  not answered within 1h30m")
				require.EqualError(t, s.Answer("a1", "ada", chat.Answer{Verdict: chat.Once}), "the request is already closed: not answered within 1h30m")
				require.Len(t, f.done(), 2)
			})
		})
	}
}

// An answer, a withdrawal and the end stop the limit; it also runs for requests from outside.
func TestTheTimeOfARequestIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := startWithin(t, 10*time.Minute)
		f.report(approval("answered"))
		f.report(approval("withdrawn"))
		require.NoError(t, s.Answer("answered", "ada", chat.Answer{Verdict: chat.Once}))
		f.report(chat.Withdrawn{ID: "withdrawn", Why: "taken back"})
		time.Sleep(5 * time.Minute)
		var closed []chat.Closed
		require.NoError(t, s.AskUser(chat.Request{ID: "outside", By: "agent x", Tool: "Bash"}, func(c chat.Closed) { closed = append(closed, c) }))
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"start", "allow once answered"}, f.done())
		require.Len(t, s.OpenRequests(), 1)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		require.Equal(t, []chat.Closed{{ID: "outside", Why: "not answered within 10m"}}, closed)
		require.True(t, chat.HasExpired(&closed[0]))
		f.report(approval("open at the end"))
		require.NoError(t, s.Close())
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"start", "allow once answered", "refuse open at the end", "close"}, f.done())
	})
}

// The record of a request without a limit has no time.
func TestWithoutALimitARequestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := startWithin(t, 0)
		f.report(approval("a1"))
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"start"}, f.done())
		text, err := json.Marshal(s.OpenRequests()[0])
		require.NoError(t, err)
		require.NotContains(t, string(text), "until")
	})
}
