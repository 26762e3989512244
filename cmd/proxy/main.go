// Command proxy runs a program in a PTY on the user's terminal, byte-exact. With --agent, agents may observe it through a
// gateway, and type into it while a grant of the user's lasts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"terminalproxy/cmd/internal/harden"
	"terminalproxy/cmd/internal/limits"
	"terminalproxy/cmd/internal/onevent"
	"terminalproxy/cmd/internal/proxyflags"
	"terminalproxy/cmd/internal/version"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/tty"
	"terminalproxy/proxy/watchdog"
	"terminalproxy/proxy/window"
)

func main() {
	harden.Process()
	if watchdog.Called(os.Args) {
		os.Exit(watchdog.Run())
	}
	if onevent.Called(os.Args) {
		os.Exit(onevent.Supervise(os.Args))
	}
	if short := limits.Check(); short != nil {
		os.Exit(complain(os.Stderr, short))
	}
	if os.Args[0] == window.Name {
		os.Exit(kept(os.Args[1:]))
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, nil))
}

// Exit statuses of proxy itself; a program's own status is passed on.
const (
	statusUsage   = 2
	statusFailure = 125
)

// run is proxy without the process around it; keep is what keeps the session that this process was started for, nil otherwise.
func run(ctx context.Context, args []string, stdin, stdout *os.File, stderr io.Writer, keep *window.Keep) int {
	flags, err := parse(args)
	switch {
	case errors.Is(err, errHelp):
		fmt.Fprint(stdout, proxyflags.Usage())
		return 0
	case errors.Is(err, errVersion):
		fmt.Fprintln(stdout, "proxy "+version.String())
		return 0
	case err != nil:
		return complain(stderr, err)
	}
	if flags.inside() {
		return complain(stderr, flags.within())
	}
	if flags.keeps() && keep == nil {
		if err := flags.checkKeep(stdin, stdout); err != nil {
			return complain(stderr, err)
		}
		if flags.Keep {
			return flags.front(args, stdin, stdout, stderr)
		}
	}
	conf, done, err := flags.session(stdin, stdout)
	conf.Keep, conf.Final = keep, true
	if errs, ok := stderr.(*os.File); ok {
		conf.Err = errs
	}
	if say := flags.trouble(); say != "" {
		fmt.Fprintln(stderr, say)
	}
	if err != nil {
		return complain(stderr, err)
	}
	defer done()
	if flags.plain() && !hasTerminal(conf) {
		return complain(stderr, child.Replace(conf.Command, conf.Args))
	}
	result, err := proxy.Run(ctx, conf)
	if err != nil {
		return complain(stderr, err)
	}
	if result.Agent != "" {
		fmt.Fprintf(stderr, "proxy: %s\n", protocol.Visible(result.Agent))
	}
	if result.HeldOpen {
		fmt.Fprintln(stderr, "proxy: background processes still held the terminal and were sent SIGHUP")
	}
	if result.Unrecorded != nil {
		fmt.Fprintf(stderr, "proxy: %v\n", result.Unrecorded)
	}
	if keep == nil { // else it is for who has that descriptor
		flags.reportStatus(result.Code)
	}
	return result.Code
}

// plain reports whether a session would do nothing for the program but give it a terminal.
func (f *flags) plain() bool {
	return !f.Agent && f.Record == "" && f.Log == "" && f.StatusFD == 0 && f.Cols == 0 && f.Rows == 0
}

// hasTerminal reports whether there is a terminal around the session.
func hasTerminal(conf proxy.Config) bool {
	terminal, shut := tty.Around(conf.In, conf.Out, conf.Err)
	shut()
	return terminal != nil
}

// reportStatus tells the program's exit status where --status-fd wants it.
func (f *flags) reportStatus(code int) {
	if f.StatusFD > 0 {
		fmt.Fprintln(os.NewFile(uintptr(f.StatusFD), "status"), code)
	}
}

// complain tells the user what failed and what to do about it.
func complain(stderr io.Writer, err error) int {
	status, hint := statusFailure, ""
	if user, ok := errors.AsType[*proxy.UserError](err); ok {
		status, hint = user.Status, user.Hint
	}
	if start, ok := errors.AsType[*child.StartError](err); ok {
		status, hint = start.Status, start.Hint
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
