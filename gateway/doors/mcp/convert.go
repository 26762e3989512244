package mcp

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// convertArguments converts arguments to the types of their parameters if their meaning is clear:
// several clients send numbers, booleans and lists as strings. Other strings stay, and are rejected
// with the parameter's name.
func convertArguments(raw json.RawMessage, params []param) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return raw
	}
	for _, p := range params {
		if converted, ok := p.convertValue(given[p.name]); ok {
			given[p.name] = converted
		}
	}
	if out, err := json.Marshal(given); err == nil {
		return out
	}
	return raw
}

// convertValue converts value to the parameter's type; ok is false if it has that type already, or
// cannot be converted.
func (p param) convertValue(value json.RawMessage) (converted json.RawMessage, ok bool) {
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
		if converted, ok := wholeNumber(text); ok {
			return converted, true
		}
		_, err := strconv.ParseInt(text, 10, 64)
		return json.RawMessage(text), err == nil && !strings.HasPrefix(text, "+")
	case p.kind == "boolean":
		text = strings.ToLower(text)
		return json.RawMessage(text), text == "true" || text == "false"
	case p.kind == "array":
		var list []any
		// a single word stays an error: it may stand for several
		return json.RawMessage(text), json.Unmarshal([]byte(text), &list) == nil
	}
	return nil, false
}

// wholeNumber converts a number such as 2000.0 or 2e3 to an integer; ok is false for plain digits,
// which need no conversion, and for fractions.
func wholeNumber(text string) (converted json.RawMessage, ok bool) {
	if !strings.ContainsAny(text, ".eE") {
		return nil, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return nil, false
	}
	return strconv.AppendInt(nil, int64(n), 10), true
}
