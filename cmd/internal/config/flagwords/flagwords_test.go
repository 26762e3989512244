package flagwords_test

import (
	"errors"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/config/flagwords"
)

func TestATimeWithoutAUnit(t *testing.T) {
	for value, want := range map[string][2]string{
		"10":   {"--for 10: missing unit", "use --for 10m for minutes, 10s for seconds or 10h for hours"},
		"1.5":  {"--for 1.5: missing unit", "use --for 1.5m for minutes, 1.5s for seconds or 1.5h for hours"},
		"soon": {`--for "soon": not a duration`, "use a number with a unit: 90s, 10m, 1h30m"},
		"":     {`--for "": not a duration`, "use a number with a unit: 90s, 10m, 1h30m"},
		"10 m": {`--for "10 m": not a duration`, "use a number with a unit: 90s, 10m, 1h30m"},
	} {
		set := pflag.NewFlagSet("x", pflag.ContinueOnError)
		set.Duration("for", time.Minute, "")
		say, hint, ok := flagwords.Explain(set.Parse([]string{"--for", value}))
		require.True(t, ok)
		require.Equal(t, want, [2]string{say, hint})
	}
}

func TestNumbersAndSwitches(t *testing.T) {
	set := pflag.NewFlagSet("x", pflag.ContinueOnError)
	set.Int("cols", 0, "")
	set.Uint64("rev", 0, "")
	set.Bool("plain", false, "")
	set.Float64("speed", 1, "")
	for arg, want := range map[string][2]string{
		"--cols=x":    {`--cols "x": not a whole number`, "use digits, as in --cols 100"},
		"--cols=1.5":  {`--cols "1.5": not a whole number`, "use digits, as in --cols 100"},
		"--rev=-1":    {`--rev "-1": not a whole number from 0 up`, "use digits, as in --rev 100"},
		"--speed=x":   {`--speed "x": not a number`, "use digits, as in --speed 1.5"},
		"--plain=yes": {"--plain=yes: neither true nor false", "write --plain alone, or leave it out"},
	} {
		say, hint, ok := flagwords.Explain(set.Parse([]string{arg}))
		require.True(t, ok, arg)
		require.Equal(t, want, [2]string{say, hint})
	}
	set.String("title", "", "until the title has `TEXT`")
	for name, want := range map[string]string{"title": "TEXT", "cols": "INT"} {
		say, hint, ok := flagwords.Explain(set.Parse([]string{"--" + name}))
		require.True(t, ok)
		require.Equal(t, "--"+name+": missing value", say)
		require.Equal(t, "write --"+name+" "+want, hint)
	}
	for _, err := range []error{set.Parse([]string{"--no"}), errors.New("x"), nil} {
		_, _, ok := flagwords.Explain(err)
		require.False(t, ok)
	}
}

func TestSimilarFlags(t *testing.T) {
	set := pflag.NewFlagSet("x", pflag.ContinueOnError)
	set.Bool("agent", false, "")
	set.Bool("agents-may-approve", false, "")
	set.String("grant", "", "")
	set.Bool("secret", false, "")
	require.NoError(t, set.MarkHidden("secret"))
	for arg, want := range map[string]string{
		"--agents": "--agent", "--agnet": "--agent", "-agent": "--agent", "--gran=type": "--grant",
		"--nope": "", "-a": "", "--agents-may": "--agents-may-approve", "--secrt": "", "--": "",
	} {
		require.Equal(t, want, flagwords.FindSimilar(set.Parse([]string{arg}), set), arg)
	}
}
