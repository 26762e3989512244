package text

import (
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// Title is what is said of the title that the program gave its window, and of how far it is with a long job; "" where that was told.
func (t *Told) Title(f *protocol.Frame) string {
	if f.Blackout.ByUser() {
		return ""
	}
	title, job, facts := short(f.Screen.Title, maxCommand), progress(f.Screen.Progress), []string(nil)
	if t.title.is(title) && title != "" {
		facts = append(facts, "title: "+title)
	}
	switch worked := t.progress != ""; {
	case !t.progress.is(job):
	case job != "":
		facts = append(facts, "progress: "+job)
	case worked:
		facts = append(facts, "no progress is shown any more")
	}
	return strings.Join(facts, "; ")
}

// progress is a progress in words: "42%", "42%, error", "under way"; "" for none.
func progress(p *protocol.Progress) string {
	if p == nil {
		return ""
	}
	percent := strconv.Itoa(p.Percent) + "%"
	switch p.State {
	case protocol.ProgressRuns:
		return percent
	case protocol.ProgressUnknown:
		return "under way"
	}
	return percent + ", " + Name(p.State)
}

// Titles are the titles and progresses of sessions, a line each; "" where no program has set one. They are the programs' words.
func Titles(sessions []protocol.SessionInfo) string {
	var lines []string
	for _, s := range sessions {
		if said := Titled(s.Title, s.Progress); said != "" && s.State == protocol.StateRunning {
			lines = append(lines, s.SessionID+": "+said)
		}
	}
	return strings.Join(lines, "\n")
}

// Titled is a title with a progress in brackets, "" for neither.
func Titled(title string, p *protocol.Progress) string {
	title = short(title, maxCommand)
	if job := progress(p); job != "" {
		return strings.TrimSpace(fmt.Sprintf("%s [%s]", title, job))
	}
	return title
}
