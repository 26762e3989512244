// Package flagwords explains, in this project's words, why the command line's parser refused a flag.
package flagwords

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// Explain is what is wrong and what to write instead; ok is false for an error that speaks for itself.
func Explain(err error) (say, hint string, ok bool) {
	bad, is := errors.AsType[*pflag.InvalidValueError](err)
	if !is || bad.GetFlag().Value.Type() != "duration" {
		return "", "", false
	}
	name, value := bad.GetFlag().Name, bad.GetValue()
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return fmt.Sprintf("--%s %s: missing unit", name, value),
			fmt.Sprintf("use --%s %sm for minutes, %ss for seconds or %sh for hours", name, value, value, value), true
	}
	return fmt.Sprintf("--%s %.40q: not a duration", name, value), "use a number with a unit: 90s, 10m, 1h30m", true
}
