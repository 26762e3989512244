package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

func TestTheTextSaysWhoAnswersAPasswordPrompt(t *testing.T) {
	for _, c := range []struct {
		w    protocol.Hidden
		want string
	}{
		{protocol.Hidden{Secret: protocol.SecretHard}, "a password is being asked for: the user answers it, and the answer is not shown"},
		{protocol.Hidden{Secret: protocol.SecretSoft}, "a password is being asked for, it seems: the user answers it, and the answer is not shown"},
		{protocol.Hidden{Secret: protocol.SecretSoft, Unattended: true}, "a password is being " +
			"asked for, it seems, and no person is at this terminal to answer: the user does " +
			"that with gateway attach and the terminal's id; the keys ctrl-c or ctrl-d give the " +
			"question up, and closing the terminal ends the program"},
	} {
		c.w.Why = protocol.BlackoutPassword
		require.Equal(t, c.want, text.Hidden(&c.w))
	}
}
