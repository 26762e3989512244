package notice_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/display/notice"
)

// An agent's words on the screen cannot end early, hide anything or look like another row.
func TestWordsAreOneLineR46(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                          "plain",
		"a” Ctrl+G gives it · “":         "a' ctrl-G gives it . '",
		"CTRL + G, cTrL+\\":              "ctrl-G, ctrl-\\", // R72: not as the proxy writes keys
		"a\r\n\tb   c":                   "a b c",
		"a\u2800\u2800\u2800b":           "a b",
		"a\u3000\u00a0\u2003b":           "a b",
		"\x1b[2J\x1b]0;t\ared\u009b1m":   "red",
		"\u202eevil\u200b\U000e0041":     "evil",
		"\u200b":                         "",
		strings.Repeat("x", 400):         strings.Repeat("x", 301) + "…",
		strings.Repeat(" x", 2) + "\x00": "x x",
	} {
		require.Equal(t, want, notice.Message(text), "%q", text)
	}
}

func TestSpan(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"10m": 10 * time.Minute, "45s": 45 * time.Second, "1h": time.Hour, "1h30m": 90 * time.Minute, "1h0m5s": time.Hour + 5*time.Second,
		"2m30s": 150 * time.Second, "0s": 0, "20m": 20*time.Minute - time.Millisecond, "10h": 10 * time.Hour,
	} {
		require.Equal(t, want, notice.Span(d))
	}
}
