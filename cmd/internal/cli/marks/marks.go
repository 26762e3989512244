// Package marks provides the lines with which a shell marks where its commands begin and end.
package marks

import (
	"embed"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"terminalproxy/protocol"
)

//go:embed marks.*sh
var markFiles embed.FS

// plainBash are the arguments with which bash remains an interactive shell.
var plainBash = []string{"-i", "-l", "--login", "--norc", "--noprofile"}

// MarkStart makes bash evaluate the snippet before its first prompt, after its start files, and
// then removes its own variables. If the start files set PROMPT_COMMAND, there are no marks.
const MarkStart = `eval "${__marks_start-}"`

// Env returns the environment that makes a bash started by an agent mark its commands, or nil for
// another program.
func Env(m *protocol.ProxyStart) []string {
	before := os.Getenv("PROMPT_COMMAND")
	plain := !slices.ContainsFunc(m.Args, func(arg string) bool {
		return !slices.Contains(plainBash, arg)
	})
	given := slices.ContainsFunc(m.Env, func(e string) bool {
		return strings.HasPrefix(e, "PROMPT_COMMAND=")
	})
	if filepath.Base(m.Command) != "bash" || !plain || given ||
		strings.Contains(before, MarkStart) {
		return nil
	}
	snippet, _ := Snippet("bash")
	if before != "" {
		before += "\n"
	}
	return []string{
		"PROMPT_COMMAND=" + before + MarkStart,
		"__marks_start=export -n PROMPT_COMMAND __marks_start\n[[ $PROMPT_COMMAND != '" +
			MarkStart + "' || $(readonly -p) == *' PROMPT_COMMAND='* ]] || unset PROMPT_COMMAND\n" +
			snippet + "[[ -z ${__marks_id-} ]] || __marks_wrap\nunset __marks_start",
	}
}

// Snippet returns the snippet for a shell, by its name.
func Snippet(shell string) (string, bool) {
	snippet, err := markFiles.ReadFile("marks." + shell)
	return string(snippet), err == nil
}
