package session

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/tui/pictures"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// coloured are the flags of read that show more than text.
type coloured struct {
	ansi     bool
	png, svg string
}

func (f *coloured) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.ansi, "ansi", false, "print the screen with colours, without the header")
	cmd.Flags().StringVar(&f.png, "png", "", "write a PNG to `FILE`; - for standard output")
	cmd.Flags().StringVar(&f.svg, "svg", "", "write an SVG to `FILE`; - for standard output")
}

func (f *coloured) isWanted() bool { return f.ansi || f.png != "" || f.svg != "" }

// oneView rejects more than one way to show the screen.
func oneView(isGiven func(flag string) bool) error {
	ways := []string{"since", "history", "command", "ansi", "png", "svg"}
	given := slices.DeleteFunc(ways, func(name string) bool { return !isGiven(name) })
	if len(given) > 1 {
		return cli.Usage("read: use only one of --%s", strings.Join(given, " and --"))
	}
	return nil
}

// showColoured prints or draws the screen of a session.
func showColoured(
	ctx context.Context, env *cli.Env, c *client.Client, s protocol.SessionInfo, f coloured,
) error {
	if env.JSON {
		return cli.Usage("read: --json cannot be used with --ansi, --png or --svg")
	}
	got, err := c.Read(ctx, &protocol.Read{SessionID: s.SessionID, Attributes: true})
	if err != nil {
		return err
	}
	if w := got.Frame.Blackout; w.ByUser() {
		return &protocol.Error{Code: protocol.CodeBlackout, Message: text.Hidden(w)}
	}
	screen := got.Frame.Screen
	if f.ansi {
		return env.PrintLines(strings.Join(screen.Lines, "\x1b[0m\n") + "\x1b[0m")
	}
	format, file := "png", f.png
	if file == "" {
		format, file = "svg", f.svg
	}
	var b bytes.Buffer
	if err := pictures.Draw(&b, format, screen); err != nil {
		return err
	}
	return cli.WriteAnswer(env, "the picture", file, b.Bytes())
}
