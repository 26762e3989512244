// Package programs hosts the programs that a command starts for an agent.
package programs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/marks"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/detached/headless"
	"terminalproxy/proxy/terminal/watchdog"
)

// hostPatience is how long the gateway may take to register the host.
const hostPatience = 5 * time.Second

// Host is a client that also starts programs, in a host of this process, which starts with the
// first program. A start that the gateway forwards must match one that was requested here: the
// gateway alone can start nothing (SAFETY R33).
type Host struct {
	*client.Client
	Conf  headless.Config
	taste proxy.Taste
	Chat  *proxy.Chat // with the only program, or around all of them, or nil
	stop  context.CancelFunc
	ctx   context.Context //nolint:containedctx // the host lives as long as this process

	mu     sync.Mutex
	host   *headless.Host
	ended  chan struct{}                   // closed when the host has ended
	asked  map[string]*protocol.ProxyStart // open starts, by request id
	secret string
	reaper *exec.Cmd // nil before the first program
}

// New makes a host for a client on the local gateway.
func New(
	c *client.Client, ep endpoint.Endpoint, local *cli.LocalShare, taste proxy.Taste,
	log *slog.Logger,
) *Host {
	p := &Host{
		Client: c,
		taste:  taste,
		asked:  make(map[string]*protocol.ProxyStart),
		secret: strings.ToLower(rand.Text()),
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.Conf = headless.Config{
		Dial:   local.DialLocal,
		Join:   local.JoinLocal,
		URL:    ep.URL(protocol.PathProxy),
		Header: ep.Header(),
		Key:    p.secret,
		Allow:  p.allowStart,
		Owner:  auth.VerifyOwnSigner,
		Reaper: p.startReaper,
		Log:    log,
	}
	return p
}

// Start starts a program on this process's host.
func (p *Host) Start(ctx context.Context, m *protocol.ProxyStart) (string, error) {
	ready, cancel := context.WithTimeoutCause(ctx, hostPatience,
		errors.New("the gateway did not answer the host in time"))
	defer cancel()
	if err := p.ensureHost().WaitReady(ready); err != nil {
		return "", fmt.Errorf("the gateway is not ready to start programs: %w", err)
	}
	m.HostKey, m.RequestID = p.secret, strings.ToLower(rand.Text())
	m.Env = append(m.Env, marks.Env(m)...)
	p.mu.Lock()
	p.asked[m.RequestID] = m
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.asked, m.RequestID)
	}()
	return p.Client.Start(ctx, m)
}

// allowStart accepts each start that was requested here, once and unchanged.
func (p *Host) allowStart(m *protocol.ProxyStart) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	// the gateway prefixes the agent's id
	_, id, _ := strings.Cut(m.RequestID, ":")
	asked := p.asked[id]
	delete(p.asked, id)
	if asked == nil || asked.Command != m.Command || asked.Cwd != m.Cwd ||
		!slices.Equal(asked.Args, m.Args) || !slices.Equal(asked.Env, m.Env) {
		return errors.New(
			"this host's agent did not ask for that program: a host starts only what its own " +
				"agent asks for")
	}
	return nil
}

// ensureHost returns the host, and starts it if needed.
func (p *Host) ensureHost() *headless.Host {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.host == nil {
		p.host, p.ended = proxy.NewChatHost(p.Conf, p.taste, p.Chat), make(chan struct{})
		go func(h *headless.Host) { // ends with close, which waits for it
			defer close(p.ended)
			h.Run(p.ctx)
		}(p.host)
	}
	return p.host
}

// Close ends the host and everything that it started.
func (p *Host) Close() {
	p.stop()
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	if ended == nil {
		return
	}
	<-ended
	if p.reaper != nil {
		_ = p.reaper.Wait() // it ends when its input is closed
	}
}

// reapCommand is the hidden command of a reaper.
const reapCommand = "reap-sessions"

// startReaper starts this program again as a reaper: a process that ends the programs if this one
// is killed. It runs in a new session, so that signals to this one do not reach it.
func (p *Host) startReaper() (io.WriteCloser, error) {
	cmd := exec.Command(watchdog.Self(), reapCommand) //nolint:noctx // it outlives this process
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.reaper = cmd
	return in, nil
}

// NewReap makes the command that startReaper starts.
func NewReap(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: reapCommand, Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
			headless.RunReaper(env.In)
			return nil
		},
	}
}

// RefusingHost replaces the host if the gateway is on another machine. Its sessions belong to
// others, and it must not start programs here.
type RefusingHost struct {
	*client.Client
	At string
}

// Start refuses.
func (e RefusingHost) Start(context.Context, *protocol.ProxyStart) (string, error) {
	return "", fmt.Errorf(
		"programs start on the local gateway only, and this one is %s: leave out --gateway, or "+
			"have the user start a session with proxy --agent PROGRAM", e.At)
}
