package observer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/corpus"
)

// Every case of the kernel's report combined with the shell's marks.
func TestJudge(t *testing.T) {
	const group = 7
	for _, c := range corpus.Rows[struct{ Name, Report, Mark, Want string }](t, "judge") {
		s := &stage{newRow: strings.HasSuffix(c.Name, "at a new row")}
		w := &inputWait{seen: moment{writes: 3}, line: stagedSession{s}.Line, program: stagedProgram{s}}
		if c.Mark == "lines" {
			s.line = cooked
		} else if c.Mark != "" {
			w.marks = screen.Marks{State: screen.AtInput, Exit: 2, HasExit: true}
			w.prompt.group, w.prompt.writes = group, w.seen.writes
		}
		switch c.Mark {
		case "typed":
			w.prompt.writes--
		case "another":
			w.prompt.group++
		case "running":
			w.marks.State = screen.RunningCommand
			w.prompt.writes--
		}
		v := w.weighEvidence(time.Now(), blockedAs(t, corpus.Step{Words: strings.Fields(c.Report)}), c.Report != "deaf")
		got := strings.Join(v.evidence, " ")
		if v.polls {
			got += " (poll)"
		}
		if v.guess != "" {
			got += "guess " + v.guess
		}
		if v.exit != nil {
			got += fmt.Sprint(" exit ", *v.exit)
		}
		require.Equal(t, c.Want, got, c.Name)
	}
}

// The next look comes soon after an event, otherwise at the usual interval, and never in the past.
func TestNextLook(t *testing.T) {
	s := new(stage)
	s.writes.Store(1)
	now := time.Unix(1000, 0)
	w := &inputWait{at: now, seen: moment{rev: 5, writes: 1}, program: stagedProgram{s}}
	require.Equal(t, now.Add(waitingEvery), w.nextCheck(now, 5))
	require.Equal(t, now.Add(lookGap), w.nextCheck(now, 6), "output came")
	s.writes.Add(1)
	require.Equal(t, now.Add(lookGap), w.nextCheck(now, 5), "something was typed")
	late := now.Add(time.Hour)
	require.Equal(t, late.Add(waitingEvery), w.nextCheck(late, 6), "nobody looked, as the screen is hidden")
}
