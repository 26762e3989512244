package owner

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// muteOptions are the options of gateway mute.
type muteOptions struct {
	session, agent string
	off            bool
}

// NewMute makes the command gateway mute.
func NewMute(env *cli.Env) *cobra.Command {
	var opts muteOptions
	cmd := &cobra.Command{
		Use:   "mute [ID] [--agent NAME] [--off]",
		Short: "Stop an agent from asking in a session, or let it ask again",
		Args:  cobra.MaximumNArgs(1),
		Long: "mute keeps an agent from asking for the keyboard and from writing to you until " +
			"the session ends. Its open request is refused,\n" +
			"and the keyboard is taken back from it. Without --agent, mute means the agent that " +
			"asks or has the keyboard. On your own machine\n" +
			"it needs no token. mute --off gives agents more, so it needs the owner token, as " +
			"gateway grant does; without --agent it unmutes all.",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session = cli.SessionArg(args)
			return runMute(cmd.Context(), env, opts)
		},
	}
	cmd.Flags().StringVar(&opts.agent, "agent", "", "the agent of this `NAME`")
	cmd.Flags().BoolVar(&opts.off, "off", false, "let it ask and write again")
	return cmd
}

// runMute mutes an agent, or lets it ask again.
func runMute(ctx context.Context, env *cli.Env, opts muteOptions) error {
	if opts.off {
		return unmuteAgent(ctx, env, opts.session, opts.agent)
	}
	return muteAgent(ctx, env, opts.session, opts.agent)
}

func muteAgent(ctx context.Context, env *cli.Env, id, agent string) error {
	return env.WithViewer(cli.OnSession(ctx, id, func(c *client.Client, s protocol.SessionInfo) error {
		muted := agent
		if muted == "" {
			// newer than the list's entry
			now, err := c.Read(ctx, &protocol.Read{SessionID: s.SessionID})
			if err != nil {
				return err
			}
			muted = cmp.Or(now.Frame.Keyboard.Asking, now.Frame.Keyboard.AgentName)
		}
		if muted == "" {
			return cli.Usage(
				"mute: no agent asks or has the keyboard in %s: say which one you mean with "+
					"--agent NAME", s.SessionID)
		}
		if err := c.Decide(ctx, &protocol.ControlDecide{
			SessionID: s.SessionID,
			By:        "gateway mute",
			AgentName: muted,
			Mute:      protocol.MuteOn,
		}); err != nil {
			return err
		}
		return env.PrintAnswer(map[string]any{"sessionId": s.SessionID, "muted": muted},
			text.Name(muted)+" is muted until the session ends")
	}))
}

func unmuteAgent(ctx context.Context, env *cli.Env, id, agent string) error {
	m := &protocol.ControlDecide{Mute: protocol.MuteOff, AgentName: agent}
	return runGrantingAct(
		ctx, env,
		id,
		m,
		func(s protocol.SessionInfo, _ protocol.Keyboard) (string, error) {
			if len(s.Muted) == 0 {
				return "", cli.Fail(cli.StatusRefused, "mute: no agent is muted in %s", s.SessionID)
			}
			return fmt.Sprintf("%s %q: let %s ask and write again?", s.SessionID, text.Command(s),
				text.OneLine(cmp.Or(agent, strings.Join(s.Muted, ", ")))), nil
		},
		"unmuted",
		"it may ask again",
	)
}
