package mcp

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// mendArguments converts arguments to the types of their parameters if their meaning is plain:
// several clients send numbers, switches and lists as strings. Other strings stay, and are refused
// by name.
func mendArguments(raw json.RawMessage, params []param) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return raw
	}
	mended := false
	for _, p := range params {
		value, ok := given[p.name]
		if !ok {
			continue
		}
		if better, ok := p.mendValue(value); ok {
			given[p.name], mended = better, true
		}
	}
	if !mended {
		return raw
	}
	if out, err := json.Marshal(given); err == nil {
		return out
	}
	return raw
}

// mendValue converts value to the parameter's type; ok is false if it has that type already, or
// cannot be converted.
func (p param) mendValue(value json.RawMessage) (better json.RawMessage, ok bool) {
	var text string
	isText := json.Unmarshal(value, &text) == nil && value[0] == '"'
	text = strings.TrimSpace(text)
	switch {
	case p.kind == "integer" && !isText:
		return wholeNumber(string(value))
	case !isText || p.kind == "string":
		return nil, false
	case text == "" && !p.required:
		return json.RawMessage("null"), true
	case p.kind == "integer":
		if better, ok := wholeNumber(text); ok {
			return better, true
		}
		_, err := strconv.ParseInt(text, 10, 64)
		return json.RawMessage(text), err == nil && !strings.HasPrefix(text, "+")
	case p.kind == "boolean":
		text = strings.ToLower(text)
		return json.RawMessage(text), text == "true" || text == "false"
	case p.kind == "array":
		var list []any
		// a word alone may be several
		return json.RawMessage(text), json.Unmarshal([]byte(text), &list) == nil
	}
	return nil, false
}

// wholeNumber converts a number such as 2000.0 or 2e3 to an integer; ok is false if it has no
// fraction, or is not whole.
func wholeNumber(text string) (better json.RawMessage, ok bool) {
	if !strings.ContainsAny(text, ".eE") {
		return nil, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return nil, false
	}
	return strconv.AppendInt(nil, int64(n), 10), true
}
