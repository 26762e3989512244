package input_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/input"
)

// returning is a program that a test lets come back for more.
type returning struct {
	back  bool
	looks int
}

func (r *returning) look(time.Time) bool { r.looks++; return r.back }

// acts is a job whose pieces are all acted on, as Enter is.
func (w *world) acts(pieces ...string) *job {
	j := w.job(pieces...)
	j.Prepare = func(left []input.Piece, answer func([]input.Piece, error)) {
		if left != nil {
			answer(left, nil)
			return
		}
		var cut []input.Piece
		for _, p := range pieces {
			cut = append(cut, input.Piece{Bytes: []byte(p), Acts: strings.HasSuffix(p, "\r")})
		}
		answer(cut, nil)
	}
	return j
}

func inFront(t *testing.T, do func(*testing.T, *world, *returning)) {
	t.Helper()
	r := &returning{back: true}
	inBubbleWith(t, func(_ *world, c *input.Config) { c.Back = r.look }, func(t *testing.T, w *world) { do(t, w, r) })
}

// TestR79NothingIsTypedAhead: after a line nothing follows before the program asks for more, neither of the same input nor
// of the next one; the user's keys and the reclaim key do.
func TestR79NothingIsTypedAhead(t *testing.T) {
	inFront(t, func(t *testing.T, w *world, r *returning) {
		r.back = false
		first := w.offer(w.acts("sh\r", "touch", " F\r"))
		second := w.offer(w.acts("exit\r"))
		w.sleep(5 * time.Second)
		require.Equal(t, "write sh\r", w.story())
		require.Less(t, r.looks, 70, "it is looked ever more rarely")
		w.press("u")
		require.Equal(t, "write sh\r | read u | write u", w.story())
		w.sleep(2 * time.Second)
		r.back = true
		w.sleep(time.Second)
		require.Equal(t, "sh\rutouch F\rexit\r", w.written())
		require.Equal(t, input.Written, first.receipt(t).Fate)
		require.Equal(t, input.Written, second.receipt(t).Fate)

		r.back = false
		third := w.offer(w.acts("a\r", "b\r"))
		w.press("\x1c")
		require.Equal(t, input.Dropped, third.receipt(t).Fate, "and taken back at once")
	})
}

// TestR79TheUsersKeyCounts: what the user does may start another program as well.
func TestR79TheUsersKeyCounts(t *testing.T) {
	inFront(t, func(t *testing.T, w *world, r *returning) {
		r.back = false
		w.press("sh\r")
		w.sleep(5 * time.Second)
		require.Zero(t, r.looks, "nobody waits for it")
		w.offer(w.job("x"))
		w.sleep(5 * time.Second)
		require.Equal(t, "sh\r", w.written())
		r.back = true
		w.sleep(time.Second)
		require.Equal(t, "sh\rx", w.written())
	})
}

// TestR79NotForEver: a program that does not ask for more gets no more; the receipt says how far it came.
func TestR79NotForEver(t *testing.T) {
	inFront(t, func(t *testing.T, w *world, r *returning) {
		r.back = false
		j := w.offer(w.acts("one\r", "two\r"))
		w.sleep(9 * time.Second)
		require.Empty(t, j.receipts)
		w.sleep(2 * time.Second)
		require.Equal(t, input.Receipt{Fate: input.Busy, Written: 4, Dropped: 4}, j.receipt(t))
		next := w.offer(w.job("x"))
		w.sleep(9 * time.Second)
		require.Empty(t, next.receipts, "the next one has its own time")
		w.sleep(2 * time.Second)
		require.Equal(t, input.Receipt{Fate: input.Busy, Dropped: 1}, next.receipt(t))

		hasty := w.job("y")
		hasty.Wait = time.Second
		w.offer(hasty)
		w.sleep(time.Second)
		require.Equal(t, input.Receipt{Fate: input.Busy, Dropped: 1}, hasty.receipt(t))
	})
}

// TestR79AnotherProgramTakesItsTime: while another program is in front the rest waits as long as it may.
func TestR79AnotherProgramTakesItsTime(t *testing.T) {
	inFront(t, func(t *testing.T, w *world, r *returning) {
		r.back = false
		j := w.offer(w.acts("make\r", "./a\r"))
		w.ctl.elsewhere = true
		w.sleep(time.Hour)
		require.Equal(t, "make\r", w.written())
		w.ctl.elsewhere = false
		w.sleep(9 * time.Second)
		require.Equal(t, "make\r", w.written(), "in front, and not back yet")
		r.back = true
		w.sleep(time.Second)
		require.Equal(t, input.Receipt{Fate: input.Written, Written: 9}, j.receipt(t))
	})
}
