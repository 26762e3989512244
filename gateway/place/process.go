package place

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// maxProcess bounds the command line in messages, in characters.
const maxProcess = 60

// Process is the peer of a Unix socket, as the kernel recorded it when it dialled or began to
// listen.
type Process struct {
	Pid  int    // 0 if unknown
	line string // the command line, or ""
}

// String names the process for people.
func (p Process) String() string {
	switch {
	case p.Pid == 0:
		return "a process"
	case p.line == "":
		return fmt.Sprintf("process %d", p.Pid)
	}
	return fmt.Sprintf("`%s` (process %d)", p.line, p.Pid)
}

// Resume says how to continue a stopped process. Preferably the shell that started it does so: as a
// background job it would stop again at its first use of the terminal.
func (p Process) Resume() string {
	return fmt.Sprintf("(to continue it: fg in its shell, else kill -CONT %d)", p.Pid)
}

// commandLine joins a program's arguments into one short line.
func commandLine(args []string) string {
	if len(args) == 0 || args[0] == "" {
		return ""
	}
	words := append([]string{filepath.Base(args[0])}, args[1:]...)
	line := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(strings.Join(words, " "), "?"))
	line = strings.Join(strings.Fields(line), " ")
	if r := []rune(line); len(r) > maxProcess {
		line = string(r[:maxProcess-1]) + "…"
	}
	return line
}
