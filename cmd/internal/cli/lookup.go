package cli

import (
	"context"
	"fmt"
	"strings"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// SessionArg returns the session that a command line names, or "" for the only running one.
func SessionArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// OnSession runs work on the session that the user names.
func OnSession(
	ctx context.Context, id string, work func(*client.Client, protocol.SessionInfo) error,
) func(*client.Client) error {
	return func(c *client.Client) error {
		s, err := Lookup(ctx, c, id)
		if err != nil {
			return err
		}
		return work(c, s)
	}
}

// MostNamed is how many sessions an error lists.
const MostNamed = 10

// Lookup finds a session by its id or name, or by a unique prefix; "" means the only running one.
// If no session or several match, the error lists the candidates.
func Lookup(ctx context.Context, c *client.Client, id string) (protocol.SessionInfo, error) {
	var sessions, fits []protocol.SessionInfo
	for gather := c.Gather(); ; {
		var err error
		if sessions, err = c.Sessions(ctx); err != nil {
			return protocol.SessionInfo{}, err
		}
		if fits = text.Find(sessions, id); len(fits) == 1 {
			return fits[0], nil
		}
		if again, err := gather.WaitToRetry(ctx); !again || err != nil {
			break
		}
	}
	return protocol.SessionInfo{}, lookupFailure(sessions, fits, id)
}

// lookupFailure returns the error for an id that names no session, or several, and lists the
// candidates.
func lookupFailure(sessions, fits []protocol.SessionInfo, id string) error {
	problem := fmt.Sprintf("no session %.40q", id)
	meant, more := text.SelectCandidates(sessions)
	switch {
	case len(sessions) == 0 && id == "":
		return Fail(StatusNoSession, "no sessions are running").WithHint(HintNothingRuns)
	case len(sessions) == 0:
		return Fail(StatusNoSession, "session %.40q: no sessions are running", id).
			WithHint(HintNothingRuns)
	case len(fits) > 1 && id == "":
		problem = "which session? several are running"
	case len(fits) > 1:
		problem, meant, more = fmt.Sprintf("session %.40q: several have this name", id), fits, 0
	case id == "":
		problem = "no session is running"
	}
	var ids []string
	for _, s := range meant[:min(len(meant), MostNamed)] {
		ids = append(ids, s.SessionID)
	}
	hint := "running: " + strings.Join(ids, ", ")
	if meant[0].State == protocol.StateExited {
		hint = "ended: " + strings.Join(ids, ", ")
	}
	if len(meant) > MostNamed {
		hint += fmt.Sprintf(", and %d more: see gateway ls", len(meant)-MostNamed)
	} else if more > 0 {
		hint += ", " + text.MoreEnded(more)
	}
	return Fail(StatusNoSession, "%s", problem).WithHint(hint)
}
