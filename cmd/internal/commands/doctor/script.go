package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"terminalproxy/proxy/consent/policy"
)

// findRunning returns the program that has the terminal after name was started in a directory. A
// script starts another one; note describes that. An unknown program has a name and no file: no
// [[allow]] matches it.
func findRunning(name, directory string) (program policy.Program, note string, err error) {
	program, err = policy.FindProgram(name, directory)
	if err != nil {
		return program, "", err
	}
	unknown := policy.Program{Names: program.Names, Directory: program.Directory}
	base := filepath.Base(name)
	line := policy.InterpreterLine(program.Path)
	if line == "" {
		return program, "", nil
	}
	note = base + " is a script (" + line + "), and a rule for " + base + " names the script"
	interpreter, byEnv := interpreterOf(line)
	switch target, execs := execTarget(program.Path); {
	case target != "" && policy.InterpreterLine(target) != "":
		return unknown, note + "; it becomes the script " + target, nil
	case target != "":
		program, note = runAs(program, target, target, note)
	case execs:
		return unknown, note + "; it may start another program with exec, which only a run would show", nil
	case byEnv:
		program, note = runAs(program, interpreter, interpreter, note)
	default:
		program, note = runAs(program, interpreter, base, note)
	}
	return program, note, nil
}

// runAs returns the program at path as the kernel shows it under a name.
func runAs(script policy.Program, path, name, note string) (policy.Program, string) {
	program, err := policy.FindProgram(path, script.Directory)
	if err != nil {
		return policy.Program{Names: script.Names, Directory: script.Directory},
			note + "; the program that it starts is unknown: " + err.Error()
	}
	program.Names[0] = filepath.Base(name)[:min(len(filepath.Base(name)), 15)] // proc(5), comm
	return program, note + ". At run time the program is " + program.Path +
		`: write program = "` + program.Path + `"`
}

// interpreterOf returns the interpreter that the first line of a script names, and whether env(1)
// finds it.
func interpreterOf(line string) (interpreter string, byEnv bool) {
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if len(words) == 0 {
		return "/bin/sh", false // shells run such files themselves
	}
	if filepath.Base(words[0]) != "env" {
		return words[0], false
	}
	isOption := func(word string) bool {
		return strings.HasPrefix(word, "-") || strings.Contains(word, "=")
	}
	rest := slices.DeleteFunc(words[1:], isOption)
	if len(rest) == 0 {
		return words[0], false
	}
	return rest[0], true
}

// maxScript bounds how much of a script is read, in bytes.
const maxScript = 64 << 10

// execLine matches a line of a shell's script that gives its process to another program.
var execLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*exec\s+(?:-a\s+\S+\s+)?(?:--\s+)?["']?([^\s"']+)`)
})

// execCall matches the call of another language that gives its process to another program: exec of
// perl and ruby, and those of Python's os, with the names of exec(3).
var execCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bexec(?:[lv]p?e?)?\b`)
})

// execTarget returns the program that a script becomes with exec, if it is a shell's and names one
// program by its whole path. execs reports whether it becomes any.
func execTarget(path string) (target string, execs bool) {
	file, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer func() { _ = file.Close() }()
	text := make([]byte, maxScript)
	n, _ := file.Read(text)
	interpreter, _ := interpreterOf(policy.InterpreterLine(path))
	if !strings.HasSuffix(interpreter, "sh") {
		return "", execCall().Match(text[:n])
	}
	for _, m := range execLine().FindAllSubmatch(text[:n], -1) {
		word := string(m[1])
		if strings.ContainsAny(word[:1], "<>&|;") || word[0] >= '0' && word[0] <= '9' {
			continue // a redirection of the script's own streams
		}
		if execs && word != target || !filepath.IsAbs(word) || strings.ContainsAny(word, "$`*?") {
			return "", true
		}
		target, execs = word, true
	}
	return target, execs
}
