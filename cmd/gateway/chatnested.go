package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
)

const toFlag = "to"

// addressee is the session whose coding agent shall get what is said to outer: the one inside it that to names, or outer itself for "".
func addressee(ctx context.Context, c *client.Client, outer protocol.SessionInfo, to string) (protocol.SessionInfo, error) {
	if to == "" {
		return outer, nil
	}
	sessions, err := c.Sessions(ctx)
	if err != nil {
		return outer, err
	}
	inside := nestedIn(sessions, outer.SessionID)
	at := slices.IndexFunc(sessions, func(s protocol.SessionInfo) bool {
		return s.SessionID == to || s.Name == to && slices.Contains(inside, s.SessionID)
	})
	runs := "nothing runs inside " + outer.SessionID
	if len(inside) > 0 {
		runs = "inside " + outer.SessionID + " run: " + strings.Join(inside[:min(len(inside), mostNamed)], ", ")
	}
	switch {
	case to == outer.SessionID:
		return outer, usage("--%s %.60s: is that session itself: leave out --%s", toFlag, to, toFlag)
	case at < 0:
		return outer, fail(statusNoSession, "--%s %.60s: there is no such session", toFlag, to).hinted(runs)
	case !slices.Contains(inside, sessions[at].SessionID):
		return outer, fail(statusRefused, "--%s %.60s: does not run inside %s", toFlag, to, outer.SessionID).hinted(runs)
	case sessions[at].Chat == nil:
		return outer, fail(statusRefused, "--%s %.60s: no coding agent talks there", toFlag, to).hinted("to type there: gateway attach " + sessions[at].SessionID)
	}
	return sessions[at], nil
}

// nestedIn are the ids of the sessions that were started inside another, at any depth.
func nestedIn(all []protocol.SessionInfo, outer string) (inside []string) {
	parents := []string{outer}
	for len(parents) > 0 {
		parent := parents[0]
		parents = parents[1:]
		for _, s := range all {
			if s.ParentSessionID == parent && s.SessionID != outer && !slices.Contains(inside, s.SessionID) { // parents may go round in a circle
				inside, parents = append(inside, s.SessionID), append(parents, s.SessionID)
			}
		}
	}
	return inside
}

// sentTo says to whom a prompt went.
func sentTo(s protocol.SessionInfo, to string) string {
	if to == "" {
		return "sent"
	}
	return "sent to " + s.SessionID
}

// completeInner offers the sessions that run, whatever stands on the command line already.
func (a *app) completeInner(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return a.completeID(cmd, nil, word)
}
