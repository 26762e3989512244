package names_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/names"
)

// R72: the name that people read, and whether it may be chosen unchanged.
func TestNamesR72(t *testing.T) {
	for raw, want := range map[string]string{
		"claude":                       "claude",
		"codex-mcp-client":             "Codex",
		"claude-code":                  "Claude Code",
		"Claude-Code":                  "Claude Code",
		"gemini-cli-mcp-client":        "Gemini CLI",
		"copilot-cli":                  "Copilot CLI",
		"my agent 2.0_b":               "my agent 2.0_b",
		"  two \t words ":              "two words",
		"a name that is far too long":  "a name that is far t",
		"an-agent-of-19-chars more":    "an-agent-of-19-chars",
		"claude” Ctrl+G gives it · “x": "agent",
		"Ctrl+G":                       "agent",
		"press F1":                     "agent",
		"PressCtrlG":                   "agent",
		"hit-enter":                    "agent",
		"control":                      "agent",
		"user":                         "agent",
		"The User":                     "The User",
		"you":                          "agent",
		"nobody 2":                     "agent",
		"a\u202eb":                     "a-b",
		"Ärger":                        "rger",
		"小助手":                          "agent",
		"\u0421laude":                  "laude", // the first letter is Cyrillic
		"x/y\\z":                       "x-y-z",
		"":                             "agent",
		"...":                          "agent",
		"express":                      "express",
		"keychain":                     "keychain",
		strings.Repeat("-", 100):       "agent",
	} {
		require.Equal(t, want, names.DisplayName(raw), "%q", raw)
		require.Equal(t, want, names.DisplayName(want), "%q again", raw)
		require.Equal(t, want == "agent", names.NameFault(want) != "", "%q", want)
	}
}

// R72: a chosen name that would be changed is refused.
func TestAFaultInWordsR72(t *testing.T) {
	for raw, want := range map[string]string{
		"claude": "", "codex-mcp-client": "", "a b": "",
		"": "1 to 20", " a": "1 to 20", "a.": "1 to 20", "ä": "1 to 20", "a\nb": "1 to 20", strings.Repeat("x", 21): "1 to 20", "a/b": "1 to 20",
		"Ctrl-G": "for a key", "press any key": "for a key", "user": "someone else",
	} {
		if want == "" {
			require.Empty(t, names.NameFault(raw), raw)
		} else {
			require.Contains(t, names.NameFault(raw), want, raw)
		}
	}
}

// R72: two agents of one name are told apart, and each keeps its name as long as it stays.
func TestTwoOfOneNameR72(t *testing.T) {
	var b names.Book
	require.Equal(t, "Claude Code", b.AssignName("a", "claude-code"))
	require.Equal(t, "Claude Code 2", b.AssignName("b", "claude-code"))
	require.Equal(t, "CLAUDE CODE 3", b.AssignName("c", "CLAUDE CODE"), "capitals make no difference to people")
	require.Equal(t, "Claude Code", b.AssignName("a", "claude-code"))
	require.Equal(t, "Claude Code 2", b.AssignName("b", "claude-code"))
	require.Equal(t, "Claude Code 2 2", b.AssignName("d", "Claude Code 2"), "nor does a number that it chose itself")
	b.NoteGone("a")
	require.Equal(t, "Claude Code", b.AssignName("e", "claude-code"), "a new one, as the user started it again")
	require.Equal(t, "Claude Code 4", b.AssignName("a", "claude-code"), "it is there after all, and its name is not")
	require.Equal(t, "Claude Code 4", b.AssignName("a", "claude-code"))
	b.NoteGone("a")
	require.Equal(t, "Claude Code 4", b.AssignName("a", "claude-code"))
	require.Equal(t, "codex", b.AssignName("a", "codex"), "it calls itself something else")
	b.NoteGone("nobody")
}

func TestTheBookIsBounded(t *testing.T) {
	var b names.Book
	for i := range 600 {
		require.LessOrEqual(t, len(b.AssignName(fmt.Sprint(i), "x")), len("x 257"), "the oldest is forgotten")
	}
}
