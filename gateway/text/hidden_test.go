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
		{protocol.Hidden{Secret: protocol.SecretHard}, "a password is being asked: the user answers it, and what is typed is not shown"},
		{protocol.Hidden{Secret: protocol.SecretSoft}, "a password is being asked, as far as one can tell: the user answers it, and what is typed is not shown"},
		{protocol.Hidden{Secret: protocol.SecretSoft, Unattended: true}, "a password is being asked, as far as one can tell, and nobody sits in front of this terminal to answer it: " +
			"the user does that with gateway attach and the terminal's id; the keys ctrl-c or ctrl-d give the question up, and closing the terminal ends the program"},
	} {
		c.w.Why = protocol.BlackoutPassword
		require.Equal(t, c.want, text.Hidden(&c.w))
	}
}
