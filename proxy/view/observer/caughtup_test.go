package observer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// inputProgram is a program whose input a test sets. It counts the questions for it.
type inputProgram struct {
	Program
	begun, ended uint64
	unread       int
	output       bool
	asked        int
}

func (p *inputProgram) CountWrites() (begun, ended uint64) { return p.begun, p.ended }
func (p *inputProgram) CountQueued() (int, bool)           { p.asked++; return p.unread, p.output }
func (p *inputProgram) HasOutput() bool                    { return p.output }

// The program's input is asked for again where it may have grown since it was found empty: after a
// write, in raw mode, and after a check that found some or had a write on its way.
func TestHasStayedCaughtUp(t *testing.T) {
	type world = inputProgram
	for name, c := range map[string]struct {
		before, change func(p *world)
		canonical      bool
		asks           bool
		want           bool
	}{
		"nothing happens":           {canonical: true, want: true},
		"in raw mode":               {asks: true, want: true},
		"raw, a line began before":  {change: func(p *world) { p.unread = 3 }, asks: true},
		"a write ended":             {canonical: true, change: func(p *world) { p.begun, p.ended = 2, 2 }, asks: true, want: true},
		"a write ended, unread":     {canonical: true, change: func(p *world) { p.begun, p.ended, p.unread = 2, 2, 1 }, asks: true},
		"a write began":             {canonical: true, change: func(p *world) { p.begun, p.unread = 2, 1 }, asks: true},
		"it began before the check": {canonical: true, before: func(p *world) { p.begun = 2 }, asks: true, want: true},
		"it ended since then":       {canonical: true, before: func(p *world) { p.begun = 2 }, change: func(p *world) { p.ended, p.unread = 2, 1 }, asks: true},
		"unread at the check":       {canonical: true, before: func(p *world) { p.unread = 1 }, asks: true},
		"output since":              {canonical: true, change: func(p *world) { p.output = true }},
	} {
		t.Run(name, func(t *testing.T) {
			p := &inputProgram{begun: 1, ended: 1}
			i := inlet{program: p}
			if c.before != nil {
				c.before(p)
			}
			require.Equal(t, p.unread == 0, i.HasCaughtUp())
			if c.change != nil {
				c.change(p)
			}
			p.asked = 0
			require.Equal(t, c.want, i.HasStayedCaughtUp(c.canonical))
			require.Equal(t, c.asks, p.asked > 0)
		})
	}
}

func TestHasCaughtUp(t *testing.T) {
	p := &inputProgram{begun: 1, ended: 1}
	i := inlet{program: p}
	require.True(t, i.HasCaughtUp())
	p.output = true
	require.False(t, i.HasCaughtUp(), "output is on its way")
	p.unread, p.output = 1, false
	require.False(t, i.HasCaughtUp(), "input is unread")
	p.unread = 0
	i.spool.add([]byte("out"))
	require.False(t, i.HasCaughtUp(), "the model lacks output")
}
