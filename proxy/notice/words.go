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

// Person is the name of somebody elsewhere as the user reads it.
func Person(name string) string {
	if name = unquote.Replace(Clean(name, 32)); name == "" {
		return "somebody"
	}
	return name
}

// Recipient names the agent that a message of the user's is for, "" being the next one that comes.
func Recipient(name string) string {
	if name == "" {
		return "the next agent"
	}
	return name
}

// Reason is an agent's own words as the user reads them: between quotation marks, which they cannot end, on one line, and
// without what looks like the proxy's own hints.
func Reason(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return unhint(unquote.Replace(Clean(text, 200)))
}

// Message is a message as the user reads it: on one line, without what cannot be seen or looks like nothing, between
// quotation marks that it cannot end. "" is one that holds nothing to read; one that is too long is longer than
// [MessageMost] here, too.
func Message(text string) string {
	text = protocol.Visible(strings.NewReplacer("\r", " ", "\u2800", " ").Replace(stripansi.Strip(text)))
	return unhint(unquote.Replace(Clean(strings.Join(strings.Fields(text), " "), MessageMost+1)))
}

// ctrl is how the proxy begins to write a key.
var ctrl = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)ctrl\s*\+\s*`) })

// unhint writes keys, and what stands between them, in another way than the proxy does: what an agent says about keys does not
// look like the line's own end.
func unhint(text string) string {
	return ctrl().ReplaceAllString(strings.ReplaceAll(text, "·", "."), "ctrl-")
}

// unquote makes text fit to stand between “ and ”.
var unquote = strings.NewReplacer("“", "'", "”", "'", "„", "'", "‟", "'", `"`, "'")

// Span is a duration without the units that are zero: 10m, 1h30m, 45s.
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
