package overlay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asking is a desk whose terminal reports its cursor's row when answer is called.
func locating(t *testing.T) (d *desk, firsts *[]bool, answer func(row int)) {
	d, firsts = newDesk(t, 40, 10), new([]bool)
	var takes []func(row int)
	d.p = NewPainter(PainterConfig{Loop: d.loop, Status: d.s, Shown: func(uint64) {}, Ask: func(first bool, take func(row int)) {
		*firsts, takes = append(*firsts, first), append(takes, take)
	}})
	return d, firsts, func(row int) { take := takes[0]; takes = takes[1:]; take(row) }
}

// The terminal is asked before the first output. Until it has answered, the model gets no output,
// and nothing is drawn.
func TestTheModelIsWhereTheTerminalIs(t *testing.T) {
	d, firsts, answer := locating(t)
	show, ok := d.p.Paint(false)
	require.True(t, ok)
	require.NotContains(t, string(show), askCursor, "there is nothing to draw")
	require.Equal(t, askClusters+askCursor, string(d.p.QueryCursor()))
	require.Equal(t, d.now.Add(firstPatience), d.held)
	require.Empty(t, d.p.QueryCursor(), "it was asked")

	d.drives()
	d.p.Paint(false)
	require.False(t, d.p.IsUp())
	answer(6)
	require.Zero(t, d.held)
	require.Equal(t, 6, d.m.Cursor().Row)
	d.p.Paint(false)
	require.True(t, d.p.IsUp())

	d.p.NoteResize()
	show, _ = d.p.Paint(true)
	require.Equal(t, d.now.Add(holdPatience), d.held)
	require.Contains(t, string(show), askCursor)
	require.NotContains(t, string(show), askClusters)
	require.Equal(t, []bool{true, false}, *firsts)
}

// A drawing before any output asks, too; a terminal that does not answer is drawn on after a while.
func TestTheFirstDrawingAsksForTheCursor(t *testing.T) {
	d, firsts, _ := locating(t)
	d.drives()
	show, _ := d.p.Paint(false)
	require.Contains(t, string(show), askClusters+askCursor)
	require.Equal(t, []bool{true}, *firsts)
	require.False(t, d.p.IsUp())
	d.now = d.now.Add(answerPatience - time.Nanosecond)
	d.p.Paint(false)
	require.False(t, d.p.IsUp())
	d.now = d.now.Add(time.Nanosecond)
	d.p.Paint(false)
	require.True(t, d.p.IsUp())
	require.Empty(t, d.p.QueryCursor())
}
