package records

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/agents/beside"
	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/tui/pictures"
	"terminalproxy/protocol"
)

// maxDrawn bounds the JSON of a screen, in bytes: hundreds of times the usual size.
const maxDrawn = 16 << 20

// NewDraw makes the command gateway draw, which proxies run to draw screens for this machine's
// gateway.
func NewDraw(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: beside.DrawCommand + " png|svg", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Draw the screen that the standard input has as JSON",
		RunE: func(_ *cobra.Command, args []string) error {
			return runDraw(env, args[0])
		},
	}
}

// runDraw draws the screen on the standard input.
func runDraw(env *cli.Env, kind string) error {
	var screen protocol.Screen
	if err := json.NewDecoder(io.LimitReader(env.In, maxDrawn)).Decode(&screen); err != nil {
		return cli.Usage("draw: the standard input is not a screen: %w", err)
	}
	return pictures.Draw(env.Out, kind, screen)
}
