package screen

import (
	"strconv"
	"strings"
)

// ProgressState says how a long job goes.
type ProgressState uint8

// The states of OSC 9;4 (ConEmu, Windows Terminal, ghostty), by their numbers.
const (
	NoProgress      ProgressState = iota
	ProgressRuns                  // so far as Percent says
	ProgressFailed                // an error, at Percent
	ProgressUnknown               // under way, at an unknown percentage
	ProgressPaused                // at Percent
)

// Progress is what the program last said of a long job.
type Progress struct {
	State   ProgressState
	Percent int // 0 to 100
}

// Progress returns what the program last said of a long job (OSC 9;4).
func (s *Screen) Progress() Progress { return s.t.progress }

// osc9 is OSC 9: with a 4 a progress, with other numbers what ConEmu is to do, else a notification.
// An error or a pause without a number is at the percentage of before.
func (t *terminal) osc9(text string) {
	rest, yes := strings.CutPrefix(text, "4;")
	if !yes {
		return
	}
	number, percent, _ := strings.Cut(rest, ";")
	state, err := strconv.ParseUint(number, 10, 8)
	if err != nil || state > uint64(ProgressPaused) {
		return
	}
	p := Progress{State: ProgressState(state)}
	switch p.State {
	case NoProgress, ProgressUnknown:
	case ProgressRuns, ProgressFailed, ProgressPaused:
		if n, err := strconv.Atoi(percent); err == nil {
			p.Percent = clamp(n, 0, 100)
		} else if p.State != ProgressRuns {
			p.Percent = t.progress.Percent
		}
	}
	t.progress = p
}
