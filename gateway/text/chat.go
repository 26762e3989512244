package text

import (
	"fmt"
	"strings"

	"terminalproxy/protocol"
)

const (
	// maxItemLines bounds an item of a conversation, in lines, and maxLineLength a line of it, in
	// characters.
	maxItemLines, maxLineLength = 12, 300
	// maxResultLines bounds a tool's answer, in lines.
	maxResultLines = 3
)

// Chat is the page of a conversation with a coding agent: its state and open requests, and as rows
// the records, the newest last. lost is the number of earlier records that are not known.
func Chat(info protocol.SessionInfo, records []protocol.ChatRecord, lost uint64) Page {
	p := Page{Head: info.SessionID}
	if c := info.Chat; c != nil {
		p.Head += fmt.Sprintf(" %s %s", OneLine(c.Agent), OneLine(c.State))
	}
	var open []string
	whole := map[string]bool{}
	for i := range records {
		if item := records[i].Item; item != nil && item.ID != "" {
			whole[item.ID] = true
		}
	}
	for i := range records {
		r := &records[i]
		switch {
		case r.Request != nil:
			open = append(open, r.Request.ID)
		case r.Closed != nil:
			for at, id := range open {
				if id == r.Closed.ID {
					open = append(open[:at:at], open[at+1:]...)
					break
				}
			}
		case r.Piece != nil && whole[r.Piece.ID]:
			continue
		}
		p.Rows = append(p.Rows, recordRows(r)...)
	}
	for i := range open {
		open[i] = OneLine(open[i])
	}
	if len(open) > 0 {
		p.Head += "; waits for a person to answer: " + strings.Join(open, ", ")
	}
	if lost > 0 {
		p.Head += fmt.Sprintf("; %d earlier records are not kept", lost)
	}
	return p
}

// recordRows renders a record; some records have no rows.
func recordRows(r *protocol.ChatRecord) []string {
	switch {
	case r.Item != nil:
		return itemRows(r.Item)
	case r.Piece != nil:
		return linesOf("", r.Piece.Text, maxItemLines)
	case r.Request != nil && len(r.Request.Form) > 0:
		var rows []string
		for _, q := range r.Request.Form {
			label := askerOf(r.Request) + " " + r.Request.ID + ": "
			rows = append(rows, linesOf(label, q.Text, maxResultLines)...)
		}
		return rows
	case r.Request != nil:
		label := askerOf(r.Request) + " " + r.Request.ID + " for permission: " + r.Request.Tool + " "
		return linesOf(label, string(r.Request.Input), maxItemLines)
	case r.Closed != nil:
		label := "closed " + r.Closed.ID
		if r.Closed.By != "" {
			label += " by " + r.Closed.By
		}
		return linesOf(label+" ", r.Closed.Why, 1)
	case r.Turn != nil && r.Turn.Outcome != "done":
		return linesOf("the turn: "+r.Turn.Outcome+" ", r.Turn.Why, 1)
	}
	return nil
}

func itemRows(i *protocol.ChatItem) []string {
	switch i.Kind {
	case protocol.ChatToolCall:
		return linesOf("tool "+i.Tool+" ", string(i.Input), maxResultLines)
	case protocol.ChatToolResult:
		return linesOf("result ", i.Text, maxResultLines)
	case protocol.ChatNotice:
		return linesOf("notice ", i.Text, maxResultLines)
	}
	return linesOf(i.Author+": ", i.Text, maxItemLines)
}

// linesOf returns the first lines of a text behind its label, each cut.
func linesOf(label, body string, most int) []string {
	lines := strings.Split(strings.TrimSpace(Clean(label+body)), "\n")
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("… %d lines more", more))
	}
	for i, line := range lines {
		if runes := []rune(line); len(runes) > maxLineLength {
			lines[i] = string(runes[:maxLineLength]) + "…"
		}
	}
	return lines
}

// askerOf names the asker, unless it is the coding agent.
func askerOf(r *protocol.ChatRequest) string {
	if r.By == "" {
		return "asks"
	}
	return r.By + " asks"
}
