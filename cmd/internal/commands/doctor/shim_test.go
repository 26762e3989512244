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

	"terminalproxy/cmd/internal/cli/clitest"
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
	cat := filepath.Join(home, ".pyenv/versions/3.12/bin/python3")
	copyProgram(t, "cat", cat)
	writeProgram(t, filepath.Join(home, ".pyenv/bin/pyenv"), "#!/bin/sh\n[ \"$1 $2\" = 'which python3' ] && echo "+cat+"\n")
	manager := "#!/usr/bin/env bash\nset -e\nprogram=${0##*/}\nexec \"$(" + home + "/.pyenv/bin/pyenv which $program)\" \"$@\"\n"
	for name, c := range map[string]struct {
		path, text, note string
	}{
		"a shim":            {".pyenv/shims/python3", manager, "python3 is a shim of pyenv ("},
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
			program, note, err := findRunning(t.Context(), path, home)
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

// A shim whose program cannot be known matches no [[allow]].
func TestPolicyCheckOfAnUnknownShim(t *testing.T) {
	clitest.Isolate(t)
	home := t.TempDir()
	shim := filepath.Join(home, ".asdf/shims/node")
	writeProgram(t, shim, "#!/usr/bin/env bash\nexec asdf exec node \"$@\"\n")
	t.Setenv("PATH", filepath.Dir(shim)+":"+os.Getenv("PATH"))
	clitest.Configure(t, "[[allow]]\nagent = 'claude'\nprogram = 'node'\n")
	require.Zero(t, clitest.Command(t, "token", "create", "claude", "--local").Status)
	got := clitest.Command(t, "policy", "check", "claude", "node", "--level", "type")
	require.Zero(t, got.Status, got.Err)
	require.Contains(t, got.Out, "asks: you decide\n  config.toml:1: is for program node, and the running program is unknown\n")
	require.Contains(t, got.Out, "note: node is a shim of asdf ("+shim+"), and a rule for node names the shim; the program that it starts is unknown: asdf which node: ")

	outer := filepath.Join(home, "bin/outer")
	writeProgram(t, outer, "#!/bin/sh\nexec "+shim+" exec\n")
	_, note, err := findRunning(t.Context(), outer, home)
	require.NoError(t, err)
	require.Contains(t, note, "it becomes the script "+shim)

	copyProgram(t, "cat", filepath.Join(home, "installs/node"))
	writeProgram(t, filepath.Join(home, ".asdf/bin/asdf"), "#!/bin/sh\necho "+home+"/installs/node\n")
	got = clitest.Command(t, "policy", "check", "claude", "node", "--level", "type")
	require.Contains(t, got.Out, "asks: you decide\n")
	require.Contains(t, got.Out, `At run time the program is `+home+`/installs/node: write program = "`+home+`/installs/node"`)
	clitest.Configure(t, "[[allow]]\nagent = 'claude'\nprogram = '"+home+"/installs/node'\n")
	require.Contains(t, clitest.Command(t, "policy", "check", "claude", "node", "--level", "type").Out, "allows: claude gets type")
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
		"#!/usr/bin/env python3\ndb.execute('x'); executor.submit(f)\n":     false,
		"#!/bin/sh\n# execs nothing\nread x\n":                              false,
	} {
		path := filepath.Join(home, "tool")
		writeProgram(t, path, text)
		target, got := execTarget(path)
		require.Equal(t, execs, got, text)
		require.Empty(t, target, text)
		if execs {
			program, note, err := findRunning(t.Context(), path, home)
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
