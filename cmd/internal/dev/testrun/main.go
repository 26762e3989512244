// Command testrun is go test for a person at a terminal: it prints first what this machine lacks
// for the tests, and last what failed.
//
//	testrun [-again=N] [NAME=VALUE]... [-FLAG]... PACKAGE... [then ...]... [beside ...]...
//	testrun -needs root|client|film|PROGRAM DIR...
//
// With -again, if at most N tests fail, they run once more at the end, one package at a time. Those
// that pass then are listed as flaky, and do not fail the run. Data races and tests that do not end
// always fail it.
//
// The other arguments are those of go test, each flag with its value in one word, as -timeout=5m.
// The arguments after "then" run afterwards, those after "beside" at the same time. If tmux or a C
// compiler is missing and needed, it fails unless $SKIP_OK is 1. The second form prints a pattern
// for -run: the tests that need something.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"terminalproxy/cmd/internal/dev/testneeds"
)

func main() {
	// Without SIGPIPE, make test | head would leave the tests behind.
	ctx, stop := signal.NotifyContext(context.Background(),
		os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, errFailed) {
			fmt.Fprintf(os.Stderr, "testrun: %v\n", err)
		}
		stop()
		os.Exit(1)
	}
}

// group is one go test.
type group struct{ env, flags, packages []string }

func run(ctx context.Context, args []string, out, stderr io.Writer) error {
	if len(args) > 1 && args[0] == "-needs" {
		return printPattern(out, args[1], args[2:])
	}
	again, args, err := parseAgain(args)
	if err != nil {
		return err
	}
	lanes, err := parseLanes(args)
	if err != nil {
		return err
	}
	missing, err := findMissing(ctx, lanes)
	if err != nil {
		return err
	}
	skipOK := os.Getenv("SKIP_OK") == "1"
	r := &results{out: out}
	var refusals []string
	for _, m := range missing {
		fmt.Fprintln(out, m)
		if m.required && !skipOK {
			refusals = append(refusals, m.String()+"; or set SKIP_OK=1, which accepts that\n")
		}
	}
	if len(missing) > 0 && missing[0].compiler {
		if !skipOK {
			return r.printEnd(refusals)
		}
		stopRacing(lanes)
		r.notes = append(r.notes, missing[0].String())
	}
	defer context.AfterFunc(ctx, func() { r.printLine("interrupted: ending the tests") })()
	var wait sync.WaitGroup
	for _, lane := range lanes {
		wait.Go(func() {
			for _, g := range lane {
				runGroup(ctx, g, r, stderr)
			}
		})
	}
	wait.Wait()
	if ctx.Err() == nil {
		repeatFailed(ctx, r, again, stderr)
	}
	return r.printEnd(refusals)
}

// parseAgain cuts off the leading -again=N.
func parseAgain(args []string) (again int, rest []string, err error) {
	if len(args) == 0 {
		return 0, args, nil
	}
	value, found := strings.CutPrefix(args[0], "-again=")
	if !found {
		return 0, args, nil
	}
	again, err = strconv.Atoi(value)
	if err != nil || again < 0 {
		return 0, nil, fmt.Errorf("-again=%s: want the largest number of failed tests that run again, as in -again=5", value)
	}
	return again, args[1:], nil
}

// repeatFailed runs the failed tests once more, if they are few.
func repeatFailed(ctx context.Context, r *results, most int, stderr io.Writer) {
	tests := 0
	for _, f := range r.failures {
		tests += len(f.tests)
	}
	if tests > most {
		return
	}
	var failures []failure
	for _, f := range r.failures {
		if len(f.tests) == 0 || !passesAgain(ctx, f, r.out, stderr) {
			failures = append(failures, f)
			continue
		}
		r.flaky = append(r.flaky, f)
		r.failed -= f.count
		r.passed += f.count
	}
	r.failures = failures
}

func passesAgain(ctx context.Context, f failure, out, stderr io.Writer) bool {
	fmt.Fprintf(out, "\nagain: %s of %s\n", strings.Join(f.tests, " "), f.pkg)
	flags := append(slices.Clone(f.group.flags), "-count=1", "-run=^("+strings.Join(f.tests, "|")+")$")
	r := &results{out: out}
	runGroup(ctx, &group{env: f.group.env, flags: flags, packages: []string{f.pkg}}, r, stderr)
	return len(r.failures) == 0 && r.passed > 0 && !r.interrupted
}

// parseLanes parses the arguments. The groups of a lane run one after another, and lanes beside
// each other.
func parseLanes(args []string) (lanes [][]*group, err error) {
	lanes = [][]*group{{{}}}
	variable := regexp.MustCompile(`^[A-Z_]+=`)
	for _, arg := range args {
		last := len(lanes) - 1
		g := lanes[last][len(lanes[last])-1]
		switch {
		case arg == "then":
			lanes[last] = append(lanes[last], &group{})
		case arg == "beside":
			lanes = append(lanes, []*group{{}})
		case variable.MatchString(arg):
			g.env = append(g.env, arg)
		case strings.HasPrefix(arg, "-"):
			g.flags = append(g.flags, arg)
		default:
			g.packages = append(g.packages, arg)
		}
	}
	for _, g := range slices.Concat(lanes...) {
		if len(g.packages) == 0 {
			return nil, fmt.Errorf("no packages to test in %q", args)
		}
	}
	return lanes, nil
}

func stopRacing(lanes [][]*group) {
	for _, g := range slices.Concat(lanes...) {
		if g.usesRaceDetector() {
			isRace := func(flag string) bool { return flag == "-race" }
			g.flags = slices.DeleteFunc(g.flags, isRace)
			g.env = append(g.env, "CGO_ENABLED=0")
		}
	}
}

func (g *group) usesRaceDetector() bool { return slices.Contains(g.flags, "-race") }

// killAfter bounds the time that go test takes to end after an interrupt.
const killAfter = 5 * time.Second

// runGroup runs go test in a session of its own: no test finds a terminal, and one signal can end
// them all.
func runGroup(ctx context.Context, g *group, r *results, stderr io.Writer) {
	s := &stream{results: r, group: g, interrupted: func() bool { return ctx.Err() != nil }}
	if s.interrupted() {
		s.finishRun(ctx.Err(), "")
		return
	}
	args := slices.Concat([]string{"test", "-json"}, g.flags, g.packages)
	cmd := exec.CommandContext(ctx, "go", args...)
	var diagnostics bytes.Buffer
	cmd.Env = append(os.Environ(), g.env...)
	cmd.Stdout, cmd.Stderr = s, io.MultiWriter(stderr, &diagnostics)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = killAfter
	err := cmd.Run()
	if cmd.Process != nil && ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // a test that outlives SIGINT
	}
	s.finishRun(err, diagnostics.String())
}

// printPattern prints a pattern of the tests in dirs that need something. If there are no such
// tests, it matches nothing.
func printPattern(out io.Writer, need string, dirs []string) error {
	var names []string
	for _, dir := range dirs {
		tests, err := testneeds.Read(filepath.Clean(dir))
		if err != nil {
			return err
		}
		for _, test := range tests {
			if slices.Contains(test.Needs, need) {
				names = append(names, test.Name)
			}
		}
	}
	_, err := fmt.Fprintf(out, "^(%s)$\n", strings.Join(names, "|"))
	return err
}
