package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Step is a line of a script: an action, and the state that must follow.
type Step struct {
	Line  string   // as written in the file
	Words []string // without escapes
	Wants []Want
}

// Want is a condition after a step: a word, or the value of a name (name=value).
type Want struct{ Name, Value string }

// Arg returns word n of a step, "" if it was left out.
func (s Step) Arg(n int) string {
	if n >= len(s.Words) {
		return ""
	}
	return s.Words[n]
}

// Option returns the value of the word name=value, "" if the step has no such word.
func (s Step) Option(name string) string {
	for _, w := range s.Words {
		if value, ok := strings.CutPrefix(w, name+"="); ok {
			return value
		}
	}
	return ""
}

// Plays runs each script of testdata/name.txt in a subtest. A script begins with "# " and the
// promise that it proves. Its lines are steps: words separated by blanks, and the wanted conditions
// after "->". A comment follows "// ".
func Plays(t *testing.T, name string, play func(t *testing.T, steps []Step)) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	require.NoError(t, err)
	for _, script := range strings.Split("\n"+string(data), "\n# ")[1:] {
		promise, lines, _ := strings.Cut(script, "\n")
		var steps []Step
		wanted := 0
		for _, line := range strings.Split(lines, "\n") {
			code, _, _ := strings.Cut(line, "// ")
			action, wants, _ := strings.Cut(code, "->")
			if action = strings.TrimSpace(action); action == "" {
				continue
			}
			step := Step{Line: line}
			for _, w := range strings.Fields(action) {
				step.Words = append(step.Words, mustUnescape(t, w))
			}
			for _, w := range strings.Fields(wants) {
				name, value, named := strings.Cut(mustUnescape(t, w), "=")
				if !named {
					name, value = "", name
				}
				step.Wants = append(step.Wants, Want{name, value})
			}
			steps = append(steps, step)
			wanted += len(step.Wants)
		}
		require.NotZero(t, wanted, "%s: nothing is wanted", promise)
		t.Run(promise, func(t *testing.T) { play(t, steps) })
	}
}

func mustUnescape(t *testing.T, field string) string {
	t.Helper()
	s, err := unescape(field)
	require.NoError(t, err, field)
	return s
}
