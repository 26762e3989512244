package observer

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/view/corpus"
)

// inputProgram is a program whose input a test sets. It counts the questions for it.
type inputProgram struct {
	Program
	begun, ended, unread, output uint64
	asked                        int
}

func (p *inputProgram) CountWrites() (begun, ended uint64) { return p.begun, p.ended }
func (p *inputProgram) CountQueued() (int, bool)           { p.asked++; return int(p.unread), p.output > 0 }
func (p *inputProgram) HasOutput() bool                    { return p.output > 0 }

// The program's input is asked for again where it may have grown since it was found empty: after a
// write, in raw mode, and after a check that found some or had a write on its way.
func TestHasStayedCaughtUp(t *testing.T) {
	for _, c := range corpus.Rows[struct {
		Name, Before, Since, Mode string
		Asks, Want                bool
	}](t, "caughtup") {
		p := &inputProgram{begun: 1, ended: 1}
		i := inlet{program: p}
		p.change(c.Before)
		require.Equal(t, p.unread == 0, i.HasCaughtUp(), c.Name)
		p.change(c.Since)
		p.asked = 0
		require.Equal(t, c.Want, i.HasStayedCaughtUp(c.Mode == "canonical"), c.Name)
		require.Equal(t, c.Asks, p.asked > 0, c.Name)
	}
}

// change sets facts of the words name=number.
func (p *inputProgram) change(words string) {
	step := corpus.Step{Words: strings.Fields(words)}
	for name, fact := range map[string]*uint64{"begun": &p.begun, "ended": &p.ended, "unread": &p.unread, "output": &p.output} {
		if n, err := strconv.ParseUint(step.Option(name), 10, 64); err == nil {
			*fact = n
		}
	}
}

func TestHasCaughtUp(t *testing.T) {
	p := &inputProgram{begun: 1, ended: 1}
	i := inlet{program: p}
	require.True(t, i.HasCaughtUp())
	p.output = 1
	require.False(t, i.HasCaughtUp(), "output is on its way")
	p.unread, p.output = 1, 0
	require.False(t, i.HasCaughtUp(), "input is unread")
	p.unread = 0
	i.spool.add([]byte("out"))
	require.False(t, i.HasCaughtUp(), "the model lacks output")
}
