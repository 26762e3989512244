package requests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/view/corpus"
)

// An input that waited while the user typed goes to the prompt that its agent saw, in whatever way
// the user's line ended there, and to no other.
func TestThePromptOfOneShell(t *testing.T) {
	kinds := map[string]line.Prompt{"editor": line.Editor, "cooked": line.Cooked}
	for _, c := range corpus.Rows[struct {
		Name, Kind, Prompt, Left, NowKind, NowLeft string
		Same                                       bool
	}](t, "prompts") {
		saw := glimpse{kind: kinds[c.Kind], prompt: c.Prompt, left: c.Left}
		require.Equal(t, c.Same, saw.isSamePrompt(glimpse{kind: kinds[c.NowKind], left: c.NowLeft}), c.Name)
	}
}

// TestAnAnswerGoesToTheQuestionThatWasSeen plays looks of an agent, keys of the user and output of
// the program, and then an input of the agent.
func TestAnAnswerGoesToTheQuestionThatWasSeen(t *testing.T) {
	const (
		looks    = "agent looks"
		types    = "user types"
		computes = "program computes"
		waits    = "program waits"
	)
	for name, c := range map[string]struct {
		steps   []string // others are output of the program
		refused bool
	}{
		"seen before the program reads": {
			[]string{waits, "Go on? ", looks, types, computes, "\r\nHost name: ", looks, waits}, false,
		},
		"another question": {[]string{waits, "Go on? ", looks, types, "\r\nHost name: "}, true},
		"another question after a look at a busy program": {
			[]string{types, computes, "Host name: ", looks, waits, "\r\nDelete all? "}, true,
		},
		"the program's own next question": {
			[]string{types, waits, "Host name: ", looks, computes, looks, waits, "\r\nPort: "}, false,
		},
		"a screen that was never seen": {[]string{types, computes, "Host name: "}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(nil)
			for _, step := range c.steps {
				switch step {
				case looks:
					s.waits.seen.noteSeen("ada")
				case types:
					s.Tracker.NoteUserKeys([]byte("y\r"))
				case computes:
					s.blocked = child.Blocked{}
					s.behind = true
				case waits:
					s.blocked = child.Blocked{Group: 7, Reads: true}
					s.behind = false
				default:
					s.Observer.Model().Feed([]byte(step))
				}
			}
			_, err := s.line.checkSeen(s.waits.seen.lastGlimpse("ada"), true)
			require.Equal(t, c.refused, err != nil, "%v", err)
		})
	}
}
