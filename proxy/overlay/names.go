package overlay

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"terminalproxy/proxy/notice"
)

// PersonName is the name of somebody elsewhere as the user reads it.
func PersonName(name string) string {
	if name = unquote.Replace(notice.Clean(name, 32)); name == "" {
		return "somebody"
	}
	return name
}

// Reason is an agent's own words as the user reads them: between quotation marks, which they cannot end, on one line, and
// without what looks like the proxy's own hints.
func Reason(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return unhint(unquote.Replace(notice.Clean(text, 200)))
}

// ctrl is how the proxy begins to write a key.
var ctrl = regexp.MustCompile(`(?i)ctrl\s*\+\s*`)

// unhint writes keys, and what stands between them, in another way than the proxy does: what an agent says about keys does not
// look like the line's own end.
func unhint(text string) string {
	return ctrl.ReplaceAllString(strings.ReplaceAll(text, "·", "."), "ctrl-")
}

// unquote makes text fit to stand between “ and ”.
var unquote = strings.NewReplacer("“", "'", "”", "'", "„", "'", "‟", "'", `"`, "'")

// lasts is a time limit as the user reads it: 10 min, 1 h 30 min, 45 s.
func lasts(d time.Duration) string {
	d = d.Round(time.Second)
	var parts []string
	for _, part := range []struct {
		n    time.Duration
		unit string
	}{{d / time.Hour, " h"}, {d % time.Hour / time.Minute, " min"}, {d % time.Minute / time.Second, " s"}} {
		if part.n > 0 {
			parts = append(parts, strconv.Itoa(int(part.n))+part.unit)
		}
	}
	if parts == nil {
		return "0 s"
	}
	return strings.Join(parts, " ")
}

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

// KeyLabel writes a key's name as people do: ctrl-\ is Ctrl+\.
func KeyLabel(name string) string {
	rest, ok := strings.CutPrefix(name, "ctrl-")
	if !ok {
		return name
	}
	return "Ctrl+" + strings.ToUpper(rest)
}
