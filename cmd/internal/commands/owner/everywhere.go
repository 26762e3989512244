package owner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
)

// queryTimeout bounds the query to each of several gateways: an unreachable one must not delay an
// act that takes rights away.
const queryTimeout = 3 * time.Second

// queried is one of several gateways, with the wanted session if it is there.
type queried struct {
	at      endpoint.Endpoint
	client  *client.Client
	session protocol.SessionInfo
	err     error
}

// runEverywhere runs an act that takes rights away at the gateway that has the session, of all that
// --gateway names. Gateways of a cluster know all sessions; others know only their own, so the
// first that answers may not have the session.
func runEverywhere(
	ctx context.Context, env *cli.Env, ep endpoint.Endpoint, id string,
	act func(*client.Client, protocol.SessionInfo) error,
) error {
	all := askAll(ctx, env, ep, id)
	defer func() {
		for _, one := range all {
			_ = one.client.Close()
		}
	}()
	found, err := selectFound(all)
	if err != nil {
		return err
	}
	var last error
	for _, one := range found { // a lost gateway has others of its cluster
		if last = act(one.client, one.session); last == nil {
			return nil
		}
	}
	return last
}

// selectFound returns the gateways that have the session. It fails if the session is not
// found, or if the gateways have different sessions of that name.
func selectFound(all []queried) (found []queried, err error) {
	var lost []string
	for _, one := range all {
		var f *cli.Failure
		switch {
		case one.err == nil && len(found) > 0 &&
			found[0].session.SessionID != one.session.SessionID:
			return nil, cli.Fail(cli.StatusNoSession, "which session? %s is at %s, and %s at %s",
				found[0].session.SessionID, found[0].at, one.session.SessionID, one.at)
		case one.err == nil:
			found = append(found, one)
		case errors.As(one.err, &f) && f.Status == cli.StatusNoSession:
			err = one.err
		default:
			lost = append(lost, fmt.Sprintf("%s: %v", one.at, one.err))
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(lost) == 0:
		return nil, err
	}
	return nil, cli.Fail(cli.StatusNoGateway,
		"connect: the session may be at a gateway that does not answer: %s",
		strings.Join(lost, "; ")).
		WithHint(
			"take the keyboard back at the session's own terminal (" + cli.UserKeys().Reclaim.Label() +
				")")
}

// askAll asks all gateways of an address at once for the wanted session.
func askAll(ctx context.Context, env *cli.Env, ep endpoint.Endpoint, id string) []queried {
	all := make([]queried, len(ep.All()))
	var wg sync.WaitGroup
	for i, at := range ep.All() {
		all[i] = queried{at: at, client: client.New(env.ClientConfig(at, protocol.PathView, ""))}
		wg.Go(func() { // ends within queryTimeout
			within, cancel := context.WithTimeout(ctx, queryTimeout)
			defer cancel()
			all[i].session, all[i].err = cli.Lookup(within, all[i].client, id)
			if gone, ok := errors.AsType[*client.Unreachable](all[i].err); ok {
				all[i].err = gone.Cause
			}
			if errors.Is(all[i].err, context.DeadlineExceeded) {
				all[i].err = errors.New("no answer")
			}
		})
	}
	wg.Wait()
	return all
}
