package requests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/terminal/child"
)

// orderedFacts notes in which order the facts of a judgement are read.
type orderedFacts struct{ order []string }

type orderedObserver struct {
	stagedObserver
	f *orderedFacts
}

func (o orderedObserver) HasCaughtUp() bool {
	o.f.order = append(o.f.order, "input")
	return o.stagedObserver.HasCaughtUp()
}

func (o orderedObserver) HasStayedCaughtUp(canonical bool) bool {
	o.f.order = append(o.f.order, "input again")
	return o.stagedObserver.HasStayedCaughtUp(canonical)
}

func (o orderedObserver) LastChange() time.Time { return time.Time{} }

type orderedProgram struct {
	stagedProgram
	f *orderedFacts
}

func (p orderedProgram) SettingsInSpell() (child.Settings, uint64, error) {
	p.f.order = append(p.f.order, "settings")
	return p.stagedProgram.SettingsInSpell()
}

func (p orderedProgram) BlockedOn() (child.Blocked, bool) {
	p.f.order = append(p.f.order, "foreground")
	return p.stagedProgram.BlockedOn()
}

// One judgement looks at the foreground once: after the input was found empty, and before the
// output that came with it is.
func TestAJudgementLooksOnce(t *testing.T) {
	for _, cooked := range []bool{true, false} {
		f := &orderedFacts{}
		s := newStage(func(c *Config) {
			c.Observer = orderedObserver{c.Observer.(stagedObserver), f}
			c.Program = orderedProgram{c.Program.(stagedProgram), f}
			c.Tracker = &line.Tracker{Cooked: func() bool { return cooked }, Group: func() int { return 7 }}
		})
		s.cooked, s.blocked = cooked, child.Blocked{Group: 7, Reads: true}
		doing, facts := s.line.programActivity(time.Now())
		require.True(t, doing.HasProcessedKeys())
		require.Equal(t, 7, doing.Group)
		require.Equal(t, cooked, facts.Settings.Canonical)
		require.Equal(t, cooked, facts.Reads)
		require.Equal(t, []string{"input", "settings", "foreground", "input again"}, f.order)

		f.order = nil
		j, _ := s.line.assessLine(time.Now(), time.Now(), false)
		require.True(t, j.read)
		require.Equal(t, []string{"input", "settings", "foreground", "input"}, f.order,
			"an input of an agent is judged by facts of now")

		s.behind = true
		doing, _ = s.line.programActivity(time.Now())
		require.False(t, doing.HasProcessedKeys())
	}
}
