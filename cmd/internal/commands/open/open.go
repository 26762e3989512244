// Package open shows sessions on a web page, here or on another device.
package open

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/notices"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
)

// longestOpen is the largest value of open --for.
const longestOpen = 7 * 24 * time.Hour

// openOptions are the options of gateway open.
type openOptions struct {
	session            string
	role, listen, host string
	via                string
	types              bool
	forTime            time.Duration
	notify             notices.Flags
	// here: this process serves the page, for any gateway.
	here bool
}

// New makes the command gateway open.
func New(env *cli.Env) *cobra.Command {
	var opts openOptions
	cmd := &cobra.Command{
		Use:   "open [ID] [--role viewer|owner] [--type] [--for D]",
		Short: "Open a web page on which you see the sessions, until Ctrl+C",
		Args:  cobra.MaximumNArgs(1),
		Long: "open prints a link to a web page that shows the running sessions, or one, and " +
			"serves that page on this machine until\n" +
			"Ctrl+C or until --for is over. A link opens one browser within a minute; Enter " +
			"makes another.\n\n" +
			"With --gateway wss://HOST, the gateway there serves the page (gateway serve " +
			"--page), and any browser can open it.\n\n" +
			"With --role owner the page may take the keyboard back, write to agents, answer " +
			"their questions, and type into programs\n" +
			"that agents started; with --type, also into your own terminals. You confirm it " +
			"first, here: the page and this terminal\n" +
			"show the same six words.\n\n" +
			"Otherwise only this machine can reach the page. For another device, let tailscale, " +
			"ssh or cloudflared connect\n" +
			"it. Or put a server with TLS in front of the page, and name that server:\n\n" +
			"  gateway open --via tailscale\n" +
			"  gateway open --listen 127.0.0.1:7118 --host laptop.example.org",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session = cli.SessionArg(args)
			opts.here = cmd.Flags().Changed("listen") || opts.host != "" || opts.via != ""
			return runOpen(cmd.Context(), env, opts)
		},
	}
	opts.addFlags(cmd)
	return cmd
}

func (in *openOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.role, "role", string(auth.RoleViewer),
		"what the page may do. viewer: watch; owner: also answer agents and take the keyboard back")
	f.BoolVar(&in.types, "type", false,
		"with --role owner: the page may also type into your own terminals, as you do")
	f.DurationVar(&in.forTime, "for", 8*time.Hour, "how long the page stays open")
	f.StringVar(&in.listen, "listen", "127.0.0.1:0",
		"loopback `ADDRESS` to listen on; port 0 takes any free one")
	f.StringVar(&in.host, "host", "",
		"the `NAME`, or NAME:PORT, under which something else serves the page with TLS")
	f.StringVar(&in.via, "via", "",
		"let `PROGRAM` connect other devices to the page: tailscale, ssh or cloudflared, which "+
			"you have installed")
	in.notify.AddFlags(f)
}

// checkFlags rejects invalid flags and combinations.
func (in openOptions) checkFlags() error {
	if _, err := in.notify.Read("open"); err != nil {
		return err
	}
	switch role := auth.Role(in.role); {
	case role != auth.RoleViewer && role != auth.RoleOwner:
		return cli.Usage("open: --role %.20q: must be viewer or owner", in.role)
	case in.types && role != auth.RoleOwner:
		return cli.Usage("open: --type: needs --role owner: a viewer's page only watches")
	case in.forTime <= 0 || in.forTime > longestOpen:
		return cli.Usage("open: --for %s: must be more than 0 and at most %dh", in.forTime,
			longestOpen/time.Hour)
	case !slices.Contains([]string{"", viaTailscale, viaSSH, viaCloudflared}, in.via):
		return cli.Usage("open: --via %.20q: must be tailscale, ssh or cloudflared", in.via)
	case in.via != "" && in.host != "":
		return cli.Usage("open: --via %s: names the page itself: leave --host out", in.via)
	case strings.ContainsAny(in.host, "/@#? "):
		return cli.Usage("open: --host %.60q: write a name, or name:port, without https://", in.host)
	}
	host, _, err := net.SplitHostPort(in.listen)
	if err != nil {
		return cli.Usage("open: --listen %.60q: %w: write it as 127.0.0.1:PORT", in.listen, err)
	}
	if host != "127.0.0.1" && host != "::1" && host != "localhost" {
		return cli.Usage(
			"open: --listen %.60q: the page is served on this machine only: write it as "+
				"127.0.0.1:PORT; see --host for other devices", in.listen)
	}
	return nil
}

// runOpen serves a page, or asks a gateway elsewhere to serve it.
func runOpen(ctx context.Context, env *cli.Env, in openOptions) error {
	if err := in.checkFlags(); err != nil {
		return err
	}
	role := auth.Role(in.role)
	// an agent's shell has no terminal at which to confirm
	if role == auth.RoleOwner {
		if err := env.RequireOutside("use a terminal that no agent sees"); err != nil {
			return err
		}
		if _, err := env.RequirePerson(); err != nil {
			return err
		}
	}
	ep, err := env.Endpoint()
	if err != nil {
		return err
	}
	if ep.Remote() && !in.here {
		return openAt(ctx, env, ep, in.session, in)
	}
	return openHere(ctx, env, ep, in.session, in)
}

// openHere serves the page from this process.
func openHere(
	ctx context.Context, env *cli.Env, ep endpoint.Endpoint, id string, in openOptions,
) (err error) {
	role := auth.Role(in.role)
	way, err := pageConfig(env, ep, role)
	if err != nil {
		return err
	}
	session, err := pageSession(ctx, way, id)
	if err != nil {
		return err
	}
	hold, err := pageKeys(role)
	if err != nil {
		return err
	}
	if hold != nil {
		defer func() { err = errors.Join(err, hold.Close()) }()
	}
	ln, err := listenPage(ctx, in.listen)
	if err != nil {
		return err
	}
	by, err := openRequestedTunnel(ctx, env, in, ln)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer by.close()
	if by != nil {
		in.host = by.host
	}
	o := newOpening(env, hold, in)
	o.tunnel, o.local = by, "http://"+ln.Addr().String()
	o.session, o.base, o.dial = session, "http://"+ln.Addr().String(), dialPage(way)
	if in.host != "" {
		o.base, o.public = "https://"+strings.ToLower(in.host), true
	}
	door, err := page.New(page.Config{Hosts: o.extraHosts(), Version: version.String()})
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	opened, err := door.Open(page.Terms{
		Role:    role,
		Session: session,
		Expires: o.expires,
		Admit:   o.askAboutPage,
		Entered: o.reportEntry,
		Dial:    o.dial,
		Records: o.recordsMaker(way),
	})
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	o.source = localPages{opened}
	return o.run(ctx, func() error { return door.Serve(ln) }, door.Close)
}

// openRequestedTunnel opens the tunnel that --via asks for, or returns nil without --via.
func openRequestedTunnel(ctx context.Context, env *cli.Env, in openOptions, ln net.Listener) (*tunnel, error) {
	if in.via == "" {
		return nil, nil //nolint:nilnil // no tunnel is wanted
	}
	address, ok := ln.Addr().(*net.TCPAddr)
	if !ok {
		return nil, cli.Fail(cli.StatusRefused, "open: --via %s: no port to forward to", in.via)
	}
	return openTunnel(ctx, env, in.via, address.Port)
}

// dialPage connects to a gateway for one page.
func dialPage(way client.Config) func(context.Context) (page.Link, error) {
	return func(ctx context.Context) (page.Link, error) {
		frames, err := client.Open(ctx, way)
		if err != nil {
			return nil, err // an interface with a nil *client.Frames is not nil
		}
		return frames, nil
	}
}

// localPages serves the pages from this process.
type localPages struct{ *page.Opening }

// Code implements source.
func (h localPages) Code() (string, error) { return h.Opening.Code(), nil }

// Err implements source. Serve returns the other reasons.
func (h localPages) Err() error { return nil }

// pageConfig returns the configuration with which pages reach the gateway: as viewers, at another
// machine with the token of their role.
func pageConfig(env *cli.Env, ep endpoint.Endpoint, role auth.Role) (_ client.Config, err error) {
	if ep.Remote() && role == auth.RoleOwner {
		if ep.Token, err = env.OwnerToken(); err != nil {
			return client.Config{}, err
		}
	}
	way := env.ClientConfig(ep, protocol.PathView, "")
	way.Name = "a page"
	return way, nil
}

// pageSession returns the session that pages are limited to, "" without a limit. It fails when no
// gateway answers.
func pageSession(ctx context.Context, way client.Config, id string) (session string, err error) {
	err = cli.UseClient(client.New(way), nil, func(c *client.Client) error {
		if id == "" {
			_, err := c.Sessions(ctx)
			return err
		}
		s, err := cli.Lookup(ctx, c, id)
		session = s.SessionID
		return err
	})
	return session, err
}

// pageKeys returns the directory of the keys of owners' pages, nil for viewers. It removes keys
// that a killed process left there.
func pageKeys(role auth.Role) (*auth.Hold, error) {
	_, store, err := cli.OpenTokens("")
	if err == nil {
		err = store.SweepHolders()
	}
	if role != auth.RoleOwner {
		return nil, nil //nolint:nilnil // a viewer's page needs no keys, and no store
	}
	if err != nil {
		return nil, err
	}
	hold, err := store.RegisterHolder()
	if err != nil {
		return nil, cli.WriteFailure(fmt.Errorf("open: %w", err), "XDG_STATE_HOME")
	}
	return hold, nil
}

func listenPage(ctx context.Context, address string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, cli.Fail(cli.StatusRefused, "open: --listen %s: the port is taken", address).WithHint(
			"choose another port, or leave out --listen to get any free one")
	case err != nil:
		return nil, cli.Usage("open: --listen %.60q: %w", address, err)
	}
	return ln, nil
}

// extraHosts returns the names of the page's host besides this machine's own.
func (o *opening) extraHosts() []string {
	if o.flags.host == "" {
		return nil
	}
	return []string{o.flags.host}
}

// newLink makes a new link.
func (o *opening) newLink() (string, error) {
	code, err := o.source.Code()
	return o.base + "/#c=" + code, err
}

// linkTo returns the address of a session on an open page, or "" without one that others reach.
func (o *opening) linkTo(session string) string {
	if !o.public {
		return ""
	}
	return o.base + "/#s=" + url.QueryEscape(session)
}

// describeRights describes the rights of a page of the role.
func (o *opening) describeRights() string {
	of := "all sessions"
	if o.session != "" {
		of = "the session " + o.session
	}
	if auth.Role(o.flags.role) == auth.RoleOwner {
		keys := "type into programs that agents started"
		if o.flags.types {
			keys = "type into any program"
		}
		return "It may look at " + of + ", take the keyboard back, answer agents, and " + keys + "."
	}
	return "It may look at " + of + ", and do nothing else."
}
