package observer

import (
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
)

// roomForLinks bounds the hyperlinks of a message, in bytes: they count beyond its rows.
const roomForLinks = 24 << 10

// linkList collects the hyperlinks of rows for people.
type linkList struct {
	shown *shownScreen
	room  int
	all   []protocol.Link
}

func (v *shownScreen) newLinkList() linkList { return linkList{shown: v, room: roomForLinks} }

// addRow adds the hyperlinks of a row that a page may open. One with a secret in its target is left
// out: the target is not on the screen.
func (l *linkList) addRow(row int, spans []screen.LinkSpan) {
	for _, s := range spans {
		if !protocol.OpensOnPage(s.Target) || l.shown.holdsSecret(s.Target) {
			continue
		}
		if l.room -= len(s.Target) + strings.Count(s.Target, `"`) + 64; l.room < 0 {
			return
		}
		l.all = append(l.all, protocol.Link{Row: row, From: s.From, To: s.To, Target: s.Target})
	}
}

// holdsSecret reports whether agents would see a part of a text covered.
func (v *shownScreen) holdsSecret(text string) bool {
	if v.redacted.open {
		return false
	}
	_, covered := v.redacted.own.Text(text, -1)
	return covered > 0
}

// screenLinks returns the hyperlinks of the screen that is shown.
func (v *shownScreen) screenLinks(rows int) []protocol.Link {
	l := v.newLinkList()
	for row := range rows {
		l.addRow(row, v.model.RowLinks(row))
	}
	return l.all
}

// pastLinks returns the hyperlinks in rows of history from start to before stop, counted from 0.
func (v *shownScreen) pastLinks(start, stop int) []protocol.Link {
	l := v.newLinkList()
	for i := start; i < stop; i++ {
		l.addRow(i-start, v.model.HistoryLinks(i))
	}
	return l.all
}
