package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// fullDisk takes no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// An answer that could not be written is a failure, also the help.
func TestAnUnwrittenAnswerFails(t *testing.T) {
	commands := func(_ *Env, root *cobra.Command) {
		root.AddCommand(&cobra.Command{Use: "ls", Short: "List", RunE: func(*cobra.Command, []string) error { return nil }})
	}
	for _, args := range [][]string{{"--help"}, {"help"}, {"help", "ls"}, {"ls", "--help"}, {"--version"}, {"version"}} {
		var errs, out bytes.Buffer
		require.Zero(t, Run(context.Background(), commands, args, os.Stdin, &out, &errs), "%s", args)
		require.NotEmpty(t, out.String())
		require.Equal(t, StatusRefused, Run(context.Background(), commands, args, os.Stdin, fullDisk{}, &errs), "%s", args)
		require.Contains(t, errs.String(), "write the answer: no space left on device", "%s", args)
	}
}

// A signal is named in this program's words, once, and a cause that several steps share is, too.
func TestErrorsAreSaidOnce(t *testing.T) {
	causes := map[string]error{
		"gateway: ls: it was interrupted\n":                          &signalError{os.Interrupt},
		"gateway: ls: it was ended by a signal: terminated\n":        &signalError{syscall.SIGTERM},
		"gateway: ls: no room\n":                                     errors.Join(errors.New("ls: no room"), errors.New("ls: no room")),
		"gateway: ls: no room\n  ls: no way\nhint: see it\n":         Fail(StatusRefused, "%w", errors.Join(errors.New("ls: no room"), errors.New("ls: no way"))).WithHint("see it"),
		"gateway: ls: wait: the terminal has gone: no such device\n": errors.New("ls: wait: the terminal has gone: no such device"),
	}
	for want, cause := range causes {
		commands := func(_ *Env, root *cobra.Command) {
			root.AddCommand(&cobra.Command{Use: "ls", RunE: func(*cobra.Command, []string) error { return cause }})
		}
		var errs bytes.Buffer
		require.Equal(t, StatusRefused, Run(t.Context(), commands, []string{"ls"}, os.Stdin, io.Discard, &errs))
		require.Equal(t, want, errs.String())
	}
	require.ErrorIs(t, &signalError{os.Interrupt}, context.Canceled)
}

// A signal ends the context with its cause.
func TestSignalsEndTheContext(t *testing.T) {
	ctx, stop := catchSignals(t.Context())
	defer stop()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	<-ctx.Done()
	require.EqualError(t, context.Cause(ctx), "it was interrupted")
}
