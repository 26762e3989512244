package signals_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/signals"
)

// ignores makes the process ignore a signal until the end of the test. signal.Reset would not
// restore it.
func ignores(t *testing.T, sig os.Signal) {
	signal.Ignore(sig)
	t.Cleanup(func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, sig)
		signal.Stop(c)
	})
}

func TestNoSignalIsLostAfterWait(t *testing.T) {
	taken := signals.NewCatcher(true, true)
	defer taken.RestoreDefaults()
	taken.StartCatching()
	taken.WaitReady()
	for _, sig := range []syscall.Signal{
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGWINCH, syscall.SIGHUP, syscall.SIGUSR1,
	} {
		require.NoError(t, syscall.Kill(os.Getpid(), sig))
		require.Equal(t, os.Signal(sig), <-taken.C)
	}
}

// As under nohup.
func TestAnIgnoredHangupStaysIgnored(t *testing.T) {
	ignores(t, syscall.SIGHUP)
	taken := signals.NewCatcher(true, false)
	defer taken.RestoreDefaults()
	taken.StartCatching()
	taken.WaitReady()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGWINCH))
	require.Equal(t, os.Signal(syscall.SIGWINCH), <-taken.C, "and nothing before it")
}

func TestSendDoesNotWait(t *testing.T) {
	taken := signals.NewIdleCatcher()
	taken.StartCatching()
	taken.WaitReady()
	for range 100 {
		taken.Send(syscall.SIGWINCH)
	}
	require.Equal(t, os.Signal(syscall.SIGWINCH), <-taken.C)
	taken.RestoreDefaults()
}
