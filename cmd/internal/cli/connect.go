package cli

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/text"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/names"
)

// DefaultName is the agent's name without --as.
const DefaultName = "cli"

// Endpoint returns the gateway that the flags name, with its token.
func (env *Env) Endpoint() (endpoint.Endpoint, error) {
	ep, err := endpoint.Parse(env.Gateway)
	if err != nil {
		return ep, Usage("%w", err)
	}
	ep.Displaced = func(why string) {
		_, _ = fmt.Fprintf(env.Err, "gateway: %s; waiting for another one to take over\n", why)
	}
	if env.TokenFile == "" {
		return ep, nil
	}
	if ep.Token, err = auth.ReadTokenFile(env.TokenFile); err != nil {
		return ep, Usage("%w", err)
	}
	return ep, nil
}

// ClientConfig returns the configuration of a client for the gateways of an address at one of their
// paths. view is the path for a token that may not use the other one, "" if all may.
func (env *Env) ClientConfig(ep endpoint.Endpoint, path, view string) client.Config {
	var doors []client.Door
	for _, one := range ep.All() {
		door := client.Door{Dial: one.DialContext, URL: one.URL(path), Header: one.Header()}
		if view != "" {
			door.ViewURL = one.URL(view)
		}
		doors = append(doors, door)
	}
	first := doors[0]
	var reported sync.Map // report each once, for all tries
	var warnOnce sync.Once
	return client.Config{
		Dial:    first.Dial,
		URL:     first.URL,
		ViewURL: first.ViewURL,
		Header:  first.Header,
		Others:  doors[1:],
		Skipped: func(gateway string, why error) {
			if _, again := reported.LoadOrStore(gateway+why.Error(), true); !again {
				_, _ = fmt.Fprintf(env.Err, "gateway: skipped %s: %v\n", gateway, why)
			}
		},
		Incomplete: func(m *protocol.Incomplete) {
			warnOnce.Do(func() {
				_, _ = fmt.Fprintf(env.Err, "gateway: the list of sessions is incomplete: %s\n",
					text.Incomplete(m, time.Now()))
			})
		},
	}
}

// dialAsViewer connects as a viewer, for an owner's acts. If the gateway needs a token, it uses the
// owner's.
func (env *Env) dialAsViewer() (*client.Client, error) {
	ep, err := env.Endpoint()
	if err != nil {
		return nil, err
	}
	if ep.Remote() {
		if ep.Token, err = env.OwnerToken(); err != nil {
			return nil, err
		}
	}
	return client.New(env.ClientConfig(ep, protocol.PathView, "")), nil
}

// dialAsAgent connects as an agent; own is for dialOrServeKept. Only a command that will ask for
// control needs an identity: create makes its file, and reading leaves no file behind.
func (env *Env) dialAsAgent(name string, create bool, own *LocalShare) (*client.Client, error) {
	ep, err := env.Endpoint()
	if err != nil {
		return nil, err
	}
	if why := names.NameFault(name); why != "" {
		return nil, Usage("--as: %.40q cannot be an agent's name: %s", name, why)
	}
	key, err := Identity(name, create)
	if err != nil {
		return nil, err
	}
	cfg := env.ClientConfig(ep, protocol.PathAgent, protocol.PathView)
	cfg.Dial, cfg.Name, cfg.Key = dialOrServeKept(ep, own), name, key
	if err := env.IdentifyAgent(&cfg, env.AgentToken); err != nil {
		return nil, err
	}
	return client.New(cfg), nil
}

// WithGatewayHint adds the next step to the failure of a command that only connects.
func WithGatewayHint(err error) error {
	if gone, ok := errors.AsType[*client.Unreachable](err); ok {
		if dir, ok := errors.AsType[*userdirs.DirError](gone.Cause); ok {
			return Fail(StatusNoGateway, "connect: %w", dir).
				WithHint("gateway doctor lists what else is wrong")
		}
		hint := client.Hint(gone.Cause)
		if errors.Is(gone.Cause, fs.ErrNotExist) && hint == "" {
			return Fail(StatusNoGateway, "connect: no gateway is running").WithHint(HintNothingRuns)
		}
		return Fail(
			StatusNoGateway,
			"connect: no gateway answers: %w",
			gone.Cause,
		).WithHint(cmp.Or(hint, HintNothingRuns+"; or check --gateway"))
	}
	return err
}

// WithClient runs a command's work on a connection.
func (env *Env) WithClient(name string, create bool, work func(*client.Client) error) error {
	own := &LocalShare{Log: slog.New(slog.DiscardHandler)}
	c, err := env.dialAsAgent(name, create, own)
	return errors.Join(UseClient(c, err, work), own.Close())
}

// WithPerson runs a person's work on a connection: as a viewer of the local gateway, which requires
// no token from people, and elsewhere as the agent that has a token.
func (env *Env) WithPerson(as string, work func(*client.Client) error) error {
	ep, err := env.Endpoint()
	if err != nil {
		return err
	}
	if !ep.Local() {
		return env.WithClient(as, false, work)
	}
	own := &LocalShare{Log: slog.New(slog.DiscardHandler)}
	c := client.New(client.Config{
		Dial:   dialOrServeKept(ep, own),
		URL:    ep.URL(protocol.PathView),
		Header: ep.Header(),
		Name:   as,
	})
	return errors.Join(UseClient(c, nil, work), own.Close())
}

// WithViewer runs an owner's work on a connection as a viewer.
func (env *Env) WithViewer(work func(*client.Client) error) error {
	c, err := env.dialAsViewer()
	return UseClient(c, err, work)
}

// UseClient runs work on a connection and closes it. If err is not nil, it returns err.
func UseClient(c *client.Client, err error, work func(*client.Client) error) error {
	if err != nil {
		return err
	}
	err = work(c)
	return WithGatewayHint(errors.Join(err, c.Close()))
}

// Identity returns the secret that identifies this command line as the same agent each time, one
// for each name. It is kept in the state directory. Without create, Identity returns "" if the file
// does not exist.
func Identity(name string, create bool) (string, error) {
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
		if err := NewSecret(path, rand.Text()+rand.Text()); err != nil &&
			!errors.Is(err, fs.ErrExist) {
			return "", WriteFailure(fmt.Errorf("this command's identity: %w", err), "XDG_STATE_HOME")
		}
		secret, err = auth.ReadTokenFile(path)
	}
	if err != nil {
		if errors.Is(err, fs.ErrPermission) && !create {
			return "", nil // a command that only reads needs no identity
		}
		return "", WriteFailure(fmt.Errorf("this command's identity: %w", err), "XDG_STATE_HOME")
	}
	if name == DefaultName {
		return secret, nil
	}
	sum := sha256.Sum256([]byte(secret + "\n" + name))
	return hex.EncodeToString(sum[:]), nil
}
