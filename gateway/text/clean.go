package text

import (
	"fmt"
	"strings"

	"terminalproxy/protocol"
)

// Clean is [protocol.Visible], for text from a proxy that need not have done so.
func Clean(s string) string { return protocol.Visible(s) }

// OneLine is [Clean] with all white space as single blanks.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Sentence is what an agent tells the user in passing, a reason or a note, on one line and without what they could not see
// (SAFETY R47). name is the parameter's, for the error.
func Sentence(name, s string) (string, error) {
	s = OneLine(s)
	if len(s) > protocol.MaxReason {
		return "", fmt.Errorf("%s is %d bytes long; the limit is %d: make it shorter", name, len(s), protocol.MaxReason)
	}
	return s, nil
}
