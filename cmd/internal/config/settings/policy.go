package settings

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/consent/policy"
)

// The tables of rules stand in double brackets.
const (
	RulesAllow = "allow"
	RulesNever = "never"
)

// RuleField is a setting of a rule.
type RuleField struct{ Key, Default, Help string }

// RuleFields returns the settings of a kind of rule.
func RuleFields(kind string) []RuleField {
	where := []RuleField{
		{"directory", "", "where that program runs, or a directory above"},
		{"host", "", "name of the machine on which the session runs"},
	}
	if kind == RulesNever {
		return append([]RuleField{
			{"agent", "", "name of the local token that an agent shows, or what it calls itself"},
			{
				"program",
				"",
				`name of a program that has the terminal, or of one that it started there; "*" is every program`,
			},
		}, where...)
	}
	return append([]RuleField{
		{"agent", "", "name of the local token that the agent must show. Required"},
		{
			"program",
			"",
			`name or path of the program that has the terminal; "*" is every program. Required`,
		},
		{"level", "`\"type\"`", `the most that it gives: "type" or "drive"`},
		{"for", "`\"10m\"`", `how long, "1s" to "24h"`},
	}, where...)
}

// maxRuleFor is the longest grant of a rule.
const maxRuleFor = 24 * time.Hour

// repeated are the tables that stand in double brackets, since there may be several.
var repeatedTables = []string{RulesAllow, RulesNever, TableOn}

// ruleHead matches the first line of such a table.
var ruleHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\[\[\s*(allow|never|on)\s*\]\]`)
})

// repeatedHeads returns the first lines of such tables, by the table.
func repeatedHeads(text string) map[string][]int {
	heads := make(map[string][]int)
	for n, line := range strings.Split(text, "\n") {
		if m := ruleHead().FindStringSubmatch(line); m != nil {
			heads[m[1]] = append(heads[m[1]], n+1)
		}
	}
	return heads
}

// lineOf returns the line of a key in the repeated table that begins on the line head, or head if
// it is unclear: the parser knows no place in such a table.
func (f *File) lineOf(key string, head int) int {
	begins := regexp.MustCompile(`^\s*["']?` + regexp.QuoteMeta(key) + `["']?\s*=`)
	found := head
	for n := head; n < len(f.lines) && !strings.HasPrefix(strings.TrimSpace(f.lines[n]), "["); n++ {
		if !begins.MatchString(f.lines[n]) {
			continue
		}
		if found != head { // one of them is within a text of many lines
			return head
		}
		found = n + 1
	}
	return found
}

// Policy returns the file's rules. f may be nil. The error is an *Error about the first wrong rule.
func (f *File) Policy() (set policy.Set, err error) {
	allow, bad := f.agentRules(RulesAllow)
	never, worse := f.agentRules(RulesNever)
	if err := errors.Join(bad, worse); err != nil {
		first, _ := errors.AsType[*Error](err)
		return policy.Set{Never: never}, first
	}
	return policy.Set{Allow: allow, Never: never}, nil
}

// NeverRules returns the rules that count even if something else in the file is wrong: those that
// take away. f may be nil.
func (f *File) NeverRules() policy.Set {
	never, _ := f.agentRules(RulesNever)
	return policy.Set{Never: never}
}

// PolicyNow reads the rules of the user's configuration again. With an error it returns the rules
// that count all the same.
func PolicyNow() (policy.Set, error) {
	file, err := User()
	if err == nil {
		_, err = file.Taste()
	}
	if err != nil {
		return file.NeverRules(), err
	}
	return file.Policy()
}

// RuleTable is a rule as it stands in a file.
type RuleTable struct {
	Line int
	Says map[string]any
}

// RuleTables returns the rules of a kind, in the file's order. f may be nil.
func (f *File) RuleTables(kind string) (tables []RuleTable) {
	value, _, _ := f.Table("").Value(kind)
	all, _ := value.([]map[string]any)
	if f == nil || len(f.heads[kind]) != len(all) {
		return nil
	}
	for i, says := range all {
		tables = append(tables, RuleTable{f.heads[kind][i], says})
	}
	return tables
}

// agentRules returns the good rules of a kind. The error joins the faults of the others.
func (f *File) agentRules(kind string) (good []policy.Rule, err error) {
	tables := f.RuleTables(kind)
	if _, line, ok := f.Table("").Value(kind); ok && len(tables) == 0 {
		return nil, f.root.LineError(line, "write each rule as a table of its own: [["+kind+"]]",
			"%s: not a rule", kind)
	}
	var wrong []error
	for _, table := range tables {
		rule, bad := f.parseRule(kind, table.Line, table.Says)
		if bad != nil {
			wrong = append(wrong, bad)
			continue
		}
		good = append(good, rule)
	}
	return good, errors.Join(wrong...)
}

// parseRule reads one rule, which begins on a line.
func (f *File) parseRule(kind string, line int, values map[string]any) (policy.Rule, error) {
	r := policy.Rule{
		Never: kind == RulesNever,
		At:    filepath.Base(f.Path) + ":" + strconv.Itoa(line),
	}
	if !r.Never {
		r.Level, r.For = protocol.LevelType, control.GrantFor
	}
	var known []string
	for _, field := range RuleFields(kind) {
		known = append(known, field.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, key) {
			return r, f.root.UnknownNameError(f.lineOf(key, line), "setting", key, known)
		}
		if wanted := setRuleValue(&r, key, values[key]); wanted != "" {
			return r, f.root.LineError(f.lineOf(key, line), "", "[[%s]] %s: must be %s", kind, key,
				wanted)
		}
	}
	if r.Never && len(values) == 0 {
		return r, f.root.LineError(
			line,
			`for every agent and program: program = "*"`,
			"[[never]]: the rule is empty",
		)
	}
	return r, f.checkAllow(r, line)
}

// setRuleValue sets a key of a rule, or returns what its value must be.
func setRuleValue(r *policy.Rule, key string, value any) (wanted string) {
	text, isText := value.(string)
	if !isText || text == "" {
		return "a text in quotes"
	}
	return setRule(r, key, text)
}

// checkAllow refuses a rule that gives control and does not say to which agent, or in which program.
func (f *File) checkAllow(r policy.Rule, line int) error {
	switch {
	case r.Never:
	case r.Agent == "":
		return f.root.LineError(line, "make one with: gateway token create NAME --local",
			"[[allow]] agent: missing: name the local token that the agent shows")
	case r.Program == "":
		return f.root.LineError(
			line,
			`for every program: program = "*"`,
			"[[allow]] program: missing",
		)
	}
	return nil
}

// setRule sets a field. wanted describes a valid value if text is invalid, else "".
func setRule(r *policy.Rule, key, text string) (wanted string) {
	switch key {
	case "agent":
		if r.Agent = text; r.Never {
			r.DisplayName = names.DisplayName(text)
		}
	case "host":
		r.Host = text
	case "program":
		r.Program = expandHome(text)
		if strings.Contains(r.Program, "/") && !filepath.IsAbs(r.Program) {
			return `a name, a path that begins with / or ~/, or "*"`
		}
	case "directory":
		r.Directory = filepath.Clean(expandHome(text))
		if !filepath.IsAbs(r.Directory) {
			return "a path that begins with / or ~/"
		}
	case "level":
		r.Level = protocol.Level(text)
		if r.Level != protocol.LevelType && r.Level != protocol.LevelDrive {
			return `"type" or "drive"`
		}
	case "for":
		lasts, err := time.ParseDuration(text)
		if r.For = lasts; err != nil || lasts < time.Second || lasts > maxRuleFor {
			return `a time from "1s" to "24h"`
		}
	}
	return ""
}

// expandHome replaces a leading ~ with the user's home.
func expandHome(path string) string {
	rest, hasTilde := strings.CutPrefix(path, "~")
	home, err := os.UserHomeDir()
	if !hasTilde || err != nil || rest != "" && rest[0] != '/' {
		return path
	}
	return home + rest
}
