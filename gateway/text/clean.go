package text

import (
	"fmt"
	"strings"

	"terminalproxy/protocol"
)

// Clean is [protocol.Visible], for text from a proxy that may not have cleaned it.
func Clean(s string) string { return protocol.Visible(s) }

// OneLine is [Clean] with all white space as single blanks.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Sentence cleans an agent's short text for the user, a reason or a note: one line, without
// invisible characters (SAFETY R47). name is the parameter's, for the error.
func Sentence(name, s string) (string, error) {
	s = OneLine(s)
	if len(s) > protocol.MaxReason {
		return "", fmt.Errorf("%s is %d bytes long; the limit is %d: make it shorter",
			name, len(s), protocol.MaxReason)
	}
	return s, nil
}
