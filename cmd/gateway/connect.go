package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"terminalproxy/cmd/internal/pictures"
	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/local"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/text"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/link"
)

// defaultName is the agent that a command line is when --as says nothing else.
const defaultName = "cli"

// endpoint returns the gateway that the flags name, with its token.
func (a *app) endpoint() (endpoint.Endpoint, error) {
	ep, err := endpoint.Parse(a.gateway)
	if err != nil {
		return ep, usage("%w", err)
	}
	ep.Displaced = func(why string) {
		_, _ = fmt.Fprintf(a.err, "gateway: %s; waiting for another one to take over\n", why)
	}
	if a.tokenFile == "" {
		return ep, nil
	}
	if ep.Token, err = auth.ReadTokenFile(a.tokenFile); err != nil {
		return ep, usage("%w", err)
	}
	return ep, nil
}

// clientConfig returns how a client reaches the gateways of an address at one of their paths. view
// is the path for a token that may not use that one, "" if all may.
func (a *app) clientConfig(ep endpoint.Endpoint, path, view string) client.Config {
	var doors []client.Door
	for _, one := range ep.All() {
		door := client.Door{Dial: one.DialContext, URL: one.URL(path), Header: one.Header()}
		if view != "" {
			door.ViewURL = one.URL(view)
		}
		doors = append(doors, door)
	}
	first := doors[0]
	var said sync.Map // report each once, for all tries
	var lacks sync.Once
	return client.Config{
		Dial:    first.Dial,
		URL:     first.URL,
		ViewURL: first.ViewURL,
		Header:  first.Header,
		Others:  doors[1:],
		Passed: func(gateway string, why error) {
			if _, again := said.LoadOrStore(gateway+why.Error(), true); !again {
				_, _ = fmt.Fprintf(a.err, "gateway: skipped %s: %v\n", gateway, why)
			}
		},
		Incomplete: func(m *protocol.Incomplete) {
			lacks.Do(func() {
				_, _ = fmt.Fprintf(a.err, "gateway: the list of sessions is incomplete: %s\n",
					text.Incomplete(m, time.Now()))
			})
		},
	}
}

// dialAsViewer makes a client that connects as a viewer, for an owner's acts. Where a token is
// wanted it is the owner's.
func (a *app) dialAsViewer() (*client.Client, error) {
	ep, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	if ep.Remote() {
		if ep.Token, err = a.ownerToken(); err != nil {
			return nil, err
		}
	}
	return client.New(a.clientConfig(ep, protocol.PathView, "")), nil
}

// dialOrServeKept dials a gateway. If no process serves the local one, and it keeps the sessions of
// ended programs, own serves it for as long as the command runs.
func dialOrServeKept(ep endpoint.Endpoint, own *share) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		conn, err := ep.DialContext(ctx)
		if err == nil || !ep.Local() || !place.IsVacant(err) {
			return conn, err
		}
		if dir, _, bad := userdirs.LocalSocket(); dir == "" || bad != nil ||
			!local.HasKeptSessions(dir) {
			return nil, err
		}
		return own.dialLocal(ctx)
	}
}

// dialAsAgent makes a client that joins a gateway; own is for [orKept]. Only a command that will
// ask for control needs an identity; looking leaves no file behind.
func (a *app) dialAsAgent(name string, create bool, own *share) (*client.Client, error) {
	ep, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	if why := names.NameFault(name); why != "" {
		return nil, usage("--as: %.40q cannot be an agent's name: %s", name, why)
	}
	key, err := identity(name, create)
	if err != nil {
		return nil, err
	}
	cfg := a.clientConfig(ep, protocol.PathAgent, protocol.PathView)
	cfg.Dial, cfg.Name, cfg.Key = dialOrServeKept(ep, own), name, key
	if err := a.asksWith(&cfg, a.agentToken); err != nil {
		return nil, err
	}
	return client.New(cfg), nil
}

// noGateway adds what to do to the failure of a command that only joins.
func noGateway(err error) error {
	if gone, ok := errors.AsType[*client.Unreachable](err); ok {
		if errors.Is(gone.Cause, fs.ErrNotExist) {
			return fail(statusNoGateway, "connect: no gateway is running").withHint(hintNothingRuns)
		}
		return fail(
			statusNoGateway,
			"connect: no gateway answers: %w",
			gone.Cause,
		).withHint(cmp.Or(client.Hint(gone.Cause), hintNothingRuns+"; or check --gateway"))
	}
	return err
}

// withClient runs a command's work on a connection.
func (a *app) withClient(name string, create bool, work func(*client.Client) error) error {
	own := &share{log: slog.New(slog.DiscardHandler)}
	c, err := a.dialAsAgent(name, create, own)
	return errors.Join(over(c, err, work), own.close())
}

// asPerson runs a person's work on a connection: as a viewer of the local gateway, where a person
// needs no token, and elsewhere as the agent that has one.
func (a *app) asPerson(as string, work func(*client.Client) error) error {
	ep, err := a.endpoint()
	if err != nil {
		return err
	}
	if !ep.Local() {
		return a.withClient(as, false, work)
	}
	own := &share{log: slog.New(slog.DiscardHandler)}
	c := client.New(client.Config{
		Dial:   dialOrServeKept(ep, own),
		URL:    ep.URL(protocol.PathView),
		Header: ep.Header(),
		Name:   as,
	})
	return errors.Join(over(c, nil, work), own.close())
}

// withViewer runs an owner's work on a connection as a viewer.
func (a *app) withViewer(work func(*client.Client) error) error {
	c, err := a.dialAsViewer()
	return over(c, err, work)
}

// over runs work on a connection and closes it; err is why there is no connection.
func over(c *client.Client, err error, work func(*client.Client) error) error {
	if err != nil {
		return err
	}
	err = work(c)
	return noGateway(errors.Join(err, c.Close()))
}

// named returns the session that a command line names. "" stands for the only one that runs.
func named(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// about runs work on the session that the user names.
func about(
	ctx context.Context,
	id string,
	work func(*client.Client, protocol.SessionInfo) error,
) func(*client.Client) error {
	return func(c *client.Client) error {
		s, err := lookup(ctx, c, id)
		if err != nil {
			return err
		}
		return work(c, s)
	}
}

// mostNamed is how many sessions an error names.
const mostNamed = 10

// lookup finds a session by its id or name, or by a beginning that only one has; "" means the only
// one that runs. If no session or several fit, the error lists the candidates.
func lookup(ctx context.Context, c *client.Client, id string) (protocol.SessionInfo, error) {
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
	problem := fmt.Sprintf("no session %.40q", id)
	meant, more := text.SelectCandidates(sessions)
	switch {
	case len(sessions) == 0 && id == "":
		return protocol.SessionInfo{}, fail(statusNoSession,
			"no sessions are running").withHint(hintNothingRuns)
	case len(sessions) == 0:
		return protocol.SessionInfo{}, fail(statusNoSession,
			"session %.40q: no sessions are running", id).withHint(hintNothingRuns)
	case len(fits) > 1 && id == "":
		problem = "which session? several are running"
	case len(fits) > 1:
		problem, meant, more = fmt.Sprintf("session %.40q: several have this name", id), fits, 0
	case id == "":
		problem = "no session is running"
	}
	var ids []string
	for _, s := range meant[:min(len(meant), mostNamed)] {
		ids = append(ids, s.SessionID)
	}
	hint := "running: " + strings.Join(ids, ", ")
	if meant[0].State == protocol.StateExited {
		hint = "ended: " + strings.Join(ids, ", ")
	}
	if len(meant) > mostNamed {
		hint += fmt.Sprintf(", and %d more: see gateway ls", len(meant)-mostNamed)
	} else if more > 0 {
		hint += ", " + text.MoreEnded(more)
	}
	return protocol.SessionInfo{}, fail(statusNoSession, "%s", problem).withHint(hint)
}

// identity returns the secret that makes this command line the same agent each time, one for each
// name. It is kept in the state directory; "" means that none exists yet and create is false.
func identity(name string, create bool) (string, error) {
	dir, err := userdirs.State()
	if err != nil && !create {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("this command's identity: %w", err)
	}
	path := filepath.Join(dir, "agent.key")
	secret, err := auth.ReadTokenFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if !create {
			return "", nil
		}
		if err := newSecret(path, rand.Text()+rand.Text()); err != nil &&
			!errors.Is(err, fs.ErrExist) {
			return "", unwritten(fmt.Errorf("this command's identity: %w", err), "XDG_STATE_HOME")
		}
		secret, err = auth.ReadTokenFile(path)
	}
	if err != nil {
		return "", fmt.Errorf("this command's identity: %w", err)
	}
	if name == defaultName {
		return secret, nil
	}
	sum := sha256.Sum256([]byte(secret + "\n" + name))
	return hex.EncodeToString(sum[:]), nil
}

// share is this process's part in the local gateway, made at the first connection: a program that
// only gets asked for its tools touches no directory.
type share struct {
	log *slog.Logger

	mu    sync.Mutex
	local *local.Gateway
}

func (s *share) dialLocal(ctx context.Context) (net.Conn, error) {
	own, err := s.localGateway()
	if err != nil {
		return nil, err
	}
	return own.Dial(ctx)
}

// joinLocal joins the gateway if this process serves it; otherwise the seat is nil.
func (s *share) joinLocal() (link.Seat, error) {
	own, err := s.localGateway()
	if err != nil {
		return nil, err
	}
	if seat, err := own.TakeSeat(); seat != nil || err != nil {
		return seat, err
	}
	return nil, nil //nolint:nilnil // no seat is no failure
}

func (s *share) localGateway() (*local.Gateway, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local == nil {
		dir, err := userdirs.Runtime()
		if err != nil {
			return nil, err
		}
		s.local = local.New(dir, s.log)
		s.local.Draw = pictures.Draw
	}
	return s.local, nil
}

func (s *share) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local == nil {
		return nil
	}
	return s.local.Close()
}

// printAnswer prints v with --json, and lines for people without it.
func (a *app) printAnswer(v any, lines ...string) error {
	if a.json {
		return a.printJSON(v)
	}
	return a.printLines(lines...)
}

// printTable prints rows, whose cells tabs separate.
func (a *app) printTable(rows []string) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(w, strings.Join(rows, "\n"))
	return errors.Join(err, w.Flush())
}

// printJSON writes the answer of --json.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printLines writes lines for people.
func (a *app) printLines(lines ...string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(a.out, line); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
	}
	return nil
}
