// Package form turns the forms of elicitations, a small part of JSON Schema, into questions for a
// person, and the replies into what the form asks for. The package does not know who asks.
package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"terminalproxy/proxy/chat"
)

// Form is a form of questions.
type Form struct {
	// Why are the words before the questions, "" if they are a question themselves.
	Why       string
	Questions []chat.Question
	fields    map[string]field // by their names, which are the questions' ids
}

// Labels and choices that the form itself does not offer.
const (
	Skip              = "leave it out"
	accept            = "accept"
	decline           = "decline"
	yesLabel, noLabel = "yes", "no"
	// maxFields bounds a form.
	maxFields = 32
)

// field is one of a form, in the shapes of its five types at once.
type field struct {
	Type, Title, Description string
	Enum                     []any
	EnumNames                []string
	OneOf                    []choice
	Items                    struct {
		Enum         []any
		AnyOf, OneOf []choice
	}

	name     string
	required bool
	// own names the field for free text, "" without one.
	own string
	// values are what the choices stand for, by their labels.
	values map[string]any
}

type choice struct {
	Const              any
	Title, Description string
}

// Read reads a form: the words before it and its schema.
func Read(message string, schema json.RawMessage) (*Form, error) {
	var object struct {
		Properties json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(schema, &object); err != nil {
		return nil, err
	}
	all, err := parseFields(object.Properties)
	if err != nil {
		return nil, err
	}
	if len(all) > maxFields {
		return nil, fmt.Errorf("%d questions: the limit is %d", len(all), maxFields)
	}
	all = mergeFreeText(all)
	f := &Form{Why: message, fields: map[string]field{}}
	for _, one := range all {
		one.required = one.own != "" || slices.Contains(object.Required, one.name)
		if err := f.addQuestion(one); err != nil {
			return nil, err
		}
	}
	switch {
	case len(all) == 0 && message == "":
		return nil, errors.New("it asks nothing")
	case len(all) == 0:
		options := []chat.Option{{Label: accept}, {Label: decline}}
		f.Questions, f.Why = []chat.Question{{ID: accept, Text: message, Options: options}}, ""
	case len(all) == 1 && all[0].Description == "" && message != "":
		f.Questions[0].Header, f.Questions[0].Text, f.Why = all[0].Title, message, ""
	}
	return f, nil
}

// parseFields reads the fields in the order of the form.
func parseFields(properties json.RawMessage) (all []field, err error) {
	d := json.NewDecoder(bytes.NewReader(properties))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, nil //nolint:nilerr // a form without fields
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		one := field{name: name.(string)}
		if err := d.Decode(&one); err != nil {
			return nil, fmt.Errorf("%.40q: %w", one.name, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// mergeFreeText joins a field for free text to the field with choices before it: here every
// question takes free text.
func mergeFreeText(all []field) (joined []field) {
	for _, one := range all {
		if n := len(joined); n > 0 && one.Type == "string" && len(one.allChoices()) == 0 {
			before := &joined[n-1]
			isBeside := before.own == "" && strings.HasPrefix(one.name, before.name+"_")
			if isBeside && len(before.allChoices()) > 0 {
				before.own = one.name
				continue
			}
		}
		joined = append(joined, one)
	}
	return joined
}

// allChoices returns the choices that a field offers.
func (f *field) allChoices() (all []choice) {
	all = slices.Concat(f.OneOf, f.Items.AnyOf, f.Items.OneOf)
	for i, value := range slices.Concat(f.Enum, f.Items.Enum) {
		one := choice{Const: value}
		if i < len(f.EnumNames) {
			one.Title = f.EnumNames[i]
		}
		all = append(all, one)
	}
	if f.Type == "boolean" && all == nil {
		all = []choice{{Const: true, Title: yesLabel}, {Const: false, Title: noLabel}}
	}
	return all
}

// addQuestion adds a field and its question to the form.
func (f *Form) addQuestion(one field) error {
	if !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, one.Type) {
		return fmt.Errorf("%.40q is of type %.40q", one.name, one.Type)
	}
	q := chat.Question{
		ID: one.name, Header: one.Title, Text: one.Description, Many: one.Type == "array",
	}
	if q.Text == "" || len(q.Header) > len(q.Text) { // agents put the question in either
		q.Header, q.Text = q.Text, q.Header
	}
	if q.Text == "" {
		q.Text = one.name
	}
	one.values = map[string]any{}
	for _, c := range one.allChoices() {
		label := c.Title
		if label == "" {
			label = fmt.Sprint(c.Const)
		}
		if _, twice := one.values[label]; twice {
			label = fmt.Sprint(c.Const)
		}
		one.values[label] = c.Const
		q.Options = append(q.Options, chat.Option{Label: label, Description: c.Description})
	}
	if q.Many && len(q.Options) == 0 {
		return fmt.Errorf("%.40q offers no choice", one.name)
	}
	if !one.required {
		q.Options = append(q.Options, chat.Option{Label: Skip})
	}
	f.Questions, f.fields[one.name] = append(f.Questions, q), one
	return nil
}

// Check says why the form does not take the replies.
func (f *Form) Check(replies map[string][]string) error {
	_, _, err := f.Content(replies)
	return err
}

// Content converts replies into the form's content. accepted is false if the form only asks for
// consent and the person declines.
func (f *Form) Content(replies map[string][]string) (content map[string]any, accepted bool, err error) {
	content = map[string]any{}
	if len(f.fields) == 0 {
		switch got := strings.Join(replies[accept], ""); got {
		case accept:
			return content, true, nil
		case decline:
			return nil, false, nil
		default:
			return nil, false, fmt.Errorf("answer %s or %s", accept, decline)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.fields)) {
		if err := f.setField(content, f.fields[name], replies[name]); err != nil {
			return nil, false, err
		}
	}
	return content, true, nil
}

// Reply converts an answer into MCP's reply to the form, which the agents pass on.
func (f *Form) Reply(a chat.Answer) map[string]any {
	if a.Refuses() && a.Words != "" { // refused by others, or without a person
		return map[string]any{"action": "cancel"}
	}
	if content, accepted, err := f.Content(a.Replies); !a.Refuses() && err == nil && accepted {
		return map[string]any{"action": "accept", "content": content}
	}
	return map[string]any{"action": "decline"}
}

// setField sets the content of one field from its replies.
func (f *Form) setField(content map[string]any, one field, replies []string) error {
	if !one.required && slices.Contains(replies, Skip) {
		return nil
	}
	var values []any
	for _, reply := range replies {
		value, offered := one.values[reply]
		switch {
		case offered:
			values = append(values, value)
		case one.own != "":
			if before, more := content[one.own].(string); more {
				reply = before + ", " + reply
			}
			content[one.own] = reply
		default:
			value, err := one.parseTyped(reply)
			if err != nil {
				return err
			}
			values = append(values, value)
		}
	}
	switch {
	case one.Type == "array" && len(values) > 0:
		content[one.name] = values
	case len(values) == 1:
		content[one.name] = values[0]
	}
	return nil
}

// parseTyped parses a reply other than the choices. A field with choices takes no such reply.
func (f *field) parseTyped(reply string) (any, error) {
	switch {
	case len(f.values) > 0:
		return nil, fmt.Errorf("%s: must be one of the choices, and not %q", f.displayName(), reply)
	case f.Type == "integer":
		n, err := strconv.ParseInt(reply, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: must be a whole number, and not %q", f.displayName(), reply)
		}
		return n, nil
	case f.Type == "number":
		n, err := strconv.ParseFloat(reply, 64)
		if err != nil || n-n != 0 {
			return nil, fmt.Errorf("%s: must be a number, and not %q", f.displayName(), reply)
		}
		return n, nil
	}
	return reply, nil
}

func (f *field) displayName() string {
	if f.Title != "" {
		return f.Title
	}
	return f.name
}
