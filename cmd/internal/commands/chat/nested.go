package chat

import (
	"context"
	"slices"
	"strings"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
)

const toFlag = "to"

// findAddressee returns the session whose coding agent receives a message to outer: the session
// inside outer that to names, or outer itself if to is "".
func findAddressee(
	ctx context.Context, c *client.Client, outer protocol.SessionInfo, to string,
) (protocol.SessionInfo, error) {
	if to == "" {
		return outer, nil
	}
	sessions, err := c.Sessions(ctx)
	if err != nil {
		return outer, err
	}
	inside := findNested(sessions, outer.SessionID)
	at := slices.IndexFunc(sessions, func(s protocol.SessionInfo) bool {
		return s.SessionID == to || s.Name == to && slices.Contains(inside, s.SessionID)
	})
	runs := "nothing runs inside " + outer.SessionID
	if len(inside) > 0 {
		runs = "inside " + outer.SessionID + " run: " + strings.Join(inside[:min(len(inside), cli.MostNamed)], ", ")
	}
	switch {
	case to == outer.SessionID:
		return outer, cli.Usage("--%s %.60s: is that session itself: leave out --%s", toFlag, to,
			toFlag)
	case at < 0:
		return outer, cli.Fail(cli.StatusNoSession, "--%s %.60s: there is no such session", toFlag,
			to).WithHint(runs)
	case !slices.Contains(inside, sessions[at].SessionID):
		return outer, cli.Fail(cli.StatusRefused, "--%s %.60s: does not run inside %s", toFlag, to,
			outer.SessionID).WithHint(runs)
	case sessions[at].Chat == nil:
		return outer, cli.Fail(
			cli.StatusRefused,
			"--%s %.60s: there is no coding agent to talk to",
			toFlag,
			to,
		).WithHint("to type there: gateway attach " + sessions[at].SessionID)
	}
	return sessions[at], nil
}

// findNested returns the ids of the sessions that were started inside another one, at any depth.
func findNested(all []protocol.SessionInfo, outer string) (inside []string) {
	parents := []string{outer}
	for len(parents) > 0 {
		parent := parents[0]
		parents = parents[1:]
		for _, s := range all {
			// parents may go round in a circle
			if s.ParentSessionID == parent && s.SessionID != outer &&
				!slices.Contains(inside, s.SessionID) {
				inside, parents = append(inside, s.SessionID), append(parents, s.SessionID)
			}
		}
	}
	return inside
}

// formatAddressee names the receiver of a prompt.
func formatAddressee(s protocol.SessionInfo, to string) string {
	if to == "" {
		return "sent"
	}
	return "sent to " + s.SessionID
}
