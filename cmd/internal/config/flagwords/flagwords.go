// Package flagwords explains in this project's words why the command line's parser refused a flag.
package flagwords

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/config/spelling"
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
	var known []string
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if like := spelling.NearestName(name, known); like != "" {
		return "--" + like
	}
	return ""
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
