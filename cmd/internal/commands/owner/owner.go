// Package owner holds the commands of a session's owner: give the keyboard, take it back, hide and
// mute.
package owner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// grantOptions are the options of gateway grant.
type grantOptions struct {
	session, level, agent string
	forTime               time.Duration
}

// NewGrant makes the command gateway grant.
func NewGrant(env *cli.Env) *cobra.Command {
	var opts grantOptions
	cmd := &cobra.Command{
		Use:   "grant [ID] [--level drive|type] [--for D] [--to AGENT]",
		Short: "Give an agent the keyboard, as the session's owner",
		Args:  cobra.MaximumNArgs(1),
		Long: "grant gives the keyboard of a session to the agent that asks for it now, or to " +
			"the next one that asks within two minutes.\n" +
			"It asks you first, at your terminal, and signs with your owner token. Create " +
			"that once:\n\n" +
			"  gateway token create owner --role owner --save\n\n" +
			"It refuses to run in a script or inside a session, so that no agent grants itself " +
			"anything by mistake.",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session = cli.SessionArg(args)
			return runGrant(cmd.Context(), env, opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.level, "level", string(protocol.LevelDrive),
		"the most that the agent may do. drive: every key; type: text and editing keys at a "+
			"shell or REPL prompt, while the rest waits for the session's user")
	f.DurationVar(&opts.forTime, "for", 0,
		"the longest it lasts (default: the limit of the session's user, or 10m)")
	f.StringVar(&opts.agent, "to", "", "only the agent of this `NAME`")
	return cmd
}

// runGrant gives control to the agent that asks, or to the next one.
func runGrant(ctx context.Context, env *cli.Env, opts grantOptions) error {
	if err := cli.CheckGrant(opts.level, opts.forTime); err != nil {
		return err
	}
	if opts.agent != "" && text.Name(opts.agent) != opts.agent {
		return cli.Usage(
			"--to: %.40q cannot be an agent's name: use one line of 1 to 32 visible characters",
			opts.agent)
	}
	m := &protocol.ControlDecide{
		Grant:     true,
		Level:     protocol.Level(opts.level),
		Seconds:   int64(opts.forTime / time.Second),
		AgentName: opts.agent,
	}
	question := func(s protocol.SessionInfo, k protocol.Keyboard) (string, error) {
		if k.Holder == protocol.HolderAgent {
			return "", cli.Fail(cli.StatusRefused, "%s has the keyboard already",
				text.Keyboard(k, "", time.Now())).
				WithHint("take it back first: gateway reclaim " + s.SessionID)
		}
		return describeGrant(s, k, m), nil
	}
	return runGrantingAct(ctx, env, opts.session, m, question, "granted", "granted")
}

// NewReclaim makes the command gateway reclaim.
func NewReclaim(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "reclaim [ID]",
		Short: "Take the keyboard back from an agent, or refuse its request",
		Args:  cobra.MaximumNArgs(1),
		Long: "reclaim takes the keyboard from an agent, as Ctrl+\\ does at the session's own " +
			"terminal. Once it returns, no further agent\n" +
			"byte reaches the program. On your own machine it needs no token.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runReclaim(cmd.Context(), env, cli.SessionArg(args))
		},
	}
}

// runReclaim takes the keyboard back.
func runReclaim(ctx context.Context, env *cli.Env, session string) error {
	m := &protocol.ControlDecide{By: "gateway reclaim"}
	return runRevokingAct(ctx, env, session, m, "reclaimed", "the user has the keyboard")
}

// hideOptions are the options of gateway hide.
type hideOptions struct {
	session string
	off     bool
}

// NewHide makes the command gateway hide.
func NewHide(env *cli.Env) *cobra.Command {
	var opts hideOptions
	cmd := &cobra.Command{
		Use:   "hide [ID] [--off]",
		Short: "Hide a session from agents, or show it again",
		Args:  cobra.MaximumNArgs(1),
		Long: "hide keeps agents from seeing a session and from typing into it until it is shown " +
			"again. On your own machine it needs no\n" +
			"token. hide --off gives agents more, so it needs the owner token, as gateway " +
			"grant does.",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session = cli.SessionArg(args)
			return runHide(cmd.Context(), env, opts)
		},
	}
	cmd.Flags().BoolVar(&opts.off, "off", false, "show it again")
	return cmd
}

// runHide hides the screen from agents, or shows it again.
func runHide(ctx context.Context, env *cli.Env, opts hideOptions) error {
	if opts.off {
		return unhideScreen(ctx, env, opts.session)
	}
	m := &protocol.ControlDecide{By: "gateway hide", Hide: protocol.HideOn}
	undo := strings.TrimSpace(opts.session + " --off")
	return runRevokingAct(ctx, env, opts.session, m, "hidden",
		"agents do not see it; to show it again: Ctrl+\\ and h at its terminal, or, as "+
			"its owner, gateway hide "+undo)
}

// runRevokingAct runs an act that only takes rights away. It needs no permission and asks nothing.
func runRevokingAct(
	ctx context.Context, env *cli.Env, id string, m *protocol.ControlDecide, done, message string,
) error {
	act := func(c *client.Client, s protocol.SessionInfo) error {
		m.SessionID = s.SessionID
		if err := c.Decide(ctx, m); err != nil {
			return err
		}
		return env.PrintAnswer(map[string]any{"sessionId": s.SessionID, done: true}, message)
	}
	ep, err := env.Endpoint()
	if err != nil {
		return err
	}
	if len(ep.All()) == 1 {
		return env.WithViewer(cli.OnSession(ctx, id, act))
	}
	if ep.Token, err = env.OwnerToken(); err != nil {
		return err
	}
	return runEverywhere(ctx, env, ep, id, act)
}

// describeGrant describes a grant to the owner before it is given.
func describeGrant(s protocol.SessionInfo, k protocol.Keyboard, m *protocol.ControlDecide) string {
	keys, last := "every key", "for 10m or the user's limit"
	if m.Level == protocol.LevelType || k.AskingLevel == protocol.LevelType {
		keys = "text and editing keys"
	}
	if m.Seconds > 0 {
		last = "for " + notice.Span(time.Duration(m.Seconds)*time.Second) + " at most"
	}
	asker := "the next agent that asks"
	if m.AgentName != "" {
		asker = m.AgentName + ", when it asks"
	}
	asker += " within " + notice.Span(control.PregrantFor)
	if k.Asking != "" {
		asker = text.Name(k.Asking)
		if reason, _ := text.Sentence("reason", k.AskingReason); reason != "" {
			asker += " (which says: “" + reason + "”)"
		}
	}
	return fmt.Sprintf("%s %q: give %s to %s, %s?", s.SessionID, text.Command(s), keys, asker, last)
}

// unhideScreen shows the screen to agents again.
func unhideScreen(ctx context.Context, env *cli.Env, id string) error {
	m := &protocol.ControlDecide{Hide: protocol.HideOff}
	return runGrantingAct(
		ctx, env,
		id,
		m,
		func(s protocol.SessionInfo, _ protocol.Keyboard) (string, error) {
			return fmt.Sprintf("%s %q: show it to agents again, as it is now?", s.SessionID,
				text.Command(s)), nil
		},
		"shown",
		"agents see it again",
	)
}

// runGrantingAct runs an act that gives agents rights: the owner reads what it does, agrees, and
// signs.
func runGrantingAct(ctx context.Context, env *cli.Env, id string, m *protocol.ControlDecide,
	question func(protocol.SessionInfo, protocol.Keyboard) (string, error), done, message string,
) error {
	if err := env.RequireOutside("use a terminal that no agent sees"); err != nil {
		return err
	}
	token, err := env.OwnerToken()
	if err != nil {
		return err
	}
	terminal, err := env.RequirePerson()
	if err != nil {
		return err
	}
	return env.WithViewer(cli.OnSession(
		ctx,
		id,
		func(c *client.Client, s protocol.SessionInfo) error {
			now, err := c.Read(ctx, &protocol.Read{SessionID: s.SessionID})
			if err != nil {
				return err
			}
			ask, err := question(s, now.Frame.Keyboard)
			if err != nil {
				return err
			}
			if err := env.AskAgreement(ctx, terminal, ask); err != nil {
				return err
			}
			if err := decideSigned(ctx, c, token, s, now.Frame.Keyboard.Epoch, m); err != nil {
				return err
			}
			return env.PrintAnswer(map[string]any{"sessionId": s.SessionID, done: true}, message)
		},
	))
}

// decideSigned sends a decision about a session with the owner's signature. epoch is the one that
// the owner saw.
func decideSigned(
	ctx context.Context, c *client.Client, token string, s protocol.SessionInfo, epoch uint64,
	m *protocol.ControlDecide,
) error {
	m.SessionID, m.By, m.Epoch, m.At = s.SessionID, "the owner", epoch, time.Now().UnixMilli()
	m.SignatureB64 = auth.Sign(token, m.Signed(s.StartedAt))
	return c.Decide(ctx, m)
}
