package requests

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatGivesAQuestionUpR26(t *testing.T) {
	for names, want := range map[string]bool{
		"ctrl-c": true, "ctrl-d": true, "ctrl-c ctrl-d": true, "ctrl-c ctrl-c": true,
		"": false, "c": false, "ctrl-c enter": false, "ctrl-z": false, "ctrl-alt-c": false, "no-such-key": false, "enter": false,
	} {
		require.Equal(t, want, onlyInterrupts(names), names)
	}
}
