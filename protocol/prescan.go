package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// frameHead describes the outermost level of a frame. It is meaningless for a frame that is not
// JSON.
type frameHead struct {
	kind, requestID string // "" if they are not strings; a malformed request id is also ""
	// duplicate is a name that occurs more than once, or "". Two readers could disagree about such
	// a frame, so it is refused. Names that differ only in case count as the same, as in
	// encoding/json.
	duplicate string
	depth     int // the deepest nesting of objects and arrays
}

// prescan scans a frame in one pass, before anything is built from it.
func prescan(frame []byte) (o frameHead) {
	seen := make(map[string]bool, 16)
	depth, name, isName := 0, "", false
	for i := 0; i < len(frame); i++ {
		switch frame[i] {
		case '"':
			end := stringEnd(frame, i)
			switch {
			case depth != 1: // nested fields are irrelevant
			case isName:
				plain := unquote(frame[i:end])
				if name = foldName(plain); seen[name] && o.duplicate == "" {
					o.duplicate = Clip(plain, MaxName)
				}
				seen[name] = true
			case name == "TYPE":
				o.kind = unquote(frame[i:end])
			case name == "REQUESTID":
				o.requestID = unquote(frame[i:end])
			}
			i, isName = end-1, false
		case '{':
			depth++
			o.depth = max(o.depth, depth)
			isName = depth == 1
		case '[':
			depth++
			o.depth = max(o.depth, depth)
		case '}', ']':
			depth--
		case ',':
			isName = depth == 1
		}
	}
	if !ValidID(o.requestID) {
		o.requestID = "" // the peer gets it back, so it must be well-formed
	}
	return o
}

// stringEnd returns the offset after the string that begins at i.
func stringEnd(frame []byte, i int) int {
	for i++; i < len(frame); i++ {
		switch frame[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(frame)
}

// unquote returns the text of a JSON string, "" for anything else.
func unquote(raw []byte) (text string) {
	if len(raw) >= 2 && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// foldName normalizes a name: names that encoding/json takes for the same field become equal.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

// describeFault describes the fault of a frame that has no known type, or has a field twice.
func (o *frameHead) describeFault(frame []byte) *FieldError {
	var head struct {
		Type      *string `json:"type"`
		RequestID string  `json:"requestId"`
	}
	if err := json.Unmarshal(frame, &head); err != nil {
		return fieldError(err, "")
	}
	out := &FieldError{Code: CodeBadMessage, RequestID: o.requestID}
	switch {
	case o.duplicate != "":
		out.Field, out.Say = o.duplicate, "appears twice"
	case head.Type == nil:
		out.Field, out.Say = "type", "is missing"
	default:
		out.Field, out.Say = "type", fmt.Sprintf("%.64q is not a message of %s",
			*head.Type, Version)
	}
	return out
}

// Clip returns the beginning of s: at most n bytes, in whole characters.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
