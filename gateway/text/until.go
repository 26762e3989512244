package text

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// Conditions are the names of the conditions of a wait, in the order in which texts list them.
var Conditions = []string{
	"text",
	"regex",
	"title",
	"title-regex",
	"gone",
	"changed",
	"idle",
	"exit",
	"waiting",
	"control",
}

// defaultIdle is the quiet time of an idle condition without a value.
const defaultIdle = 500 * time.Millisecond

// Until parses a condition: its name and its value. The value of idle is a duration. Errors are
// sentences that say what to write.
func Until(name, value string) (protocol.Until, error) {
	var u protocol.Until
	switch name {
	case "text":
		u.Text = value
	case "regex":
		u.Regex = value
	case "title":
		u.Title = value
	case "title-regex":
		u.TitleRegex = value
	case "gone":
		u.Gone = value
	case "idle":
		quiet, err := parseQuiet(value)
		if err != nil {
			return u, err
		}
		u.QuietMs = quiet.Milliseconds()
		return u, nil
	case "changed":
		u.Changed = true
	case "exit":
		u.Exit = true
	case "waiting":
		u.Waiting = true
	case "control":
		u.Control = true
	default:
		return u, fmt.Errorf("%q is not a condition: use one of %s",
			name, strings.Join(Conditions, ", "))
	}
	return u, checkValue(name, value)
}

// Patterns turns regular expressions into conditions. Errors are sentences that name the parameter.
func Patterns(parameter string, all []string) ([]protocol.Until, error) {
	if len(all) > protocol.MaxConditions {
		return nil, fmt.Errorf("%s has %d patterns, the limit is %d",
			parameter, len(all), protocol.MaxConditions)
	}
	var out []protocol.Until
	for _, p := range all {
		if err := CheckPattern(p); err != nil {
			return nil, fmt.Errorf("%s: %w", parameter, err)
		}
		out = append(out, protocol.Until{Regex: p})
	}
	return out, nil
}

// CheckPattern checks a regular expression to look for; its errors are sentences.
func CheckPattern(pattern string) error { return checkValue("regex", pattern) }

// MetCondition names the one of several conditions that ended a wait, "" if the wait had only one.
func MetCondition(u *protocol.Until) string {
	switch {
	case u == nil:
		return ""
	case u.Regex != "":
		return strconv.Quote(Clean(u.Regex))
	case u.Text != "":
		return strconv.Quote(Clean(u.Text))
	case u.Title != "" || u.TitleRegex != "":
		return "title " + strconv.Quote(Clean(u.Title+u.TitleRegex))
	case u.Gone != "":
		return "gone " + strconv.Quote(Clean(u.Gone))
	case u.Exit:
		return "exit"
	case u.Waiting:
		return "waiting"
	case u.Changed:
		return "changed"
	}
	return "quiet"
}

// OldMatchNote says, after a match that follows an input of these parts, that the match is old; ""
// if it is new.
func OldMatchNote(got *protocol.WaitResult, parts []protocol.InputPart) string {
	if got.Stood == "" {
		return ""
	}
	last := "Enter"
	if n := len(parts); n == 0 || parts[n-1].Data != enter {
		last = "the last key"
	}
	return ": it stood there before " + last + ", and the program waits again"
}

// checkValue checks that a condition has a value exactly if it needs one.
func checkValue(name, value string) error {
	switch name {
	case "text", "regex", "title", "title-regex", "gone":
		switch {
		case value == "":
			return fmt.Errorf("waiting for %s needs a value: what to look for", name)
		case len(value) > protocol.MaxPattern:
			return fmt.Errorf("the value is %d bytes long, the limit is %d",
				len(value), protocol.MaxPattern)
		}
		if strings.HasSuffix(name, "regex") {
			_, err := protocol.CompilePattern(name, value)
			if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
				if why, ok := strings.CutPrefix(bad.Say, "is no RE2 regular expression: "); ok {
					return fmt.Errorf("the regular expression does not compile (RE2 syntax): %s",
						why)
				}
				return fmt.Errorf("the value %s", bad.Say)
			}
		}
	default:
		if value != "" {
			return fmt.Errorf("waiting for %s needs no value", name)
		}
	}
	return nil
}

func parseQuiet(value string) (time.Duration, error) {
	quiet := defaultIdle
	if value != "" {
		var err error
		if _, bare := strconv.Atoi(value); bare == nil {
			return 0, fmt.Errorf("%s has no unit: write %sms or %ss", value, value, value)
		}
		if quiet, err = time.ParseDuration(value); err != nil {
			return 0, fmt.Errorf("%.32q is not a duration: write one like 500ms or 2s", value)
		}
	}
	if quiet < time.Millisecond || quiet > protocol.MaxWaitMs*time.Millisecond {
		return 0, fmt.Errorf("a quiet time is 1ms to %dm", protocol.MaxWaitMs/60_000)
	}
	return quiet, nil
}
