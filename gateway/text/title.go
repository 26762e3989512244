package text

import (
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// Title describes the window's title and the progress of a long job, as the program set them; "" if
// the reader knows both.
func (t *Known) Title(f *protocol.Frame) string {
	if f.Blackout.ByUser() {
		return ""
	}
	title, job := shorten(f.Screen.Title, maxCommand), progressWords(f.Screen.Progress)
	var facts []string
	if t.title.update(title) && title != "" {
		facts = append(facts, "title: "+title)
	}
	switch worked := t.progress != ""; {
	case !t.progress.update(job):
	case job != "":
		facts = append(facts, "progress: "+job)
	case worked:
		facts = append(facts, "no progress is shown now")
	}
	return strings.Join(facts, "; ")
}

// progressWords describes a progress: "42%", "42%, error", "under way"; "" for nil.
func progressWords(p *protocol.Progress) string {
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

// Titles lists the titles and progresses of sessions, one per line; "" if no program has set one.
// The text is the programs' own.
func Titles(sessions []protocol.SessionInfo) string {
	var lines []string
	for _, s := range sessions {
		if title := TitleWithProgress(s.Title, s.Progress); title != "" &&
			s.State == protocol.StateRunning {
			lines = append(lines, s.SessionID+": "+title)
		}
	}
	return strings.Join(lines, "\n")
}

// TitleWithProgress is a title with a progress in brackets, "" for neither.
func TitleWithProgress(title string, p *protocol.Progress) string {
	title = shorten(title, maxCommand)
	if job := progressWords(p); job != "" {
		return strings.TrimSpace(fmt.Sprintf("%s [%s]", title, job))
	}
	return title
}
