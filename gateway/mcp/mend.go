package mcp

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// mendArguments gives arguments the types of their parameters where what they mean is plain: several clients send numbers,
// switches and lists as strings. What is no such string stays as it is, and is refused by its name.
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
		if better, ok := p.mend(value); ok {
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

// mend is value as the parameter's type; ok is false where value has that already, or means nothing of it.
func (p param) mend(value json.RawMessage) (better json.RawMessage, ok bool) {
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
		return json.RawMessage(text), json.Unmarshal([]byte(text), &list) == nil // a word alone may be several
	}
	return nil, false
}

// wholeNumber is a number such as 2000.0 or 2e3 without its fraction; ok is false where it has none, or is not whole.
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
