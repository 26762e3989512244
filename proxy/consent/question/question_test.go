package question

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/keys"
)

var (
	ada  = Agent{ID: "a-1", Name: "ada", Identity: "name ada"}
	bert = Agent{ID: "b-1", Name: "bert", Identity: "name bert"}
)

// Whatever kind follows whatever other one, however that ended: the one that waits takes no place,
// and the key counts only for what could be read for 1.5 s.
func TestEachKindWaitsForEachOtherR71R72(t *testing.T) {
	endings := map[string]func(q *Queue, c *Question, now time.Time){
		"answer":       func(q *Queue, _ *Question, now time.Time) { q.NoteGrantKey(now, false) },
		"refusal":      func(q *Queue, _ *Question, now time.Time) { q.NoteReclaimKey(now, false) },
		"by its asker": func(q *Queue, c *Question, now time.Time) { q.End(now, c, Withdrawn, "") },
	}
	for first := Keyboard; first <= Confirm; first++ {
		for second := Keyboard; second <= Confirm; second++ {
			for name, end := range endings {
				for _, at := range []time.Duration{100, 450, 900, 1300, 1500} {
					about := fmt.Sprint(first, " ended by ", name, ", then ", second, " at ", at)
					if name == "answer" && first.IsTyped() || name == "refusal" && first == Prompt {
						continue // the user types on; the key opens the menu
					}
					q, now, given := new(Queue), time.Unix(1e9, 0), 0
					a := New(first, ada, func(time.Time, bool) {})
					b := New(second, bert, func(_ time.Time, yes bool) {
						require.True(t, yes)
						given++
					})
					q.Add(now, a)
					q.NoteShown(now, q.Shown().Turn)
					q.Add(now, b)
					now = now.Add(2 * time.Second)
					require.Equal(t, a, q.Current(), about)
					end(q, a, now)
					require.Equal(t, b, q.Current(), about)
					q.NoteShown(now, q.Shown().Turn-1) // the drawing of the one before
					q.NoteShown(now, q.Shown().Turn)
					require.True(t, q.NoteGrantKey(now.Add(at*time.Millisecond), false), about)
					counts := at == 1500
					require.Equal(t, counts, given == 1 || b.Typing, about)
				}
			}
		}
	}
}

// A message takes no key that may be meant for the question before it: what the user types then could
// be a password, and goes nowhere.
func TestAMessageTakesNoQuestionsPlaceR71R72(t *testing.T) {
	for first := Keyboard; first <= Confirm; first++ {
		for _, at := range []time.Duration{100, 450, 900, 1300, 1500} {
			q, now := new(Queue), time.Unix(1e9, 0)
			a := New(first, ada, nil)
			q.Add(now, a)
			q.NoteShown(now, q.Shown().Turn)
			now = now.Add(time.Minute)
			q.End(now, a, Withdrawn, "")
			pressed := now.Add(at * time.Millisecond)
			q.AddKey(pressed, keys.Unit{Kind: keys.Confirm, Bytes: []byte("\x07")}, false)
			took, answers := q.NoteReplyKey(pressed, now)
			require.Equal(t, at == 1500, answers, first)
			if !answers {
				require.True(t, took || q.NoteGrantKey(pressed, false))
				require.True(t, q.Shown().Ignored)
				_, dropped := q.AddKey(pressed, keys.Unit{Kind: keys.Key, Bytes: []byte("secret\r")}, false)
				require.True(t, dropped)
			}
		}
	}
}

// A refusal counts for all that the agent asks: what waits, and what it asks next.
func TestARefusalIsForAllKindsR71(t *testing.T) {
	q, now := new(Queue), time.Unix(1e9, 0)
	refused := 0
	for kind := Secret; kind <= Confirm; kind++ {
		require.Nil(t, q.Admit(now, ada))
		q.Add(now, New(kind, ada, func(_ time.Time, yes bool) {
			require.False(t, yes)
			refused++
		}))
	}
	took, free := q.NoteReclaimKey(now, false)
	require.Equal(t, []bool{true, false}, []bool{took, free})
	require.Equal(t, 3, refused)
	require.Nil(t, q.Current())
	require.Equal(t, &NotNow{For: FirstRefusalWait, Times: 1}, q.Admit(now, Agent{ID: "a-2", Identity: ada.Identity}))
	q.Mute(bert)
	require.ErrorContains(t, q.AskRefusal(now, bert), "muted")
	require.Equal(t, &NotNow{Muted: true}, q.Admit(now.Add(time.Hour), bert))
}

// A text behind the key in one read, of which a secret's question has the rest dropped, answers as
// little as any other text.
func TestAKeyInATextAnswersNothing(t *testing.T) {
	q, now := new(Queue), time.Unix(1e9, 0)
	q.Add(now, New(Secret, ada, nil))
	q.NoteShown(now, q.Shown().Turn)
	now = now.Add(time.Minute)
	for _, text := range []string{"secret\r", ""} {
		_, took := q.AddKey(now, keys.Unit{Kind: keys.Confirm, Bytes: []byte("\x07")}, false)
		require.False(t, took)
		if text != "" {
			_, took = q.AddKey(now, keys.Unit{Kind: keys.Key, Bytes: []byte(text)}, false)
			require.True(t, took)
		}
		require.True(t, q.NoteGrantKey(now, false))
		require.Equal(t, text == "", q.Shown().Typing)
		now = now.Add(time.Second)
	}
}
