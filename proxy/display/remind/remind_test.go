package remind_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/display/remind"
)

// desk is a user who looks at times, and notes the reminders.
type desk struct {
	mu     sync.Mutex
	looked time.Time
	told   []remind.Question
	at     []time.Time
}

func (d *desk) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looked = time.Now()
}

// tellings returns the reminders so far, and their times.
func (d *desk) tellings() ([]remind.Question, []time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.told, d.at
}

func (d *desk) reminder() *remind.Reminder {
	return remind.New(remind.Config{
		After: 10 * time.Second,
		LastLook: func() time.Time {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.looked
		},
		Remind: func(q remind.Question) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.told, d.at = append(d.told, q), append(d.at, time.Now())
		},
	})
}

var one, two = remind.Question{Number: 1, Agent: "claude"}, remind.Question{Number: 2, Agent: "claude", Held: true}

func TestAnUnseenQuestionIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		r, began := d.reminder(), time.Now()
		r.SetQuestion(one)
		time.Sleep(time.Second)
		r.SetQuestion(one) // the state was published again: it is the same question
		time.Sleep(time.Hour)
		told, at := d.tellings()
		require.Equal(t, []remind.Question{one}, told)
		require.Equal(t, 10*time.Second, at[0].Sub(began))
		r.SetQuestion(two)
		time.Sleep(time.Hour)
		told, _ = d.tellings()
		require.Equal(t, []remind.Question{one, two}, told)
		r.Close()
	})
}

func TestAViewerIsNotNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		r := d.reminder()
		r.SetQuestion(one)
		time.Sleep(9 * time.Second)
		d.look()
		last := time.Now()
		time.Sleep(9 * time.Second)
		told, _ := d.tellings()
		require.Empty(t, told)
		time.Sleep(2 * time.Second)
		told, at := d.tellings()
		require.Equal(t, []remind.Question{one}, told, "they have left")
		require.Equal(t, 10*time.Second, at[0].Sub(last))
		r.Close()
	})
}

func TestAnAnswerInTimeSendsNoReminder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		r := d.reminder()
		r.SetQuestion(one)
		time.Sleep(5 * time.Second)
		r.SetQuestion(remind.Question{})
		time.Sleep(5 * time.Second)
		r.SetQuestion(two)
		time.Sleep(9 * time.Second)
		r.Close()
		time.Sleep(time.Hour)
		r.SetQuestion(one)
		time.Sleep(time.Hour)
		told, _ := d.tellings()
		require.Empty(t, told)
	})
}
