package requests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/line"
)

// An input that waited while the user typed goes to the prompt that its agent saw, in whatever way
// the user's line ended there, and to no other.
func TestThePromptOfOneShell(t *testing.T) {
	for name, c := range map[string]struct {
		saw, now glimpse
		same     bool
	}{
		"a line editor": {glimpse{kind: line.Editor}, glimpse{kind: line.Editor}, true},
		"its prompt":    {glimpse{kind: line.Cooked, prompt: "$ "}, glimpse{kind: line.Cooked, left: "$ "}, true},
		"typed behind":  {glimpse{kind: line.Cooked, prompt: "$ ", left: "$ ls"}, glimpse{kind: line.Cooked, left: "$ "}, true},
		"twice":         {glimpse{kind: line.Cooked, prompt: "$ "}, glimpse{kind: line.Cooked, left: "$ $ "}, true},
		"a line that Ctrl+C has given up and the shell still shows": {
			glimpse{kind: line.Cooked, prompt: "$ abc", left: "$ abc"}, glimpse{kind: line.Cooked, left: "$ "}, true,
		},
		"another prompt":        {glimpse{kind: line.Cooked, prompt: "$ ", left: "$ "}, glimpse{kind: line.Cooked, left: "Delete? "}, false},
		"nothing":               {glimpse{kind: line.Cooked, prompt: "$ ", left: "$ abc"}, glimpse{kind: line.Cooked}, false},
		"a program of a prompt": {glimpse{kind: line.Cooked, prompt: "$ ", left: "$ "}, glimpse{left: "$ "}, false},
		"two kinds":             {glimpse{kind: line.Editor, left: "$ "}, glimpse{kind: line.Cooked, left: "Delete? "}, false},
	} {
		require.Equal(t, c.same, c.saw.isSamePrompt(c.now), name)
	}
}
