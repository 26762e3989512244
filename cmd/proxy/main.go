// The proxy never needs more processors than it starts with, so the runtime does not recount them
// every second.
//
//go:debug updatemaxprocs=0

// Command proxy runs a program in a PTY on the user's terminal, byte-exact. With --agent, agents
// may observe it through a gateway, and type into it while the user's grant lasts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"terminalproxy/cmd/internal/config/proxyflags"
	"terminalproxy/cmd/internal/hooks/onevent"
	"terminalproxy/cmd/internal/process/harden"
	"terminalproxy/cmd/internal/process/limits"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/detached/keep"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/tty"
	"terminalproxy/proxy/terminal/watchdog"
)

func main() {
	given := harden.ProtectProcess()
	if watchdog.IsCalled(os.Args) {
		os.Exit(watchdog.Run())
	}
	if onevent.IsSupervisor(os.Args) {
		os.Exit(onevent.Supervise(os.Args))
	}
	if short := limits.FindShortage(); short != nil {
		os.Exit(reportFailure(os.Stderr, short))
	}
	if os.Args[0] == keep.Name {
		os.Exit(runKept(os.Args[1:], given))
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, given, nil))
}

// statusFailure is the exit status when proxy itself fails; a program's own status is passed on.
const statusFailure = 125

// run is proxy without its process. given are the descriptors that the program gets beside the
// standard streams. keep keeps the session that this process was started for, or is nil.
func run(
	ctx context.Context, args []string, stdin, stdout *os.File, stderr io.Writer, given []int,
	keep *keep.Keep,
) int {
	flags, err := parseFlags(args)
	given = slices.DeleteFunc(given, func(fd int) bool { return flags != nil && fd == flags.StatusFD })
	switch {
	case errors.Is(err, errHelp):
		return printAnswer(stdout, stderr, proxyflags.Usage())
	case errors.Is(err, errVersion):
		return printAnswer(stdout, stderr, "proxy "+version.String()+"\n")
	case err != nil:
		return reportFailure(stderr, err)
	}
	if flags.isInsideSession() {
		return reportFailure(stderr, flags.runInside(given))
	}
	if flags.keepsSession() && keep == nil {
		if err := flags.checkKeep(stdin, stdout); err != nil {
			return reportFailure(stderr, err)
		}
		if flags.Keep {
			return flags.runInFront(args, stdin, stdout, stderr, given)
		}
	}
	conf, done, err := flags.sessionConfig(stdin, stdout)
	conf.Keep, conf.Final, conf.Given = keep, true, given
	if errs, ok := stderr.(*os.File); ok {
		conf.Err = errs
	}
	if warning := flags.configWarning(); warning != "" {
		fmt.Fprintln(stderr, warning)
	}
	if err != nil {
		return reportFailure(stderr, err)
	}
	if flags.unshared != nil {
		fmt.Fprintf(stderr, "proxy: no agent can see this session: %v\n", flags.unshared)
	}
	defer done()
	if flags.isPlain() && !hasTerminal(conf) {
		return reportFailure(stderr, child.ReplaceProcess(conf.Command, conf.Args, given))
	}
	result, err := proxy.Run(ctx, conf)
	if err != nil {
		return reportFailure(stderr, err)
	}
	reportResult(stderr, result)
	if keep == nil { // else the descriptor belongs to the process in front
		flags.reportStatus(result.Code)
	}
	return result.Code
}

// printAnswer prints what the user asked for. It returns the exit status.
func printAnswer(stdout, stderr io.Writer, text string) int {
	if _, err := io.WriteString(stdout, text); err != nil {
		return reportFailure(stderr, fmt.Errorf("write the answer: %w", err))
	}
	return 0
}

// reportResult tells the user about problems that outlast a session.
func reportResult(stderr io.Writer, result proxy.Result) {
	if result.Agent != "" {
		fmt.Fprintf(stderr, "proxy: %s\n", protocol.Visible(result.Agent))
	}
	if result.HeldOpen {
		fmt.Fprintln(stderr,
			"proxy: background processes still held the terminal and were sent SIGHUP")
	}
	if result.Unrecorded != nil {
		fmt.Fprintf(stderr, "proxy: %v\n", result.Unrecorded)
	}
}

// isPlain reports whether a session would only give the program a terminal.
func (f *flags) isPlain() bool {
	return !f.Agent && f.Record == "" && f.Log == "" && f.StatusFD == 0 && f.Cols == 0 &&
		f.Rows == 0
}

// hasTerminal reports whether the session has a terminal around it.
func hasTerminal(conf proxy.Config) bool {
	terminal, shut := tty.FindTerminal(conf.In, conf.Out, conf.Err)
	shut()
	return terminal != nil
}

// reportStatus writes the program's exit status to the descriptor of --status-fd.
func (f *flags) reportStatus(code int) {
	if f.StatusFD > 0 {
		fmt.Fprintln(os.NewFile(uintptr(f.StatusFD), "status"), code)
	}
}

// reportFailure tells the user what failed, and the next step.
func reportFailure(stderr io.Writer, err error) int {
	status, hint := statusFailure, ""
	if user, ok := errors.AsType[*proxy.UserError](err); ok {
		status, hint = user.Status, user.Hint
	}
	if start, ok := errors.AsType[*child.StartError](err); ok {
		status, hint = start.Status, start.Hint
	}
	// proxy has no commands, but many programs do
	if word, ok := strings.CutSuffix(err.Error(), ": command not found"); ok && (word == "help" || word == "version") {
		hint = "proxy takes the name of a program to run; did you mean: proxy --" + word
	}
	if short, ok := errors.AsType[*limits.Shortage](err); ok {
		hint = short.Hint
	}
	fmt.Fprintf(stderr, "proxy: %s\n", err)
	if hint != "" {
		fmt.Fprintf(stderr, "hint: %s\n", hint)
	}
	return status
}
