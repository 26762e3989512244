package text

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"terminalproxy/protocol"
)

// ToUser is an agent's message as its user can be shown it: on one line, without what they could not see (SAFETY R47). The
// error is a sentence for the agent.
func ToUser(text string) (string, error) {
	text = OneLine(text)
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", errors.New("the text is empty")
	case n > protocol.MaxShown:
		return "", fmt.Errorf("text is %d characters long; the limit is %d: make it shorter", n, protocol.MaxShown)
	}
	return text, nil
}

// waits say what a message to the user waits for.
var waits = map[protocol.Waiting]string{
	protocol.WaitsForPerson:  "nobody is in front of this terminal; it is shown to the next person who is",
	protocol.WaitsForAnswer:  "a question to them comes first; it is shown after that",
	protocol.WaitsForSecret:  "the program asks them for a password; it is shown after that",
	protocol.WaitsForTurn:    "something else is shown to them; it comes next",
	protocol.WaitsForTitle:   "they want no line over the program; the window's title shows it",
	protocol.WaitsForProgram: "the program is drawing; it is shown after that",
}

// FormatDelivery says what became of a message to the user.
func FormatDelivery(w protocol.Waiting) string {
	why, known := waits[w]
	switch {
	case w == "":
		return "delivered: it is on the user's screen"
	case known:
		return "waiting for the user: " + why
	}
	return "waiting for the user"
}
