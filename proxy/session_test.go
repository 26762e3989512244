package proxy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/view/observer"
)

func TestTheCommandLineR28(t *testing.T) {
	claim := "sk-" + "ant-api03-" + strings.Repeat("Qz7-", 20)
	s := &session{
		observer:     observer.New(observer.Config{Cols: 20, Rows: 4}),
		surroundings: surroundings{conf: Config{Args: []string{"-H", "Authorization: Bearer " + claim, "x"}}},
	}
	require.Equal(t, []string{"-H", "Authorization: Bearer " + strings.Repeat("•", len(claim)), "x"}, s.shownArguments())
}

// A secret in a separate argument is recognised by the flag before it.
func TestTheValueOfAFlagR28(t *testing.T) {
	for _, tt := range []struct {
		line   string
		masked string // "" for nothing
	}{
		{"psql --password hunter2hunter2", "hunter2hunter2"},
		{"psql --password=hunter2hunter2", "hunter2hunter2"},
		{"tool --api-key hunter2hunter2 --verbose", "hunter2hunter2"},
		{"tool --token hunter2hunter2 file", "hunter2hunter2"},
		{"/usr/bin/curl -u ada:hunter2hunter2 https://host", "hunter2hunter2"},
		{"tool --password --verbose", ""},
		{"tool --name ada file", ""},
		{"tool password hunter2hunter2", ""},
	} {
		words := strings.Fields(tt.line)
		s := &session{observer: observer.New(observer.Config{Cols: 20, Rows: 4}), surroundings: surroundings{conf: Config{Command: words[0], Args: words[1:]}}}
		got := words[0] + " " + strings.Join(s.shownArguments(), " ")
		if tt.masked == "" {
			require.Equal(t, tt.line, got)
			continue
		}
		require.NotContains(t, got, tt.masked, tt.line)
		require.Equal(t, strings.Count(tt.line, " "), strings.Count(got, " "), tt.line)
		require.Contains(t, got, "•", tt.line)
	}
}
