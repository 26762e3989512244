package input_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/input"
)

// away is a control that finds another program in front when it is asked before the piece of a number.
type away struct {
	*machine
	asked, at int
}

func (a *away) Admit(now time.Time, agent string, epoch uint64) error {
	if a.asked++; a.asked == a.at {
		a.elsewhere = true
	}
	return a.machine.Admit(now, agent, epoch)
}

// TestInputWaitsForItsProgram: not a piece is written while another program is in front, also when that is seen in the
// middle of an input; it goes on by itself when the program is back.
func TestInputWaitsForItsProgram(t *testing.T) {
	for at, want := range map[int]int{1: 0, 2: 0, 3: 0, 4: 64, 5: 128} { // asked for the queue, for the preparation, then for each piece
		inBubbleWith(t, func(w *world, c *input.Config) { c.Control = &away{machine: w.ctl, at: at} }, func(t *testing.T, w *world) {
			j := w.offer(w.job(many(10)...))
			w.sleep(time.Hour)
			require.Len(t, w.written(), want, "seen at the question %d", at)
			require.Empty(t, j.receipts)
			w.ctl.elsewhere = false
			w.sleep(100 * time.Millisecond)
			require.Equal(t, input.Receipt{Fate: input.Written, Written: 640}, j.receipt(t))
		})
	}
}

func TestInputDoesNotWaitForEver(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.ctl.elsewhere = true
		j := w.job("x")
		j.Wait = 3 * time.Second
		w.offer(j)
		w.sleep(3*time.Second - 1)
		require.Empty(t, j.receipts)
		w.sleep(1)
		require.Equal(t, input.Receipt{Fate: input.Elsewhere, Dropped: 1}, j.receipt(t))
		w.press("u\x1c")
		require.Equal(t, "u", w.written(), "the user is free to do what they like")
	})
}
