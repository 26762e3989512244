package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// module makes a module of these files the working directory.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a b")
	files["go.mod"] = "module m\n\ngo 1.26\n"
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	t.Chdir(dir)
	t.Setenv("SKIP_OK", "")
	t.Setenv("CLIENTS", "")
	t.Setenv("GOFLAGS", "")
}

// setPath leaves only these programs in PATH.
func setPath(t *testing.T, programs ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err != nil {
			path = "/bin/true" // it is only looked for
		}
		require.NoError(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	t.Setenv("PATH", dir)
}

const lookingFor = `package x

import ("os"; "os/exec"; "testing")

func need(t *testing.T, program string) { if _, err := exec.LookPath(program); err != nil { t.Skip(program + " is not installed") } }
func needsRoot(t *testing.T) { if os.Geteuid() != 0 { t.Skip("needs root: to see") } }
func TestOne(t *testing.T) { need(t, "tmux") }
func TestTwo(t *testing.T) { need(t, "tmux"); need(t, "frobnicate") }
func TestFour(t *testing.T) { need(t, "tmux"); need(t, "nvim") }
func TestThree(t *testing.T) { if os.Getenv("CLIENTS") == "" { t.Skip("a client") }; need(t, "nvim") }
func TestRoot(t *testing.T) { needsRoot(t) }
`

func runHere(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var b bytes.Buffer
	err = run(t.Context(), args, &b, &b)
	return b.String(), err
}

func TestARealModule(t *testing.T) {
	module(t, map[string]string{
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
		"b/b_test.go": "package b\n\nimport (\"os\"; \"testing\")\n\nfunc TestB(t *testing.T) { t.Skip(os.Getenv(\"WORD\")) }\n",
		"c/c_test.go": "package c\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) { t.Error(\"bad\") }\n",
		"d/d_test.go": "package d\n\nimport \"testing\"\n\nfunc TestD(t *testing.T) { undefined() }\n",
	})
	out, err := runHere(t, "-trimpath", "./a", "then", "WORD=a word", "./b")
	require.NoError(t, err, out)
	require.Contains(t, out, "ok  \tm/a\t")
	require.True(t, strings.HasSuffix(out, "\nskipped:\n     1  a word\n1 passed, 0 failed, 1 skipped\n"), out)

	out, err = runHere(t, "./a", "beside", "WORD=a word", "./b", "./c", "then", "./d")
	require.ErrorIs(t, err, errFailed)
	_, last, _ := strings.Cut(out, "\nfailed:\n")
	require.Contains(t, last, "c_test.go:5: bad\n--- FAIL: TestC (0.00s)\n")
	require.Contains(t, last, "FAIL\tm/c\t")
	require.Contains(t, last, "undefined: undefined")
	require.True(t, strings.HasSuffix(last, "FAIL\n1 passed, 2 failed, 1 skipped\n"), out)

	out, err = runHere(t, "-timeout=soon", "./a")
	require.ErrorIs(t, err, errFailed)
	_, last, _ = strings.Cut(out, "\nfailed:\n")
	require.Contains(t, last, "soon")
	require.True(t, strings.HasSuffix(last, "go test: exit status 2\nFAIL\n0 passed, 1 failed, 0 skipped\n"), out)

	_, err = runHere(t, "./a", "then", "-race")
	require.ErrorContains(t, err, "no packages")
}

// Failed tests run again, and those that pass are listed as flaky. A data race always fails the run.
func TestFailedTestsRunAgain(t *testing.T) {
	const code = `package %s

import ("fmt"; "os"; "testing")

var _ = fmt.Sprint()

func fails(t *testing.T, name string, times int) {
	seen, _ := os.ReadFile(name)
	os.WriteFile(name, append(seen, '.'), 0o600)
	if len(seen) < times { t.Error("bad", name) }
}
func TestOnce(t *testing.T) { t.Run("one", func(t *testing.T) { fails(t, "once", 1) }); t.Run("two", func(t *testing.T) {}) }
func TestGood(t *testing.T) { fails(t, "good", 0) }
`
	flaky := fmt.Sprintf(code, "flaky")
	module(t, map[string]string{
		"flaky/x_test.go": flaky,
		"bad/x_test.go":   fmt.Sprintf(code, "bad") + `func TestAlways(t *testing.T) { fails(t, "always", 9) }`,
		"race/x_test.go":  fmt.Sprintf(code, "race") + `func TestRace(t *testing.T) { fmt.Println("WARNING: DATA RACE"); fails(t, "race", 1) }`,
		"exit/x_test.go":  fmt.Sprintf(code, "exit") + `func TestZ(t *testing.T) { fails(t, "z", 0); if _, err := os.Stat("ended"); err != nil { os.WriteFile("ended", nil, 0o600); os.Exit(3) } }`,
	})
	out, err := runHere(t, "-again=1", "WORD=kept", "./flaky")
	require.NoError(t, err, out)
	require.Contains(t, out, "\nagain: TestOnce of m/flaky\n")
	_, last, _ := strings.Cut(out, "\nflaky: ")
	require.Contains(t, last, "bad once")
	require.True(t, strings.HasSuffix(last, "\n3 passed, 0 failed, 0 skipped\n"), out)
	good, err := os.ReadFile("flaky/good")
	require.NoError(t, err)
	require.Equal(t, ".", string(good), "what passed does not run again")

	for dir, end := range map[string]string{
		"bad":  "FAIL\n2 passed, 2 failed, 0 skipped\n",
		"race": "FAIL\n2 passed, 2 failed, 0 skipped\n",
		"exit": "FAIL\n2 passed, 1 failed, 0 skipped\n",
	} {
		out, err = runHere(t, "-again=5", "./"+dir)
		require.ErrorIs(t, err, errFailed)
		require.True(t, strings.HasSuffix(out, end), out)
		require.NotContains(t, out, "\nflaky: ")
	}
	require.NoError(t, os.Remove("flaky/once"))
	out, err = runHere(t, "-again=0", "./flaky")
	require.ErrorIs(t, err, errFailed)
	require.NotContains(t, out, "\nagain: ")

	_, err = runHere(t, "-again=few", "./flaky")
	require.ErrorContains(t, err, "-again=few: want the largest number")
}

func TestWhatIsMissingIsPrintedFirst(t *testing.T) {
	module(t, map[string]string{"x_test.go": lookingFor})
	t.Setenv("CC", "gcc")
	setPath(t, "go", "apt")
	root := ""
	rootSkips := "0"
	if os.Geteuid() != 0 {
		root, rootSkips = "root: 1 test will skip: sudo make test-as-root\n", "1"
	}
	first := "tmux: 3 tests will skip: sudo apt install tmux\nfrobnicate: 1 test will skip: sudo apt install frobnicate\n" +
		"nvim: 1 test will skip: sudo apt install neovim\n" + root
	out, err := runHere(t, ".")
	require.ErrorIs(t, err, errFailed)
	require.True(t, strings.HasPrefix(out, first), out)
	require.True(t, strings.HasSuffix(out, "\nfailed:\ntmux: 3 tests will skip: sudo apt install tmux; or set SKIP_OK=1, which accepts that\nFAIL\n"+
		map[string]string{"0": "1 passed, 0 failed, 4 skipped\n", "1": "0 passed, 0 failed, 5 skipped\n"}[rootSkips]), out)
	require.Contains(t, out, "     3  tmux is not installed\n     1  a client\n")

	const compiler = "gcc: no test runs with the race detector: sudo apt install gcc libc6-dev"
	out, err = runHere(t, "CGO_ENABLED=1", "-race", ".")
	require.ErrorIs(t, err, errFailed)
	require.True(t, strings.HasPrefix(out, compiler+"\n"+first), out)
	require.NotContains(t, out, "\tm\t", "no test ran")
	require.Contains(t, out, "\nfailed:\n"+compiler+"; or set SKIP_OK=1")

	out, err = runHere(t, "-run=^TestRoot$", ".")
	require.NoError(t, err, "tmux is not needed: %s", out)
	require.True(t, strings.HasPrefix(out, root+"ok"), out)

	out, err = runHere(t, "CLIENTS=1", "-run=Three", ".")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out, "nvim: 1 test will skip"), out)

	t.Setenv("SKIP_OK", "1")
	out, err = runHere(t, "CGO_ENABLED=1", "-race", ".")
	require.NoError(t, err, out)
	require.True(t, strings.HasPrefix(out, compiler+"\n"+first), out)
	_, end, _ := strings.Cut(out, "\nskipped:\n")
	require.Contains(t, end, compiler)

	setPath(t, "go", "apt", "tmux", "gcc", "nvim", "frobnicate")
	t.Setenv("SKIP_OK", "")
	out, err = runHere(t, ".")
	require.NoError(t, err, out)
	require.True(t, strings.HasPrefix(out, root+"ok  \tm\t"), out)
}

func TestThePatternOfWhatNeedsSomething(t *testing.T) {
	module(t, map[string]string{"x_test.go": lookingFor, "y/y_test.go": lookingFor})
	for need, pattern := range map[string]string{
		"root": "^(TestRoot|TestRoot)$\n", "client": "^(TestThree|TestThree)$\n", "frobnicate": "^(TestTwo|TestTwo)$\n", "mc": "^()$\n",
	} {
		out, err := runHere(t, "-needs", need, ".", "./y")
		require.NoError(t, err)
		require.Equal(t, pattern, out)
	}
	_, err := runHere(t, "-needs", "root", "./nosuch")
	require.ErrorContains(t, err, "nosuch holds no tests")
}

// TestAnInterruptEndsTheTests, also one that ignores it, and what it started.
func TestAnInterruptEndsTheTests(t *testing.T) {
	module(t, map[string]string{
		"s_test.go": `package m

import ("os"; "os/exec"; "os/signal"; "strconv"; "syscall"; "testing"; "time")

func TestStubborn(t *testing.T) {
	signal.Ignore(syscall.SIGINT)
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil { t.Fatal(err) }
	os.WriteFile("pids.tmp", []byte(strconv.Itoa(os.Getpid()) + " " + strconv.Itoa(child.Process.Pid)), 0o600)
	os.Rename("pids.tmp", "pids")
	time.Sleep(time.Hour)
}
`,
		"other/o_test.go": "package other\n\nimport \"testing\"\n\nfunc TestO(t *testing.T) {}\n",
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var pids []string
	var b bytes.Buffer
	done := make(chan error)
	go func() { done <- run(ctx, []string{".", "then", "./other"}, &b, &b) }()
	require.Eventually(t, func() bool {
		content, err := os.ReadFile("pids")
		pids = strings.Fields(string(content))
		return err == nil
	}, 2*time.Minute, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, errFailed)
	require.True(t, strings.HasSuffix(b.String(), "\nfailed:\ninterrupted, and the tests were ended; these packages had begun and not finished: m\nFAIL\n0 passed, 0 failed, 0 skipped\n"), b.String())
	require.Contains(t, b.String(), "interrupted: ending the tests\n")
	require.NotContains(t, b.String(), "m/other")
	require.Len(t, pids, 2)
	for _, word := range pids {
		pid, err := strconv.Atoi(word)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return isGone(pid) }, 2*time.Minute, 10*time.Millisecond)
	}
}

// isGone reports whether a process ended. One that its parent has not waited for has ended, too.
func isGone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}
