package text

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"terminalproxy/protocol"
)

// ToUser cleans an agent's message for its user: one line, without invisible characters (SAFETY
// R47). The error is a sentence for the agent.
func ToUser(text string) (string, error) {
	text = OneLine(text)
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", errors.New("the text is empty")
	case n > protocol.MaxShown:
		return "", fmt.Errorf("text is %d characters long; the limit is %d: make it shorter",
			n, protocol.MaxShown)
	}
	return text, nil
}

// deliveryWait says why a message to the user is not shown yet, "" if unknown.
func deliveryWait(w protocol.Waiting) string {
	switch w {
	case protocol.WaitsForPerson:
		return "no person is at this terminal; the next one will see it"
	case protocol.WaitsForAnswer:
		return "a question to them comes first; it is shown after that"
	case protocol.WaitsForSecret:
		return "the program asks them for a password; it is shown after that"
	case protocol.WaitsForTurn:
		return "something else is shown to them; it comes next"
	case protocol.WaitsForTitle:
		return "they want no line over the program; the window's title shows it"
	case protocol.WaitsForProgram:
		return "the program is drawing; it is shown after that"
	default:
		return ""
	}
}

// FormatDelivery says whether a message to the user was shown, and otherwise why not yet.
func FormatDelivery(w protocol.Waiting) string {
	if w == "" {
		return "delivered: it is on the user's screen"
	}
	if why := deliveryWait(w); why != "" {
		return "waiting for the user: " + why
	}
	return "waiting for the user"
}
