package stdio

import (
	"os"
	"slices"
	"strings"
)

// agentVariables are set by a coding agent in whose terminal we may run. Another agent that
// inherits them would take itself for that one.
var agentVariables = []string{
	"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
	"CLAUDE_CODE_SSE_PORT", "CLAUDE_PID", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE",
}

// Environment returns our environment, without agentVariables, and more. The last value of a name
// counts.
func Environment(more ...string) []string {
	return append(DropAgentVariables(os.Environ()), more...)
}

// DropAgentVariables removes agentVariables from an environment in place.
func DropAgentVariables(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(agentVariables, name)
	})
}

// ShortenText shortens an agent's text for a notice.
func ShortenText(s string) string {
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "..."
	}
	return s
}
