package events

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// desk is a user who looks at times, and notes the reminders.
type desk struct {
	mu     sync.Mutex
	looked time.Time
	told   []openQuestion
	at     []time.Time
}

func (d *desk) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looked = time.Now()
}

// tellings returns the reminders so far, and their times.
func (d *desk) tellings() ([]openQuestion, []time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.told, d.at
}

func (d *desk) reminder() *reminder {
	return &reminder{
		after: 10 * time.Second,
		lastLook: func() time.Time {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.looked
		},
		remind: func(q openQuestion) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.told, d.at = append(d.told, q), append(d.at, time.Now())
		},
	}
}

var one, two = openQuestion{number: 1, agent: "claude"}, openQuestion{number: 2, agent: "claude", held: true}

func TestAnUnseenQuestionIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		r, began := d.reminder(), time.Now()
		r.setQuestion(one)
		time.Sleep(time.Second)
		r.setQuestion(one) // the state was published again: it is the same question
		time.Sleep(time.Hour)
		told, at := d.tellings()
		require.Equal(t, []openQuestion{one}, told)
		require.Equal(t, 10*time.Second, at[0].Sub(began))
		r.setQuestion(two)
		time.Sleep(time.Hour)
		told, _ = d.tellings()
		require.Equal(t, []openQuestion{one, two}, told)
		r.close()
	})
}

func TestAViewerIsNotNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		r := d.reminder()
		r.setQuestion(one)
		time.Sleep(9 * time.Second)
		d.look()
		last := time.Now()
		time.Sleep(9 * time.Second)
		told, _ := d.tellings()
		require.Empty(t, told)
		time.Sleep(2 * time.Second)
		told, at := d.tellings()
		require.Equal(t, []openQuestion{one}, told, "they have left")
		require.Equal(t, 10*time.Second, at[0].Sub(last))
		r.close()
	})
}

func TestAnAnswerInTimeSendsNoReminder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		r := d.reminder()
		r.setQuestion(one)
		time.Sleep(5 * time.Second)
		r.setQuestion(openQuestion{})
		time.Sleep(5 * time.Second)
		r.setQuestion(two)
		time.Sleep(9 * time.Second)
		r.close()
		time.Sleep(time.Hour)
		r.setQuestion(one)
		time.Sleep(time.Hour)
		told, _ := d.tellings()
		require.Empty(t, told)
	})
}
