package input_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/input"
)

// TestR80WhatTheProgramDidNotRead: what is taken back with the key is counted as dropped, in the receipt of the input that
// it belongs to, also of one that was written; the user's own bytes in between count for nobody.
func TestR80WhatTheProgramDidNotRead(t *testing.T) {
	for _, c := range []struct {
		name          string
		unread        int
		first, second int // of the two inputs, what was taken back
		dropped       int // told at the end
	}{
		{"nothing", 0, 0, 0, 40},
		{"a part of the newest", 10, 0, 10, 50},
		{"the newest, and the user's", 63, 0, 60, 100},
		{"both", 100, 37, 60, 137},
		{"more than was written", 1000, 50, 60, 150},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, true, func(t *testing.T, w *world) {
				first := w.offer(w.job(strings.Repeat("a", 50)))
				w.press("uuu")
				w.room = 60
				second := w.offer(w.job(strings.Repeat("b", 50), strings.Repeat("c", 50)))
				w.sleep(1e9) // the user has stopped typing
				w.unread = c.unread
				w.press("\x1c")
				require.Equal(t, input.Written, first.receipt(t).Fate)
				require.Equal(t, 50, first.receipt(t).Written)
				if c.first > 0 {
					require.Equal(t, []int{c.first}, first.back, "it heard of it after its receipt")
				} else {
					require.Empty(t, first.back)
				}
				got := second.receipt(t)
				require.Equal(t, 60-c.second, got.Written)
				require.Equal(t, 40+c.second, got.Dropped)
				require.Empty(t, second.back, "its receipt said so")
				require.Equal(t, c.dropped, w.ctl.dropped)
				require.Equal(t, max(0, 110-c.first-c.second), w.ctl.unsubmitted)
			})
		})
	}
}

// TestR80LineInTheMaking: in canonical mode a line without its end is taken back without being counted by the kernel.
func TestR80LineInTheMaking(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.canonical = true
		j := w.offer(w.job("one\ntwo\nthr"))
		w.unread = 4 // the second line
		w.press("\x1c")
		require.Equal(t, []int{7}, j.back)
		require.Zero(t, w.ctl.unsubmitted)

		w.grantAgain()
		j = w.offer(w.job("four"))
		w.canonical = false // and the program read what was there
		w.unread = 0
		w.press("\x1c")
		require.Empty(t, j.back)
		require.Equal(t, 4, w.ctl.unsubmitted)
	})
}

// TestR80WhatStandsAfterwards: what was taken back may be the end of a line, so that its beginning stands there again.
func TestR80WhatStandsAfterwards(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.offer(w.job("ls -l", "\r"))
		w.unread = 2
		w.press("\x1c")
		require.Equal(t, 4, w.ctl.unsubmitted)
		require.Equal(t, 2, w.ctl.dropped)

		w.grantAgain()
		w.offer(w.job("ls -l"))
		w.press("\r")
		w.unread = 0
		w.press("\x1c")
		require.Equal(t, 4, w.ctl.unsubmitted, "the user's Enter sent that off")
	})
}

// TestR80ManyInputs: what is remembered is bounded.
func TestR80ManyInputs(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		var jobs []*job
		for range 300 {
			jobs = append(jobs, w.offer(w.job(strings.Repeat("x\r", 4<<10))))
		}
		w.unread = 70_000
		w.press("\x1c")
		back := 0
		for _, j := range jobs {
			back += j.flushed()
		}
		require.LessOrEqual(t, back, 70_000)
		require.Equal(t, back, w.ctl.dropped)
		require.Positive(t, back)
	})
}
