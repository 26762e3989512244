package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Step is a line of a play: what happens, and what is so afterwards.
type Step struct {
	Line  string   // as it stands in the file
	Words []string // with the escapes of Go undone
	Wants []Want
}

// Want is what a step says to be so: a word, or the value of what has a name (name=value).
type Want struct{ Name, Value string }

// Arg is word n of a step, "" for one that is left out.
func (s Step) Arg(n int) string {
	if n >= len(s.Words) {
		return ""
	}
	return s.Words[n]
}

// Option is the value of the word name=value, "" where there is none.
func (s Step) Option(name string) string {
	for _, w := range s.Words {
		if value, ok := strings.CutPrefix(w, name+"="); ok {
			return value
		}
	}
	return ""
}

// Plays has the plays of testdata/name.txt played, each in a test of its own. A play begins with "# " and the promise that it is
// about. Its lines are steps: words apart by blanks, and what is wanted behind "->". What stands behind "//" says why.
func Plays(t *testing.T, name string, play func(t *testing.T, steps []Step)) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	require.NoError(t, err)
	for _, one := range strings.Split("\n"+string(data), "\n# ")[1:] {
		promise, lines, _ := strings.Cut(one, "\n")
		var steps []Step
		wanted := 0
		for _, line := range strings.Split(lines, "\n") {
			says, _, _ := strings.Cut(line, "// ")
			does, wants, _ := strings.Cut(says, "->")
			if does = strings.TrimSpace(does); does == "" {
				continue
			}
			step := Step{Line: line}
			for _, w := range strings.Fields(does) {
				step.Words = append(step.Words, unescaped(t, w))
			}
			for _, w := range strings.Fields(wants) {
				name, value, named := strings.Cut(unescaped(t, w), "=")
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

func unescaped(t *testing.T, says string) string {
	t.Helper()
	s, err := text(says)
	require.NoError(t, err, says)
	return s
}
