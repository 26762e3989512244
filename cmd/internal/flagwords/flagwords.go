// Package flagwords explains, in this project's words, why the command line's parser refused a flag.
package flagwords

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Explain is what is wrong and what to write instead; ok is false for an error that speaks for itself.
func Explain(err error) (say, hint string, ok bool) {
	if none, is := errors.AsType[*pflag.ValueRequiredError](err); is {
		name, _ := pflag.UnquoteUsage(none.GetFlag())
		return fmt.Sprintf("--%s: missing value", none.GetFlag().Name), fmt.Sprintf("write --%s %s", none.GetFlag().Name, strings.ToUpper(name)), true
	}
	bad, is := errors.AsType[*pflag.InvalidValueError](err)
	if !is {
		return "", "", false
	}
	flag, value := bad.GetFlag(), bad.GetValue()
	kind := strings.TrimRight(flag.Value.Type(), "0123456789")
	switch kind {
	case "duration":
		return duration(flag.Name, value)
	case "int", "uint":
		say := "not a whole number"
		if kind == "uint" {
			say += " from 0 up"
		}
		return fmt.Sprintf("--%s %.40q: %s", flag.Name, value, say), fmt.Sprintf("use digits, as in --%s 100", flag.Name), true
	case "float":
		return fmt.Sprintf("--%s %.40q: not a number", flag.Name, value), fmt.Sprintf("use digits, as in --%s 1.5", flag.Name), true
	case "bool":
		return fmt.Sprintf("--%s=%.40s: neither true nor false", flag.Name, value), fmt.Sprintf("write --%s alone, or leave it out", flag.Name), true
	}
	return "", "", false
}

func duration(name, value string) (say, hint string, ok bool) {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return fmt.Sprintf("--%s %s: missing unit", name, value),
			fmt.Sprintf("use --%s %sm for minutes, %ss for seconds or %sh for hours", name, value, value, value), true
	}
	return fmt.Sprintf("--%s %.40q: not a duration", name, value), "use a number with a unit: 90s, 10m, 1h30m", true
}
