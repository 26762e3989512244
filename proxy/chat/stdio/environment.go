package stdio

import (
	"os"
	"slices"
	"strings"
)

// outer are variables of a coding agent in whose terminal we may run: they make another one believe that it is that one.
var outer = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_PID"}

// Environment is ours for a coding agent, and more. What counts is what comes last.
func Environment(more ...string) []string {
	return append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(outer, name)
	}), more...)
}

// Short is text of an agent's that may be of any length, for a notice.
func Short(s string) string {
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "..."
	}
	return s
}
