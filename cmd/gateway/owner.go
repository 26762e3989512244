package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/consent/control"
)

const hintOwnerToken = "create one with: gateway token create owner --role owner --save"

func (a *app) newGrant() *cobra.Command {
	var level, agent string
	var forTime time.Duration
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
			if err := checkGrant(level, forTime); err != nil {
				return err
			}
			if agent != "" && text.Name(agent) != agent {
				return usage(
					"--to: %.40q cannot be an agent's name: use one line of 1 to 32 "+
						"visible characters", agent)
			}
			return a.grantControl(cmd.Context(), named(args), &protocol.ControlDecide{
				Grant:     true,
				Level:     protocol.Level(level),
				Seconds:   int64(forTime / time.Second),
				AgentName: agent,
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&level, "level", string(protocol.LevelDrive),
		"the most that the agent may do. drive: every key; type: text and editing keys at a "+
			"shell or REPL prompt, while the rest waits for the session's user")
	f.DurationVar(&forTime, "for", 0,
		"the longest it lasts (default: the limit of the session's user, or 10m)")
	f.StringVar(&agent, "to", "", "only the agent of this `NAME`")
	return cmd
}

func (a *app) newReclaim() *cobra.Command {
	return &cobra.Command{
		Use:   "reclaim [ID]",
		Short: "Take the keyboard back from an agent, or refuse its request",
		Args:  cobra.MaximumNArgs(1),
		Long: "reclaim takes the keyboard from an agent, as Ctrl+\\ does at the session's own " +
			"terminal. Once it returns, no further agent\n" +
			"byte reaches the program. On your own machine it needs no token.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runRevokingAct(cmd.Context(), named(args),
				&protocol.ControlDecide{By: "gateway reclaim"}, "reclaimed",
				"the user has the keyboard")
		},
	}
}

func (a *app) newHide() *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use:   "hide [ID] [--off]",
		Short: "Hide a session from agents, or show it again",
		Args:  cobra.MaximumNArgs(1),
		Long: "hide keeps agents from seeing a session and from typing into it until it is shown " +
			"again. On your own machine it needs no\n" +
			"token. hide --off gives agents more, so it needs the owner token, as gateway " +
			"grant does.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if off {
				return a.unhideScreen(cmd.Context(), named(args))
			}
			return a.runRevokingAct(cmd.Context(), named(args),
				&protocol.ControlDecide{By: "gateway hide", Hide: protocol.HideOn}, "hidden",
				"agents do not see it")
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "show it again")
	return cmd
}

// runRevokingAct does an act that only takes away. It needs no leave, and asks nothing.
func (a *app) runRevokingAct(
	ctx context.Context,
	id string,
	m *protocol.ControlDecide,
	done, message string,
) error {
	act := func(c *client.Client, s protocol.SessionInfo) error {
		m.SessionID = s.SessionID
		if err := c.Decide(ctx, m); err != nil {
			return err
		}
		return a.printAnswer(map[string]any{"sessionId": s.SessionID, done: true}, message)
	}
	ep, err := a.endpoint()
	if err != nil {
		return err
	}
	if len(ep.All()) == 1 {
		return a.withViewer(about(ctx, id, act))
	}
	if ep.Token, err = a.ownerToken(); err != nil {
		return err
	}
	return a.runEverywhere(ctx, ep, id, act)
}

// grantControl gives control to the agent that asks, or to the next one.
func (a *app) grantControl(ctx context.Context, id string, m *protocol.ControlDecide) error {
	return a.runGrantingAct(
		ctx,
		id,
		m,
		func(s protocol.SessionInfo, k protocol.Keyboard) (string, error) {
			if k.Holder == protocol.HolderAgent {
				return "", fail(statusRefused, "%s has the keyboard already",
					text.Keyboard(k, "", time.Now())).
					withHint("take it back first: gateway reclaim " + s.SessionID)
			}
			return a.describeGrant(s, k, m), nil
		},
		"granted",
		"granted",
	)
}

// describeGrant tells the owner what a grant means, before it is given.
func (a *app) describeGrant(
	s protocol.SessionInfo,
	k protocol.Keyboard,
	m *protocol.ControlDecide,
) string {
	keys, last := "every key", "for 10m or the user's limit"
	if m.Level == protocol.LevelType || k.AskingLevel == protocol.LevelType {
		keys = "text and editing keys"
	}
	if m.Seconds > 0 {
		last = "for " + lasts(time.Duration(m.Seconds)*time.Second) + " at most"
	}
	asker := "the next agent that asks"
	if m.AgentName != "" {
		asker = m.AgentName + ", when it asks"
	}
	asker += " within " + lasts(control.PregrantFor)
	if k.Asking != "" {
		asker = text.Name(k.Asking)
		if reason, _ := text.Sentence("reason", k.AskingReason); reason != "" {
			asker += " (which says: “" + reason + "”)"
		}
	}
	return fmt.Sprintf("%s %q: give %s to %s, %s?", s.SessionID, text.Command(s), keys, asker, last)
}

// lasts formats a duration without zero parts at its end: 10m, not 10m0s.
func lasts(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// unhideScreen ends the hiding.
func (a *app) unhideScreen(ctx context.Context, id string) error {
	m := &protocol.ControlDecide{Hide: protocol.HideOff}
	return a.runGrantingAct(
		ctx,
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

// runGrantingAct does an act that gives agents more: the owner reads what it is, agrees, and signs.
func (a *app) runGrantingAct(ctx context.Context, id string, m *protocol.ControlDecide,
	question func(protocol.SessionInfo, protocol.Keyboard) (string, error), done, message string,
) error {
	if err := a.requireOutside("use a terminal that no agent sees"); err != nil {
		return err
	}
	token, err := a.ownerToken()
	if err != nil {
		return err
	}
	terminal, err := a.requirePerson()
	if err != nil {
		return err
	}
	return a.withViewer(about(ctx, id, func(c *client.Client, s protocol.SessionInfo) error {
		now, err := c.Read(ctx, &protocol.Read{SessionID: s.SessionID})
		if err != nil {
			return err
		}
		ask, err := question(s, now.Frame.Keyboard)
		if err != nil {
			return err
		}
		if err := a.askAgreement(ctx, terminal, ask); err != nil {
			return err
		}
		if err := decideSigned(ctx, c, token, s, now.Frame.Keyboard.Epoch, m); err != nil {
			return err
		}
		return a.printAnswer(map[string]any{"sessionId": s.SessionID, done: true}, message)
	}))
}

// decideSigned sends a decision about a session, whose control the owner saw at an epoch, with the
// owner's signature.
func decideSigned(
	ctx context.Context,
	c *client.Client,
	token string,
	s protocol.SessionInfo,
	epoch uint64,
	m *protocol.ControlDecide,
) error {
	m.SessionID, m.By, m.Epoch, m.At = s.SessionID, "the owner", epoch, time.Now().UnixMilli()
	m.SignatureB64 = auth.Sign(token, m.Signed(s.StartedAt))
	return c.Decide(ctx, m)
}

// ownerToken returns the owner's token: from the file that the command line names, else from the
// owner's own place, else from the file that the environment names, which may be an agent's.
func (a *app) ownerToken() (string, error) {
	own, err := userdirs.OwnerTokenPath()
	if err != nil {
		return "", err
	}
	path := own
	if _, missing := os.Lstat(own); a.tokenFile != "" && (a.tokenNamed || missing != nil) {
		path = a.tokenFile
	}
	token, err := auth.ReadTokenFile(path)
	switch {
	case path == own && errors.Is(err, fs.ErrNotExist):
		return "", fail(statusForbidden, "%s: there is no owner token at %s", a.command,
			path).withHint(hintOwnerToken)
	case err != nil:
		return "", &failure{status: statusForbidden, cause: err, hint: hintOwnerToken}
	}
	return token, nil
}

var errNotAgreed = errors.New("cancelled, nothing was changed")

// requirePerson returns the terminal at which the owner is asked. An act that gives agents more
// always needs one: an agent that runs commands has no terminal of its own to answer at.
func (a *app) requirePerson() (*os.File, error) {
	in, ok := a.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, fail(statusForbidden,
			"%s: standard input is not a terminal, so no person can be asked", a.command).
			withHint(
				"run it in a terminal, as the owner; an agent asks with: gateway request ID " +
					"--reason REASON")
	}
	return in, nil
}

// requireOutside refuses what only a person may do where an agent may be typing.
func (a *app) requireOutside(hint string) error {
	if session := os.Getenv(proxy.SessionVariable); session != "" {
		return fail(statusForbidden,
			"%s: this shell runs inside the session %s, where an agent may be typing", a.command,
			session).withHint(hint)
	}
	return nil
}

// askAgreement asks the owner.
func (a *app) askAgreement(ctx context.Context, in io.Reader, question string) error {
	_, _ = fmt.Fprintf(a.err, "%s [y/N] ", question)
	answer := make(chan string, 1)
	// ends with a line or with the process
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case said := <-answer:
		if said == "y" || said == "yes" {
			return nil
		}
	case <-ctx.Done():
	}
	return fail(statusRefused, "%s: %w", a.command, errNotAgreed)
}
