package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"terminalproxy/cmd/internal/config/spelling"
	"terminalproxy/cmd/internal/hooks/onevent"
	"terminalproxy/proxy/display/events"
)

// TableOn is the array of tables with the commands for events.
const TableOn = "on"

// maxRules bounds the commands that may run at once.
const maxRules = 16

// The keys of a rule.
const (
	keyEvent = "event"
	keyRun   = "run"
)

// Rules returns the file's commands for events, and their lines. f may be nil. The error is an
// *Error.
func (f *File) Rules() (rules []onevent.Rule, lines []int, err error) {
	value, line, ok := f.Table("").Value(TableOn)
	if !ok {
		return nil, nil, nil
	}
	all, ok := value.([]map[string]any)
	switch {
	case !ok:
		return nil, nil, f.root.LineError(line, "as in: [[on]]", "on: must be a table in double "+
			"brackets")
	case len(all) > maxRules:
		return nil, nil, f.root.LineError(line,
			"name several events in one: event = ['asked', 'granted']",
			"on: there are %d, the limit is %d", len(all), maxRules)
	}
	for i, table := range all {
		if len(f.heads[TableOn]) == len(all) {
			line = f.heads[TableOn][i]
		}
		rule, err := f.parseEventRule(table, line)
		if err != nil {
			return nil, nil, err
		}
		rules, lines = append(rules, rule), append(lines, line)
	}
	return rules, lines, nil
}

// parseEventRule reads one table, which begins at a line.
func (f *File) parseEventRule(table map[string]any, line int) (onevent.Rule, error) {
	if unknown := unknownKey(table); unknown != "" {
		return onevent.Rule{}, f.root.UnknownNameError(
			f.lineOf(unknown, line), "setting", unknown, []string{keyEvent, keyRun})
	}
	rule, key, wrong, hint := eventRule(table)
	if wrong != "" {
		return rule, f.root.LineError(f.lineOf(key, line), hint, "[[on]] %s: %s", key, wrong)
	}
	return rule, nil
}

// unknownKey returns a key that no rule has, or "".
func unknownKey(table map[string]any) string {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if key != keyEvent && key != keyRun {
			return key
		}
	}
	return ""
}

// eventRule reads a rule, or says which key is wrong.
func eventRule(table map[string]any) (rule onevent.Rule, key, wrong, hint string) {
	names := table[keyEvent]
	if one, isText := names.(string); isText {
		names = []any{one}
	}
	var ok bool
	if rule.Events, ok = listOf(names); !ok || len(rule.Events) == 0 {
		return rule, keyEvent, "must be a text, or a list of texts", "the events are: " +
			strings.Join(events.Names, ", ")
	}
	for _, name := range rule.Events {
		if !slices.Contains(events.Names, name) {
			hint = "the events are: " + strings.Join(events.Names, ", ")
			if like := spelling.NearestName(name, events.Names); like != "" {
				hint = "did you mean: " + like
			}
			return rule, keyEvent, fmt.Sprintf("unknown event %.40q", name), hint
		}
	}
	if rule.Run, ok = listOf(table[keyRun]); !ok || len(rule.Run) == 0 || rule.Run[0] == "" {
		return rule, keyRun, "must be a program and its arguments, a text each", "as in: run = ['notify-send', 'an agent asks']; no shell reads it"
	}
	if program := rule.Run[0]; strings.Contains(program, "/") && !filepath.IsAbs(program) {
		return rule, keyRun, fmt.Sprintf(
			"%.80q depends on the directory",
			program,
		), "write its whole path, or a name in your PATH"
	}
	if strings.Contains(strings.Join(rule.Run, ""), "\x00") {
		return rule, keyRun, "must not hold a zero byte", ""
	}
	return rule, "", "", ""
}
