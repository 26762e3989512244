package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
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
