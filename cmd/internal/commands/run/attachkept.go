package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/term"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/terminals"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/detached/keep"
)

// attachKept attaches to the kept session with this id, if it is on this machine. It needs no
// gateway, so that a gateway that does not answer is no obstacle. found reports whether there is
// such a session.
func attachKept(env *cli.Env, id string, in, out *os.File, watch bool) (found bool, err error) {
	dir, _, err := userdirs.LocalSocket()
	if err != nil || id == "" || watch {
		return false, nil //nolint:nilerr // it may not be a kept session
	}
	inside := os.Getenv(proxy.SessionVariable)
	if _, err := os.Stat(keep.DoorPath(dir, id)); err != nil || inside != "" && inside != id {
		return false, nil //nolint:nilerr // it may still be on its own screen: that is checked later
	}
	if id == inside {
		return true, rejectSelf(id, id)
	}
	return true, lendTerminal(env, id, in, out)
}

// lendTerminal lends this terminal to a kept session until the session releases it.
func lendTerminal(env *cli.Env, id string, in, out *os.File) error {
	dir, _, err := userdirs.LocalSocket()
	if err != nil {
		return cli.Fail(cli.StatusRefused, "attach: %w", err)
	}
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return errNoTerminal
	}
	conn, err := keep.DialDoor(dir, id)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Fail(cli.StatusNoSession,
			"attach: %s is kept on another machine, or by another user", id).WithHint(
			"run gateway attach where it runs, over ssh",
		)
	}
	if err != nil {
		return cli.Fail(cli.StatusRefused, "attach: %s: %w", id, err)
	}
	end, err := keep.LendTerminal(conn, in, out, env.Err, terminals.Find(os.Getenv).ForCtrlG())
	switch {
	case err != nil:
		return cli.Fail(cli.StatusRefused, "attach: %s: %w", id, err)
	case end.Release != "":
		_, err = fmt.Fprint(env.Err, end.Message())
	case end.Ended:
		_, err = fmt.Fprintf(env.Err, "[%s: ended with exit status %d]\n", id, end.Code)
	case !end.Hangup:
		return cli.Fail(cli.StatusRefused, "attach: the proxy of %s has ended", id)
	}
	return err
}

// rejectAgentTerminal refuses to attach to the user's session in a terminal that an agent started:
// the agent would have the user's keyboard there.
func rejectAgentTerminal(ctx context.Context, c *client.Client) error {
	inside := os.Getenv(proxy.SessionVariable)
	if inside == "" {
		return nil
	}
	all, err := c.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.SessionID == inside && s.Headless {
			return cli.Fail(cli.StatusForbidden,
				"attach: this terminal, %s, belongs to an agent, and agents have no keyboard in "+
					"a user's session", inside).
				WithHint("gateway request asks the user for it")
		}
	}
	return nil
}

// findOnlyDetached returns the only session without a window, or "" if there is not exactly one.
func findOnlyDetached(ctx context.Context, c *client.Client) (id string) {
	sessions, err := c.Sessions(ctx)
	if err != nil {
		return ""
	}
	for _, s := range sessions {
		switch {
		case s.DetachedAt == 0 || s.State != protocol.StateRunning:
		case id != "":
			return ""
		default:
			id = s.SessionID
		}
	}
	return id
}
