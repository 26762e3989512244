package chat_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/view/corpus"
)

// stage is a session whose driver, people and outsiders a play plays.
type stage struct {
	t *testing.T
	*chat.Session
	f     *fake
	err   error // of the last step
	did   int   // acts of the driver that were looked at
	heard []string
}

// TestPlays plays conversations. An outsider is another agent that asks the same people.
func TestPlays(t *testing.T) {
	corpus.Plays(t, "plays", func(t *testing.T, steps []corpus.Step) {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{t: t}
			for _, step := range steps {
				s.err = s.step(step)
				synctest.Wait()
				refused := false
				for _, w := range step.Wants {
					s.check(w, step.Line)
					refused = refused || w.Name == "error"
				}
				require.True(t, s.err == nil || refused, "%s: %v", step.Line, s.err)
			}
			_ = s.Close()
		})
	})
}

func (s *stage) step(step corpus.Step) error {
	arg, more := step.Arg(1), step.Arg(2)
	sent := func() string {
		n, err := strconv.Atoi(arg)
		require.NoError(s.t, err, step.Line)
		return s.f.sent[n-1].ID
	}
	switch step.Words[0] {
	case "session":
		s.f = &fake{}
		if why := step.Option("fails"); why != "" {
			s.f.fails = errors.New(why)
		}
		s.Session = chat.New("claude", s.f)
		if limit := step.Option("limit"); limit != "" {
			d, err := time.ParseDuration(limit)
			require.NoError(s.t, err)
			s.AnswerWithin(d)
		}
		s.did = 1 // the start
		return s.Start()
	case "ready":
		s.f.report(chat.Ready{})
	case "asks":
		s.f.report(approval(arg))
	case "questions":
		s.f.report(question(arg, more == "many"))
	case "reads":
		s.f.report(chat.PromptAccepted{Prompt: sent()})
	case "drops":
		s.f.report(chat.PromptDropped{Prompt: sent()})
	case "piece":
		s.f.report(chat.TextAppended{Piece: chat.Piece{ID: arg, Text: more}})
	case "says":
		s.f.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Text, ID: arg, Text: more}})
	case "finishes":
		s.f.report(chat.Finished{Turn: chat.Turn{Outcome: arg}})
	case "withdraws":
		s.f.report(chat.Withdrawn{ID: arg, Why: more})
	case "exits":
		s.f.report(chat.AgentExited{Why: arg})
	case "settings":
		models := []chat.Option{{Label: "small"}}
		s.f.report(chat.SettingsChanged{Settings: []chat.Setting{
			{Name: chat.Mode, Value: step.Option("mode")}, {Name: chat.Model, Value: step.Option("model"), Choices: models},
		}})
	case "fails":
		s.f.fails = errors.New(arg)
	case "send":
		return s.Send("you", arg)
	case "answer":
		return s.Answer(arg, more, answerOf(step.Words[3:]))
	case "set":
		return s.Set("ada", arg, more)
	case "interrupt":
		return s.Interrupt("ada")
	case "close":
		return s.Close()
	case "outsider":
		r := approval(arg).Request
		r.By = "agent gemini"
		return s.AskUser(r, func(c chat.Closed) {
			s.heard = append(s.heard, strings.TrimSpace(c.ID+" by "+c.By+" "+c.Answer.Verdict+" "+c.Why))
		})
	case "withdraw":
		s.WithdrawRequest(arg, more)
	case "passes":
		d, err := time.ParseDuration(arg)
		require.NoError(s.t, err)
		time.Sleep(d)
	default:
		require.FailNow(s.t, "no such step", step.Line)
	}
	return nil
}

// answerOf makes an answer of a verdict, words:..., or question:Label+Label.
func answerOf(words []string) (a chat.Answer) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, ":")
		switch {
		case !strings.Contains(w, ":"):
			a.Verdict = w
		case name == "words":
			a.Words = value
		default:
			if a.Replies == nil {
				a.Replies = map[string][]string{}
			}
			a.Replies[name] = strings.FieldsFunc(value, func(r rune) bool { return r == '+' })
		}
	}
	return a
}

func (s *stage) check(w corpus.Want, line string) {
	switch w.Name {
	case "state":
		require.Equal(s.t, w.Value, s.State(), line)
	case "log":
		require.Equal(s.t, w.Value, strings.Join(records(s.t, s.Session), "|"), line)
	case "logs", "hides":
		all := strings.Join(records(s.t, s.Session), "|")
		require.Equal(s.t, w.Name == "logs", strings.Contains(all, w.Value), "%s: %s", line, all)
	case "did": // since the last look
		all := s.f.done()
		require.Equal(s.t, w.Value, strings.Join(all[s.did:], "|"), line)
		s.did = len(all)
	case "open":
		var ids []string
		for _, r := range s.OpenRequests() {
			ids = append(ids, r.ID)
		}
		require.Equal(s.t, w.Value, strings.Join(ids, ","), line)
	case "heard":
		require.Equal(s.t, w.Value, strings.Join(s.heard, "|"), line)
		s.heard = nil
	case "error":
		require.ErrorContains(s.t, s.err, w.Value, line)
	default:
		require.FailNow(s.t, "no such fact", line)
	}
}
