package owner

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/tui/top"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
	"terminalproxy/protocol/pace"
)

// NewTop makes the command gateway top.
func NewTop(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Show all sessions in one screen; answer questions and take keyboards back there",
		Args:  cobra.NoArgs,
		Long: "top shows the sessions of a gateway, who has each keyboard and which agents ask " +
			"for one.\n\n" +
			"Enter opens the question of the chosen session; y and then Enter gives the " +
			"keyboard, as gateway grant does: it is signed with\n" +
			"your owner token (gateway token create owner --role owner --save). x takes a " +
			"keyboard back, or refuses the question, without a token.\n" +
			"n goes to the next question, q leaves. Rows keep their places, and a question that " +
			"changes while you read it is closed.\n\n" +
			"With --json it prints each change of the list on a line of its own, and needs no " +
			"terminal; the first line has all sessions.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTop(cmd.Context(), env)
		},
	}
}

// runTop shows the sessions, or prints their changes.
func runTop(ctx context.Context, env *cli.Env) error {
	if env.JSON {
		return printChanges(ctx, env)
	}
	in, out, err := env.RequireTerminal(
		"gateway ls lists the sessions, and top --json their changes")
	if err != nil {
		return err
	}
	return showTop(ctx, env, in, out)
}

// showTop draws the sessions on this terminal until the user leaves.
func showTop(ctx context.Context, env *cli.Env, in, out *os.File) error {
	ctx, stop := context.WithCancel(ctx)
	changes := make(chan protocol.Message)
	var refused error
	var feed sync.WaitGroup
	feed.Go(func() { // ends with ctx, or at a permanent error
		defer close(changes)
		refused = forwardLists(ctx, env, changes)
	})
	err := top.Run(ctx, top.Config{
		Changes: changes, In: in, Out: out,
		Give: func(ctx context.Context, s protocol.SessionInfo) error {
			return grantAsked(ctx, env, s)
		},
		Take: func(ctx context.Context, s protocol.SessionInfo) error {
			return env.WithViewer(func(c *client.Client) error {
				return c.Decide(ctx, &protocol.ControlDecide{
					SessionID: s.SessionID,
					By:        "gateway top",
				})
			})
		},
	})
	stop()
	feed.Wait()
	if errors.Is(err, top.ErrGone) {
		return refused
	}
	return err
}

// printChanges prints each change of the list of sessions on a line of its own, the first one with
// all of them.
func printChanges(ctx context.Context, env *cli.Env) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changes := make(chan protocol.Message)
	var refused error
	go func() { // ends with ctx, or at a permanent error
		defer close(changes)
		refused = forwardLists(ctx, env, changes)
	}()
	for m := range changes {
		line, err := json.Marshal(m)
		if err == nil {
			err = env.PrintLines(string(line))
		}
		if err != nil {
			stop()
			for range changes { // until it has ended
			}
			return err
		}
	}
	return refused
}

// gatewayPause is the interval of looking for a gateway.
const gatewayPause = 2 * time.Second

// forwardLists forwards the list of sessions, from one gateway to the next: this machine's gateway
// ends with its last session, and a new one starts with the next session. The error says why it
// cannot continue, nil when ctx ended.
func forwardLists(ctx context.Context, env *cli.Env, changes chan<- protocol.Message) error {
	ep, err := env.Endpoint()
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := env.WithViewer(func(c *client.Client) error {
			stream, err := c.WatchSessions(ctx)
			if err != nil {
				return err
			}
			for m := range stream {
				sendOrCancel(ctx, changes, m)
			}
			return nil
		})
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the end was requested
		}
		if f, _ := errors.AsType[*cli.Failure](err); err != nil &&
			(!ep.Local() || f == nil || f.Status != cli.StatusNoGateway) {
			return err
		}
		// a missing gateway has no sessions
		sendOrCancel(ctx, changes, &protocol.SessionsChanged{
			Full:     true,
			Sessions: []protocol.SessionInfo{},
		})
		_ = pace.Pause(ctx, gatewayPause)
	}
	return nil
}

func sendOrCancel(ctx context.Context, to chan<- protocol.Message, m protocol.Message) {
	select {
	case to <- m:
	case <-ctx.Done():
	}
}

// grantAsked gives the keyboard to the agent that asks, as s showed it to the owner, who has
// agreed.
func grantAsked(ctx context.Context, env *cli.Env, s protocol.SessionInfo) error {
	if err := env.RequireOutside("use a terminal that no agent sees"); err != nil {
		return err
	}
	token, err := env.OwnerToken()
	if err != nil {
		if f, ok := errors.AsType[*cli.Failure](err); ok && f.Hint != "" {
			return cli.Fail(f.Status, "%w; %s", err, f.Hint)
		}
		return err
	}
	m := &protocol.ControlDecide{
		Grant:     true,
		Level:     s.Keyboard.AskingLevel,
		AgentName: s.Keyboard.Asking,
	}
	return env.WithViewer(func(c *client.Client) error {
		return decideSigned(ctx, c, token, s, s.Keyboard.Epoch, m)
	})
}
