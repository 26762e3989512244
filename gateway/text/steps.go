package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"terminalproxy/protocol"
)

// maxRow bounds the quoted row of a step, in characters.
const maxRow = 160

// Step is one step of several: text to type, and a condition that must come true before the next
// one. The names of the fields are those of every interface.
type Step struct {
	Text  string   `json:"text"`
	Paste string   `json:"paste"`
	Keys  []string `json:"keys"`
	Enter bool     `json:"enter"`
	Until string   `json:"until"`
	Value string   `json:"value"`
	Stop  []string `json:"stop"`
}

// StepError is a fault of a step's JSON.
type StepError struct{ message string }

func (e *StepError) Error() string { return e.message }

// UnmarshalJSON implements [json.Unmarshaler]. A misspelt condition would pass unnoticed, so a field
// that no step has is an error.
func (s *Step) UnmarshalJSON(raw []byte) error {
	type plain Step
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode((*plain)(s)); err != nil {
		return &StepError{"steps: " + strings.TrimPrefix(err.Error(), "json: ") +
			": a step takes text, paste, keys, enter, until, value, stop"}
	}
	return nil
}

// StepParts makes the parts of a terminal.input from steps. The condition of the last step is not
// among them: the caller waits for it. Errors are sentences that name the step.
func StepParts(steps []Step) (parts []protocol.InputPart, err error) {
	if len(steps) == 0 {
		return nil, errors.New("steps is empty: give one step or more")
	}
	if len(steps) > protocol.MaxSteps {
		return nil, fmt.Errorf("steps has %d steps, the limit is %d: send the rest in another call",
			len(steps), protocol.MaxSteps)
	}
	for i, step := range steps {
		more, err := step.parts(i == len(steps)-1)
		if err != nil {
			return nil, fmt.Errorf("steps, step %d: %w", i+1, err)
		}
		parts = append(parts, more...)
	}
	return parts, nil
}

func (s Step) parts(last bool) ([]protocol.InputPart, error) {
	if s.Text+s.Paste != "" && len(s.Keys) > 0 {
		// an agent writes the members in an order that a JSON object does not have
		return nil, errors.New("text or paste, and keys, have no order in one step: use two steps, " +
			"the first with an until such as idle; for Enter at the end, set enter")
	}
	typing := Typing{Text: s.Text, Paste: s.Paste, Keys: s.Keys, Enter: s.Enter}
	parts, err := typing.Parts()
	if err != nil {
		return nil, err
	}
	until, stop, err := s.Condition()
	switch {
	case err != nil:
		return nil, err
	case s.Until == "" && !last:
		return nil, errors.New("until is missing: what must come true before the next step")
	case until.Exit && !last:
		return nil, errors.New("until exit is for the last step: nothing can be typed afterwards")
	case !last:
		parts[len(parts)-1].Until, parts[len(parts)-1].Stop = &until, stop
	}
	return parts, nil
}

// Condition returns the condition that must come true after the step, and those that end the wait
// for it.
func (s Step) Condition() (until protocol.Until, stop []protocol.Until, err error) {
	switch {
	case s.Until == "" && s.Value != "":
		return until, nil, errors.New("value belongs to until")
	case s.Until == "" && len(s.Stop) > 0:
		return until, nil, errors.New("stop belongs to until")
	case s.Until == "":
		return until, nil, nil
	}
	if stop, err = Patterns("stop", s.Stop); err != nil {
		return until, nil, err
	}
	if until, err = Until(s.Until, s.Value); err == nil && until.Control {
		err = errors.New("until control is for a wait alone")
	}
	return until, stop, err
}

// StepEnds lists the rows that met the conditions of an input's steps, one per line; last is the
// wait after the last step, or nil. The lines quote the program, so they belong in a fence.
func StepEnds(r *protocol.InputResult, last *protocol.WaitResult) string {
	var lines []string
	add := func(met bool, matched, line string) {
		if line = strings.TrimSpace(line); line == "" {
			line = matched
		}
		if met {
			lines = append(lines, fmt.Sprintf("step %d: %s", len(lines)+1, shorten(line, maxRow)))
		}
	}
	for _, p := range r.Parts {
		if p.Until != nil {
			add(p.Until.Met, p.Until.Matched, p.Until.Line)
		}
	}
	if last != nil {
		add(last.Met, last.Matched, last.Line)
	}
	return strings.Join(lines, "\n")
}

// UnmetStep says which step's condition did not come true, and why, or returns "".
func UnmetStep(r *protocol.InputResult) string {
	step := 0
	for _, p := range r.Parts {
		if p.Until == nil {
			continue
		}
		step++
		switch {
		case p.Until.Met:
		case p.Until.Stopped && p.Until.Came != nil:
			return fmt.Sprintf("step %d: stop: %s", step, MetCondition(p.Until.Came))
		case r.Reason == protocol.CodeTimeout:
			return fmt.Sprintf("step %d: no match: timeout", step)
		case r.Reason == protocol.CodeExited:
			return fmt.Sprintf("step %d: no match: the program ended first", step)
		default:
			return fmt.Sprintf("step %d: %s", step, Refusal(r.Reason, r.Message))
		}
	}
	return ""
}

// stepLabel names the step, from 1, that begins with part i: "step 2: ", or "" within one and for
// an input without steps.
func stepLabel(parts []protocol.InputPart, i int) string {
	step, begins, several := 1, true, false
	for at, p := range parts {
		several = several || p.Until != nil
		if at >= i {
			continue
		}
		if begins = p.Until != nil; begins {
			step++
		}
	}
	if !several || !begins {
		return ""
	}
	return fmt.Sprintf("step %d: ", step)
}
