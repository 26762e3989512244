package text

import (
	"time"

	"terminalproxy/protocol"
)

// Hidden says what the reader cannot see and since when, "" if everything is visible.
func Hidden(w *protocol.Hidden) string {
	switch {
	case w == nil:
		return ""
	case w.ByUser():
		return "the user hid the screen " + hiddenSince(w) +
			" ago: nothing of it is shown until they show it again"
	}
	asked := "a password is being asked for"
	if w.Secret == protocol.SecretSoft {
		asked += ", it seems"
	}
	if w.Unattended {
		return asked +
			", and no person is at this terminal to answer: the user does that with gateway " +
			"attach and the terminal's id; the keys ctrl-c or ctrl-d give the question up, and " +
			"closing the terminal ends the program"
	}
	return asked + ": the user answers it, and the answer is not shown"
}

// hiddenState is the short form of Hidden for a list.
func hiddenState(w *protocol.Hidden) string {
	if w.ByUser() {
		return "hidden " + hiddenSince(w)
	}
	return "password prompt"
}

func hiddenSince(w *protocol.Hidden) string {
	return Span(time.Duration(w.SinceMs) * time.Millisecond)
}
