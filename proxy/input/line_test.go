package input_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
)

// occupied has the jobs of a world wait for the user's line while line says what stands on it.
func (w *world) occupied(j *job, line *string) {
	prepare := j.Prepare
	j.Prepare = func(left []input.Piece, answer func([]input.Piece, error)) {
		if *line != "" {
			answer(nil, &input.Occupied{Line: *line})
			return
		}
		prepare(left, answer)
	}
}

// TestR63InputWaitsForTheUsersLine: it is held by a fact and not by a timer, goes on when that is over, and is refused when its
// patience is.
func TestR63InputWaitsForTheUsersLine(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		line := "git pu"
		j, next := w.job("ls\r"), w.job("more")
		w.occupied(j, &line)
		w.occupied(next, &line)
		w.offer(j)
		w.offer(next)
		w.sleep(time.Hour)
		require.Empty(t, w.written())
		require.Equal(t, "git pu", w.ctl.State(time.Now()).Line)
		line = ""
		w.pump.Post(w.ctl.Vacate)
		w.sleep(0)
		require.Equal(t, "ls\rmore", w.written())

		line = "again"
		late := w.job("late")
		late.Wait = time.Second
		w.occupied(late, &line)
		w.offer(late)
		w.sleep(time.Second)
		require.Equal(t, input.Receipt{Fate: input.UserTyping, Dropped: 4}, late.receipt(t))
		require.False(t, w.ctl.Occupied(), "nobody waits any more")
	})
}

// TestR63AnInputIsLookedAtAgainWhenTheUserTyped: in the middle of one, too, and what was written of it stays written.
func TestR63AnInputIsLookedAtAgainWhenTheUserTyped(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		line := ""
		w.room = 64
		j := w.job(many(3)...)
		w.occupied(j, &line)
		w.offer(j)
		line = "mine"
		w.press("u")
		w.drain(-1)
		w.sleep(time.Minute)
		require.Len(t, w.written(), 65, "the first piece, and the user's key")
		require.True(t, w.ctl.Occupied())
		w.press("\x1c")
		require.Equal(t, input.Receipt{Fate: input.Dropped, Written: 64, Dropped: 128, Unsubmitted: 64}, j.receipt(t))
		require.Equal(t, control.Observing, w.ctl.Phase())
	})
}

// keyLog notes whose keys the pump told of.
type keyLog struct{ user, agent string }

func (k *keyLog) User(b []byte)  { k.user += string(b) }
func (k *keyLog) Agent(b []byte) { k.agent += string(b) }

// TestR63EverybodysKeysAreTold before the program has them.
func TestR63EverybodysKeysAreTold(t *testing.T) {
	log := &keyLog{}
	inBubbleWith(t, func(_ *world, c *input.Config) { c.Line = log }, func(t *testing.T, w *world) {
		w.press("u\x1b[A")
		w.sleep(2 * time.Second)
		w.offer(w.job("ag", "ent"))
		w.press("\x1b[200~p\x1b[201~")
		w.sleep(2 * time.Second)
		require.Equal(t, &keyLog{"u\x1b[A\x1b[200~p\x1b[201~", "agent"}, log)
	})
}
