package notice

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/acarl005/stripansi"

	"terminalproxy/protocol"
)

// MessageMost bounds a message that the user reads, in characters.
const MessageMost = protocol.MaxShown

// Person names a remote person for the user.
func Person(name string) string {
	if name = unquote.Replace(Clean(name, 32)); name == "" {
		return "somebody"
	}
	return name
}

// Recipient names the agent that a message of the user is for; "" is the next one that connects.
func Recipient(name string) string {
	if name == "" {
		return "the next agent"
	}
	return name
}

// Reason returns an agent's own words for the user: between quotation marks, which they cannot end,
// on one line, and without text that looks like the proxy's own hints.
func Reason(text string) string { return Foreign(text, 200) }

// Foreign is [Reason] for a text of at most most characters.
func Foreign(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	return hideHints(unquote.Replace(Clean(text, most)))
}

// Message returns a message for the user: on one line, without invisible or blank-looking
// characters, between quotation marks that it cannot end. "" is a message without anything to read.
// Too long a message is longer than [MessageMost] here, too.
func Message(text string) string {
	text = protocol.Visible(
		strings.NewReplacer("\r", " ", "\u2800", " ").Replace(stripansi.Strip(text)),
	)
	return hideHints(unquote.Replace(Clean(strings.Join(strings.Fields(text), " "), MessageMost+1)))
}

// ctrl matches a key in the proxy's notation.
var ctrl = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)ctrl\s*\+\s*`) })

// hideHints rewrites keys and separators so that an agent's text about keys does not look like the
// end of the proxy's line.
func hideHints(text string) string {
	return ctrl().ReplaceAllString(strings.ReplaceAll(text, "·", "."), "ctrl-")
}

// unquote replaces quotation marks in text that will stand between “ and ”.
var unquote = strings.NewReplacer("“", "'", "”", "'", "„", "'", "‟", "'", `"`, "'")

// Span formats a duration without the units that are zero: 10m, 1h30m, 45s.
func Span(d time.Duration) string {
	text := d.Round(time.Second).String()
	if rest, ok := strings.CutSuffix(text, "m0s"); ok {
		text = rest + "m"
	}
	if rest, ok := strings.CutSuffix(text, "h0m"); ok {
		text = rest + "h"
	}
	return text
}
