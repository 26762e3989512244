package setup

import (
	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli/manual"
)

// NewManual makes the command that writes the files which make install and the packages put beside
// the binaries.
func NewManual(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "manual DIR",
		Short: "Write the manual pages and the shells' completions of proxy and gateway below " +
			"DIR, a share directory",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return runManual(args[0], root) },
	}
}

// runManual writes the pages and completions of a command below a share directory.
func runManual(dir string, root *cobra.Command) error { return manual.Write(dir, root) }
