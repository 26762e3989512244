package snapshot

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// A program that repaints rows all the time is quiet but for those.
func TestRepaintedRowsAreQuiet(t *testing.T) {
	for _, c := range []struct {
		name  string
		paint func(v *fakeView, tick int)
		want  string
		ticks int // of 100 ms until the wait ends
	}{
		{"a clock", func(v *fakeView, tick int) { v.set(0, fmt.Sprint("clock ", tick)) }, "w:0:quiet:[0]", 10},
		{"a menu that is painted again with it", func(v *fakeView, tick int) {
			v.set(0, fmt.Sprint("clock ", tick))
			v.set(1, "menu")
		}, "w:0:quiet:[0]", 10},
		{"an answer beside a clock", func(v *fakeView, tick int) {
			v.set(2, fmt.Sprint("clock ", tick))
			if tick == 7 {
				v.set(0, "done")
			}
		}, "w:0:quiet:[2]", 10},
		{"a clock that ticks beside one that does not rest", func(v *fakeView, tick int) {
			v.set(0, fmt.Sprint("clock ", tick))
			if tick%10 == 9 {
				v.set(1, fmt.Sprint(tick/10, " s"))
			}
		}, "w:0:quiet:[0]", 12},
		{"an answer that comes late", func(v *fakeView, tick int) {
			v.set(0, fmt.Sprint("clock ", tick))
			if tick == 12 {
				v.set(3, "done")
			}
		}, "w:0:quiet:[0]", 10},
		{"a colour that pulsates", func(v *fakeView, _ int) { v.set(0, "working") }, "w:0:quiet", 10},
		{"rows that come one by one", func(v *fakeView, tick int) { v.set(tick%len(v.rows), fmt.Sprint("line ", tick)) }, "w:1:", 30},
		{"text that scrolls", func(v *fakeView, tick int) {
			v.scroll(fmt.Sprint("line ", tick))
			v.scrolled++
		}, "w:1:", 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, slices.Repeat([]string{""}, 40)...)
			b.view.set(0, "working")
			b.view.set(1, "menu")
			b.throttle.NoteChange(at(0))
			b.add(protocol.Until{QuietMs: 300, Repaints: true}, 0, func(w *Wait) { w.Deadline = at(3000) })
			tick := 0
			for len(b.results) == 0 {
				tick++
				c.paint(b.view, tick)
				b.changed(100 * tick)
			}
			require.Equal(t, []any{c.want, c.ticks}, []any{b.results[0], tick})
		})
	}
}

// A wait that must not look at the screen names no rows of it.
func TestHiddenRowsAreNotNamed(t *testing.T) {
	b := newBench(t, "", "")
	b.throttle.NoteChange(at(0))
	b.waits.SetBlind(true)
	b.add(protocol.Until{QuietMs: 300, Repaints: true}, 0, func(w *Wait) { w.Deadline = at(3000) })
	for tick := 1; tick <= 30; tick++ {
		b.view.set(0, fmt.Sprint(tick))
		b.changed(100 * tick)
	}
	b.ended("w:1:")
}
