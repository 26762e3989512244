package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// The frame of an answer is a moment younger than the wait's end: neither may lend the other its
// certainty.
func TestMetKeepsGuessesApart(t *testing.T) {
	frame := func(a protocol.Activity) *protocol.Frame { a.Foreground = "ssh"; return &protocol.Frame{Activity: &a} }
	fact, guess := protocol.Activity{State: "waiting", Evidence: []string{"tty-read"}}, protocol.Activity{State: "busy", Guess: "relay"}
	const guessed = "guess: ssh passes input on, and the program behind it is not seen"
	for _, c := range []struct {
		name, matched string
		frame         *protocol.Frame
		want          string
	}{
		{"a fact", "waiting", frame(fact), "reads the terminal"},
		{"a guess", "waiting (guess: relay)", frame(guess), guessed},
		{"a guess, a fact by now", "waiting (guess: relay)", frame(fact), guessed},
		{"a guess, and busy again", "waiting (guess: relay)", frame(protocol.Activity{State: "busy"}), guessed},
		{"a fact, a guess by now", "waiting", frame(guess), ""},
		{"a fact, and busy again", "waiting", frame(protocol.Activity{State: "busy"}), ""},
		{"no frame", "waiting (guess: sleeping)", nil, "guess: the program sleeps, and the system does not say on what"},
		{"a frame that does not say how", "waiting", &protocol.Frame{}, ""},
	} {
		require.Equal(t, c.want, text.FormatMatch(&protocol.WaitResult{Met: true, Matched: c.matched, Frame: c.frame}), c.name)
	}
}
