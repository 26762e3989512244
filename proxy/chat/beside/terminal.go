package beside

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
)

// terminal is the session's terminal as the driver of its program has it.
type terminal struct{ *Agent }

// ReadScreen implements [chat.Terminal].
func (t terminal) ReadScreen() (out chat.Screen, ok bool) {
	whole := false
	ok = t.Observer.Call(func(time.Time) { out, whole = readScreen(t.Observer.Model()) })
	return out, ok && whole
}

const (
	// quiet is how long the user must not have typed before input for a person elsewhere: by then
	// the user's keys show on the screen.
	quiet = 300 * time.Millisecond
	// gap is how long the program sees a piece alone, and lookEvery the time between two looks at
	// the screen.
	gap       = 50 * time.Millisecond
	lookEvery = 30 * time.Millisecond
)

// Type implements [chat.Terminal]. It goes through the pump's queue as agents' input does, so that
// not a byte comes between the user's, or after the keyboard changed hands.
func (t terminal) Type(c chat.TypeRequest) {
	job := &typing{TypeRequest: c, agent: t.Agent}
	size := 0
	for _, p := range c.Pieces {
		size += len(p)
	}
	t.pump.Enqueue(pump.Job{
		Epoch: t.Control.NewestState().Epoch, Size: size, Excuse: func(error) bool { return true },
		Prepare: job.awaitTurn, Hold: job.refuseAfterKeys, Done: job.reportResult,
	})
}

// StandingCheck implements [chat.Terminal]. On the pump's goroutine its answer is exact: the queue
// is dropped whenever control changes.
func (t terminal) StandingCheck() (still func() bool) {
	then, reclaims := t.Control.NewestState(), t.reclaims.Load()
	return func() bool {
		return t.reclaims.Load() == reclaims &&
			(then.Phase != control.Granted || t.Control.NewestState().Epoch == then.Epoch)
	}
}

// typing follows a typing to its end. Its fields belong to the pump's goroutine, but for over.
type typing struct {
	chat.TypeRequest
	agent *Agent
	base  uint64 // the user's keys before the first piece, from 1; 0 while that waits
	over  atomic.Bool
}

// awaitTurn reads the screen until the next piece may be typed. It is called on the pump's
// goroutine.
func (c *typing) awaitTurn(left []pump.Piece, answer func([]pump.Piece, error)) {
	if left == nil {
		for i, b := range c.Pieces {
			left = append(left, pump.Piece{
				Bytes: slices.Clone(b), Gap: gap, Acts: i == len(c.Pieces)-1, Step: i + 1,
			})
		}
	}
	next := len(c.Pieces) - len(left)
	var look func()
	look = func() {
		ok := c.agent.Observer.Post(func(time.Time) {
			now, whole := readScreen(c.agent.Observer.Model())
			err := chat.ErrNotYet
			if whole {
				err = c.May(next, now)
			}
			if errors.Is(err, chat.ErrNotYet) && !c.over.Load() {
				time.AfterFunc(lookEvery, look)
				return
			}
			answer(left, err)
		})
		if !ok {
			answer(nil, errors.New("the program has ended"))
		}
	}
	look()
}

// refuseAfterKeys refuses a piece that would follow keys of the user.
func (c *typing) refuseAfterKeys(now time.Time, _ []pump.Piece, line pump.Line) (held bool, err error) {
	keys := uint64(line.User) + 1
	switch {
	case !c.Still():
		return false, chat.ErrTaken
	case c.base != 0 && c.base != keys, c.base == 0 && c.Keys != 0 && c.Keys != keys,
		c.base == 0 && now.Sub(c.agent.Tracker.LastKeyTime()) < quiet:
		return false, chat.ErrUserTyped
	}
	c.base = keys
	return false, nil
}

func (c *typing) reportResult(r pump.Receipt) {
	c.over.Store(true)
	out := chat.TypeResult{Keys: c.base, Err: r.Err}
	for written := r.Written; out.Pieces < len(c.Pieces) && written >= len(c.Pieces[out.Pieces]); out.Pieces++ {
		written -= len(c.Pieces[out.Pieces])
	}
	switch r.Fate {
	case pump.Written, pump.Refused:
	case pump.Dropped:
		out.Err = chat.ErrTaken
	case pump.NotReading:
		out.Err = errors.New("the program does not read its keyboard")
	default:
		out.Err = errors.New("the program has ended")
	}
	c.Done(out)
}
