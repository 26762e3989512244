package httpapi

import (
	"fmt"
	"math"
	"net/http"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// dialect holds the phrases that tell a caller how to ask for more.
var dialect = text.Dialect{
	Limit: "max_tokens",
	Lines: func(first uint64, n int) string {
		return fmt.Sprintf("history?from=%d&lines=%d", first, n)
	},
	Output: func(nth int, first uint64, n int) string {
		return fmt.Sprintf("command?nth=%d&from=%d&lines=%d", nth, first, n)
	},
	Older: "more lines, or from",
}

// readBudget reads how many tokens an answer in text may take, including header fields with notes;
// without the parameter, there is no limit.
func (q *params) readBudget(format string) int {
	if !q.Has("max_tokens") {
		return math.MaxInt
	}
	if format != "text" {
		q.addError(badField("max_tokens", "is for format=text: leave one of the two out"))
	}
	n := q.readNumber("max_tokens", 0, 0, math.MaxInt32)
	given := int(n) //nolint:gosec // bounded, or not used
	if _, err := text.CheckTokens(&given, dialect.Limit); err != nil {
		q.addError(&protocol.Error{
			Code:    protocol.CodeBadMessage,
			Field:   "max_tokens",
			Message: err.Error(),
		})
	}
	return given
}

// readFollow reads how many rows the caller asks for of those that left the screen unseen.
func (q *params) readFollow(format string) int {
	if q.Has("follow") && (format != "json" || !q.Has("since")) {
		q.addError(badField("follow", "is for format=json with since: give both, or leave it out"))
	}
	n := q.readNumber("follow", 0, 0, protocol.MaxHistory)
	return int(n) //nolint:gosec // bounded, or not used
}

// writePage writes the rows of a page as text, and its note into a header field, which a program
// cannot write.
func writePage(w http.ResponseWriter, f *protocol.Frame, p text.Page, tokens int) {
	p.Head = text.Notes(f) + text.Highlights(f)
	note, rows := p.Parts(tokens, dialect.Limit)
	if n := len(note); n > 0 && note[n-1] == ':' {
		note = note[:n-1]
	}
	addNote(w, note)
	writeText(w, rows)
}
