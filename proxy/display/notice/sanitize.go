package notice

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/acarl005/stripansi"

	"terminalproxy/protocol"
)

// MaxMessage bounds a message that the user reads, in characters.
const MaxMessage = protocol.MaxShown

// Person names a remote person for the user.
func Person(name string) string {
	if name = unquote.Replace(Clean(name, 32)); name == "" {
		return "somebody"
	}
	return name
}

// Recipient names the agent that gets a message of the user; "" is the next one that connects.
func Recipient(name string) string {
	if name == "" {
		return "the next agent"
	}
	return name
}

// Reason returns an agent's own words for the user, to be shown between quotation marks, which they
// cannot end: on one line, and without text that looks like the proxy's own hints.
func Reason(text string) string { return Foreign(text, 200) }

// Foreign is [Reason] for a text of at most most characters.
func Foreign(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	return hideHints(unquote.Replace(Clean(text, most)))
}

// Message returns a message for the user, to be shown between quotation marks, which it cannot end:
// on one line, without invisible or blank-looking characters. It is "" if nothing is left to read.
// The result is longer than [MaxMessage] if the message is too long.
func Message(text string) string {
	text = protocol.Visible(
		strings.NewReplacer("\r", " ", "\u2800", " ").Replace(stripansi.Strip(text)),
	)
	return hideHints(unquote.Replace(Clean(strings.Join(strings.Fields(text), " "), MaxMessage+1)))
}

// ctrlKey matches a key in the proxy's notation.
var ctrlKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)ctrl\s*\+\s*`) })

// hideHints rewrites keys and separators so that an agent's text about keys does not look like the
// end of the proxy's line.
func hideHints(text string) string {
	return ctrlKey().ReplaceAllString(strings.ReplaceAll(text, "·", "."), "ctrl-")
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
