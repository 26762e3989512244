// Package flagwords explains in this project's words why the command line's parser refused a flag.
package flagwords

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// FindSimilar returns the flag of the set, with its dashes, that the user may have meant by an
// unknown one, else "".
func FindSimilar(err error, set *pflag.FlagSet) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()) // also of -agent
	if len(name) < 2 {
		return ""
	}
	best, least := "", 3 // fewer changes than that, as cobra allows for a command
	set.VisitAll(func(f *pflag.Flag) {
		if n := countEdits(name, f.Name); n < least && !f.Hidden {
			best, least = "--"+f.Name, n
		}
	})
	return best
}

// countEdits returns how many letters have to be added, removed or replaced to make b from a: the
// Levenshtein distance.
func countEdits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Explain returns the fault and the next step; ok is false if the error's own text is good enough.
func Explain(err error) (message, hint string, ok bool) {
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		flag := missing.GetFlag()
		value, _ := pflag.UnquoteUsage(flag)
		return fmt.Sprintf("--%s: missing value", flag.Name),
			fmt.Sprintf("write --%s %s", flag.Name, strings.ToUpper(value)), true
	}
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return "", "", false
	}
	flag, value := bad.GetFlag(), bad.GetValue()
	kind := strings.TrimRight(flag.Value.Type(), "0123456789")
	switch kind {
	case "duration":
		return explainDuration(flag.Name, value)
	case "int", "uint":
		fault := "not a whole number"
		if kind == "uint" {
			fault += " from 0 up"
		}
		return fmt.Sprintf("--%s %.40q: %s", flag.Name, value, fault),
			fmt.Sprintf("use digits, as in --%s 100", flag.Name), true
	case "float":
		return fmt.Sprintf("--%s %.40q: not a number", flag.Name, value),
			fmt.Sprintf("use digits, as in --%s 1.5", flag.Name), true
	case "bool":
		return fmt.Sprintf("--%s=%.40s: neither true nor false", flag.Name, value),
			fmt.Sprintf("write --%s alone, or leave it out", flag.Name), true
	}
	return "", "", false
}

func explainDuration(name, value string) (message, hint string, ok bool) {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return fmt.Sprintf("--%s %s: missing unit", name, value),
			fmt.Sprintf("use --%s %sm for minutes, %ss for seconds or %sh for hours",
				name, value, value, value), true
	}
	return fmt.Sprintf("--%s %.40q: not a duration", name, value),
		"use a number with a unit: 90s, 10m, 1h30m", true
}
