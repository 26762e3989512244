package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// copyProgram puts a copy of an installed program at a path.
func copyProgram(t *testing.T, name, path string) {
	t.Helper()
	found, err := exec.LookPath(name)
	require.NoError(t, err)
	data, err := os.ReadFile(found)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, data, 0o700)) //nolint:gosec // it is executed
}

func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700)) //nolint:gosec // it is executed
}

// The program that policy check names is the one that the kernel shows once it runs, under the name
// that it shows.
func TestPolicyCheckKnowsWhatAScriptBecomes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this reads /proc")
	}
	home := t.TempDir()
	cat := filepath.Join(home, "bin/python3")
	copyProgram(t, "cat", cat)
	for name, c := range map[string]struct {
		path, text, note string
	}{
		"env":               {"bin/tool", "#!/usr/bin/env bash\nread x\n", "tool is a script (#!/usr/bin/env bash)"},
		"an interpreter":    {"bin/tool", "#!/bin/bash\nread x\n", "tool is a script (#!/bin/bash)"},
		"a long name":       {"bin/a-tool-with-a-long-name", "#!/bin/bash\nread x\n", "is a script"},
		"a wrapper":         {"bin/tool", "#!/bin/sh\nexec 2>/dev/null\nexec " + cat + " \"$@\"\n", "tool is a script (#!/bin/sh)"},
		"a renamed wrapper": {"bin/tool", "#!/bin/sh\nexec '" + cat + "'\n", "tool is a script"},
		"a program":         {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := cat
			if c.path != "" {
				path = filepath.Join(home, c.path)
				writeProgram(t, path, c.text)
			}
			program, note, err := findRunning(path, home)
			require.NoError(t, err)
			require.True(t, strings.Contains(note, c.note) && (note == "") == (c.note == ""), note)

			cmd := exec.CommandContext(t.Context(), path)
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer func() { _ = in.Close(); _ = cmd.Wait() }()
			at := "/proc/" + strconv.Itoa(cmd.Process.Pid)
			exe, comm := "", ""
			require.Eventually(t, func() bool {
				exe, _ = os.Readlink(at + "/exe")
				text, _ := os.ReadFile(at + "/comm")
				comm = strings.TrimSpace(string(text))
				return exe == program.Path && comm == program.Names[0]
			}, time.Minute, 5*time.Millisecond, "%s %v, and the kernel shows %s %s", program.Path, program.Names, exe, comm)
		})
	}
}

// A script of any language that calls exec is not taken for its interpreter: a rule for that would
// allow all of its scripts, and not the program. Debian's psql is such a script.
func TestPolicyCheckOfAScriptThatCallsExec(t *testing.T) {
	home := t.TempDir()
	for text, execs := range map[string]bool{
		"#!/usr/bin/perl -w\nexec { $cmd[0] } @cmd;\n":                      true,
		"#!/usr/bin/env python3\nimport os\nos.execvp('cat', ['cat'])\n":    true,
		"#!/usr/bin/env python3\nfrom os import execl as e\ne('/a', 'a')\n": true,
		"#!/usr/bin/env ruby\nexec('cat')\n":                                true,
		"#!/usr/bin/env bash\nexec \"$(pyenv which python3)\" \"$@\"\n":     true,
		"#!/usr/bin/env python3\ndb.execute('x'); executor.submit(f)\n":     false,
		"#!/bin/sh\n# execs nothing\nread x\n":                              false,
	} {
		path := filepath.Join(home, "tool")
		writeProgram(t, path, text)
		target, got := execTarget(path)
		require.Equal(t, execs, got, text)
		require.Empty(t, target, text)
		if execs {
			program, note, err := findRunning(path, home)
			require.NoError(t, err)
			require.Empty(t, program.Path, text)
			require.Contains(t, note, "; it may start another program with exec, which only a run would show")
		}
	}
}

func TestInterpreterOf(t *testing.T) {
	for line, want := range map[string]struct {
		interpreter string
		byEnv       bool
	}{
		"#!/bin/sh": {"/bin/sh", false}, "#! /usr/bin/python3 -u": {"/usr/bin/python3", false},
		"#!/usr/bin/env bash": {"bash", true}, "#!/usr/bin/env -S A=1 node --x": {"node", true},
		"#!": {"/bin/sh", false}, "#!/usr/bin/env": {"/usr/bin/env", false},
	} {
		interpreter, byEnv := interpreterOf(line)
		require.Equal(t, want.interpreter, interpreter, line)
		require.Equal(t, want.byEnv, byEnv, line)
	}
}
