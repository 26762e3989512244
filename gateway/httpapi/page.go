package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"net/url"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// dialect is how a caller asks for more.
var dialect = text.Dialect{
	Limit: "max_tokens",
	Lines: func(first uint64, n int) string { return fmt.Sprintf("history?from=%d&lines=%d", first, n) },
	Older: "more lines, or from",
}

// budget reads how many tokens an answer in text may take, header fields with notes included; without it, any number.
func budget(q url.Values, format string) (int, error) {
	if !q.Has("max_tokens") {
		return math.MaxInt, nil
	}
	if format != "text" {
		return 0, badField("max_tokens", "is for format=text: leave one of both out")
	}
	n, err := number(q, "max_tokens", 0, 0, math.MaxInt32)
	if err != nil {
		return 0, err
	}
	given := int(n) //nolint:gosec // bounded above
	if _, err := text.CheckTokens(&given, dialect.Limit); err != nil {
		return 0, &protocol.Error{Code: protocol.CodeBadMessage, Field: "max_tokens", Message: err.Error()}
	}
	return given, nil
}

// following reads how many rows of what left the screen unseen are wanted.
func following(q url.Values, format string) (int, error) {
	if q.Has("follow") && (format != "json" || !q.Has("since")) {
		return 0, badField("follow", "is for format=json with since: give both, or leave it out")
	}
	n, err := number(q, "follow", 0, 0, protocol.MaxHistory)
	return int(n), err //nolint:gosec // bounded above
}

// page writes the rows of a page as text, and its words into a header field, which a program cannot write.
func page(w http.ResponseWriter, f *protocol.Frame, p text.Page, tokens int) error {
	p.Head = text.Notes(f) + text.Highlights(f)
	words, rows := p.Parts(tokens, dialect.Limit)
	if n := len(words); n > 0 && words[n-1] == ':' {
		words = words[:n-1]
	}
	note(w, words)
	return writeText(w, rows)
}
