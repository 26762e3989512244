package place

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// maxProcess is how much of a command line is said, in characters.
const maxProcess = 60

// Process is the one at the other end of a Unix socket, as the kernel noted it when it dialled or began to listen.
type Process struct {
	Pid  int    // 0 when it is not known
	line string // the command line, "" when it is not known
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

// Resume says how a stopped process is continued. A shell that it was started from has to do that: as a job in the background
// it would stop again at the first touch of the terminal.
func (p Process) Resume() string {
	return fmt.Sprintf("(to continue it: fg in its shell, else kill -CONT %d)", p.Pid)
}

// commandLine makes one line of a program's arguments.
func commandLine(args []string) string {
	if len(args) == 0 || args[0] == "" {
		return ""
	}
	line := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(strings.Join(append([]string{filepath.Base(args[0])}, args[1:]...), " "), "?"))
	line = strings.Join(strings.Fields(line), " ")
	if r := []rune(line); len(r) > maxProcess {
		line = string(r[:maxProcess-1]) + "…"
	}
	return line
}
