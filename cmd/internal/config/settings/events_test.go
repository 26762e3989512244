package settings

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/hooks/onevent"
)

func TestRules(t *testing.T) {
	userFile(t, "[proxy]\nagent = true\n[[on]]\nevent = 'asked'\nrun = ['notify-send', 'an agent asks', '']\n\n[[ on ]] # two\nevent = ['exit', 'ended']\nrun = ['/bin/true']\n")
	f, err := User()
	require.NoError(t, err)
	rules, lines, err := f.Rules()
	require.NoError(t, err)
	require.Equal(t, []onevent.Rule{
		{Events: []string{"asked"}, Run: []string{"notify-send", "an agent asks", ""}},
		{Events: []string{"exit", "ended"}, Run: []string{"/bin/true"}},
	}, rules)
	require.Equal(t, []int{3, 7}, lines)
	rules, _, err = (*File)(nil).Rules()
	require.NoError(t, err)
	require.Empty(t, rules)
}

func TestRulesThatAreWrong(t *testing.T) {
	const good = "[[on]]\nevent = 'exit'\nrun = ['true']\n"
	for text, want := range map[string][2]string{
		"[[on]]\nevent = 'aksed'\nrun = ['true']\n":               {`:2: [[on]] event: unknown event "aksed"`, "did you mean: asked"},
		good + "[[on]]\nevent = ['asked', 'x']\nrun = ['true']\n": {`:5: [[on]] event: unknown event "x"`, "the events are: asked, granted, ended, waiting, exit"},
		"[[on]]\nrun = ['true']\n":                                {":1: [[on]] event: must be a text, or a list of texts", "asked, "},
		"[[on]]\nevent = []\nrun = ['true']\n":                    {":2: [[on]] event: must be", ""},
		"[[on]]\nevent = 'exit'\n":                                {":1: [[on]] run: must be a program and its arguments", "no shell"},
		"[[on]]\nevent = 'exit'\nrun = 'rm -rf x'\n":              {":3: [[on]] run: must be a program and its arguments", "as in: run = ["},
		"[[on]]\nevent = 'exit'\nrun = []\n":                      {":3: [[on]] run: must be", ""},
		"[[on]]\nevent = 'exit'\nrun = ['']\n":                    {":3: [[on]] run: must be", ""},
		"[[on]]\nevent = 'exit'\nrun = ['./hook']\n":              {`:3: [[on]] run: "./hook" depends on the directory`, "whole path"},
		"[[on]]\nevent = 'exit'\nrun = [\"a\\u0000\"]\n":          {":3: [[on]] run: must not hold a zero byte", ""},
		"[[on]]\nevent = 'exit'\nrunn = ['true']\n":               {`:3: unknown setting "runn"`, "did you mean: run"},
		"[[on]]\nevent = 'exit'\nrun = ['true']\nshell = true\n":  {`:4: unknown setting "shell"`, "event, run"},
		"[on]\nevent = 'exit'\nrun = ['true']\n":                  {":1: [on]: must be in double brackets: there may be several", "write [[on]]"},
		"on = 1\n":                                                {":1: on: must be a table in double brackets", "[[on]]"},
		strings.Repeat(good, maxRules+1):                          {": on: there are 17, the limit is 16", "several events"},
	} {
		userFile(t, text)
		f, err := User()
		if err == nil {
			_, _, err = f.Rules()
		}
		wrong, ok := errors.AsType[*Error](err)
		require.True(t, ok, text)
		require.Contains(t, wrong.Error(), want[0])
		require.Contains(t, wrong.Hint, want[1], text)
	}
}
