package records

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/tui/play"
	"terminalproxy/proxy/record"
)

// idleDefault is the default bound of pauses, as on the page.
const idleDefault = 2 * time.Second

// playOptions are the options of gateway play.
type playOptions struct {
	file       string
	speed      float64
	idle, from time.Duration
}

// NewPlay makes the command gateway play.
func NewPlay(env *cli.Env) *cobra.Command {
	var opts playOptions
	cmd := &cobra.Command{
		Use:   "play FILE [--speed N] [--idle D] [--from D]",
		Short: "Play a recording in this terminal",
		Args:  cobra.ExactArgs(1),
		Long: "play draws an asciicast (v3 or v2) in this terminal. Its last line says who " +
			"typed what, an agent in yellow, you in green, and\n" +
			"shows the time line. What looks like a secret is masked, as on the page; nothing " +
			"is sent to any program. A terminal\n" +
			"smaller than the recording shows the part with the cursor.\n\n" +
			"Keys: Space pauses and goes on; [ and ] go to an agent's previous and next input; " +
			"← and → go 5 s; Home and End; + and -\n" +
			"change the speed; h hides the line; q leaves.",
		Example: "  gateway play session.cast\n  gateway play --speed 4 --from 1m30s session.cast",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.file = args[0]
			return runPlay(cmd.Context(), env, opts)
		},
	}
	flags := cmd.Flags()
	flags.Float64Var(&opts.speed, "speed", 1, "play `N` times as fast, 0.0625 to 64")
	flags.DurationVar(&opts.idle, "idle", idleDefault,
		"shorten pauses to this long; 0 leaves them as they are")
	flags.DurationVar(&opts.from, "from", 0, "begin this long after the start of the recording")
	return cmd
}

// runPlay plays a recording in this terminal.
func runPlay(ctx context.Context, env *cli.Env, opts playOptions) error {
	if !(opts.speed >= 1.0/16 && opts.speed <= 64) { // also rejects NaN
		return cli.Usage("--speed %g: must be 0.0625 to 64", opts.speed)
	}
	if env.JSON {
		return cli.Fail(cli.StatusUsage, "play: --json: a moving picture has no JSON form").
			WithHint("gateway render --json " + opts.file + " prints the last screen")
	}
	if opts.idle < 0 || opts.from < 0 {
		return cli.Usage("--idle and --from: must not be negative")
	}
	in, out, err := env.RequireTerminal("gateway render " + opts.file + " prints the last screen")
	if err != nil {
		return err
	}
	file, err := os.Open(opts.file)
	if err != nil {
		return cli.Usage("%w", err)
	}
	defer file.Close()
	err = play.Run(ctx, play.Config{
		File:  file,
		Own:   env.Taste.Redact,
		From:  opts.from,
		Speed: opts.speed,
		Idle:  opts.idle,
		In:    in,
		Out:   out,
	})
	if err != nil {
		f := cli.Fail(cli.StatusRefused, "play: %s: %w", opts.file, err)
		if errors.Is(err, record.ErrNoCast) {
			return f.WithHint("make one with proxy --record FILE")
		}
		return f
	}
	return nil
}
