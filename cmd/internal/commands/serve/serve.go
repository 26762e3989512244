// Package serve runs servers: a gateway for other machines, and MCP for one agent.
package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/notices"
	"terminalproxy/cmd/internal/hooks/notify"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/cmd/internal/tui/pictures"
	"terminalproxy/gateway"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/mcp"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/gateway/local"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/userdirs"
)

// serveOptions are the options of gateway serve.
type serveOptions struct {
	flags                     *pflag.FlagSet // bound to the fields below; a file sets them
	listen, cert, key, tokens string
	origins, hosts, trusted   []string
	page, log                 bool
	logFormat                 string
	sessions                  int
	config                    string
	check                     bool
	notify                    notices.Flags
	cluster                   clusterFlags
}

// New makes the command gateway serve.
func New(env *cli.Env) *cobra.Command {
	var opts serveOptions
	cmd := &cobra.Command{
		Use: "serve", Short: "Run a gateway that other machines can reach", Args: cobra.NoArgs,
		Long: "serve offers WebSockets at /v1/proxy, /v1/agent and /v1/view, plain HTTP at " +
			"/v1/sessions (described by GET\n" +
			"/v1/openapi.json), metrics at /metrics, and MCP at /mcp. Every agent needs a token " +
			"of its own:\n\n" +
			"  gateway token create claude --role agent\n" +
			"  claude mcp add --transport http term http://127.0.0.1:7117/mcp --header " +
			"\"Authorization: Bearer TOKEN\"\n\n" +
			"With --page it serves web pages, to browsers that have a link: gateway open " +
			"--gateway URL makes one, with a token of role\n" +
			"viewer or owner.\n\n" +
			"A file of settings (--config, TOML) holds flags without their dashes, as listen = " +
			"\"127.0.0.1:7117\".",
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.flags = cmd.LocalNonPersistentFlags()
			return runServe(cmd.Context(), env, &opts)
		},
	}
	opts.addFlags(cmd)
	return cmd
}

func (in *serveOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.listen, "listen", "127.0.0.1:7117",
		"TCP `ADDRESS` to listen on; anything but loopback needs a certificate")
	f.StringVar(&in.cert, "tls-cert", "", "`FILE` with the certificate chain (PEM)")
	f.StringVar(&in.key, "tls-key", "", "`FILE` with the certificate's key (PEM)")
	f.StringVar(&in.tokens, "tokens", "", cli.TokensHelp)
	f.StringSliceVar(&in.origins, "origin", nil,
		"`ORIGIN` of web pages that may connect; may be repeated")
	f.StringSliceVar(&in.hosts, "host", nil, "another host `NAME` of this server; may be repeated")
	f.BoolVar(&in.page, "page", false,
		"serve web pages, too; gateway open --gateway URL makes links to them")
	f.StringSliceVar(&in.trusted, "trust-proxy", nil,
		"address or network (`CIDR`) of a reverse proxy whose X-Forwarded-For is trusted; may "+
			"be repeated")
	f.BoolVar(&in.log, "log", false,
		"write a log to standard error: who comes and goes, and refusals; no contents")
	f.StringVar(&in.logFormat, "log-format", "", "write that log as text or json")
	f.IntVar(&in.sessions, "sessions", 1024,
		"most sessions at once; each takes some 60 KiB of memory, and a file")
	in.notify.AddFlags(f)
	in.cluster.addFlags(f)
	f.StringVar(&in.config, "config", "", "`FILE` of settings; flags override them")
	f.BoolVar(&in.check, "check", false, "check the settings and exit")
}

// runServe serves until ctx ends. The file of settings sets the flags that are bound to opts.
func runServe(ctx context.Context, env *cli.Env, opts *serveOptions) error {
	if opts.config != "" {
		file := settings{
			path:  opts.config,
			flags: opts.flags,
			never: []string{"check", "config", "help"},
		}
		if err := file.read(); err != nil {
			return err
		}
	}
	return serveGateway(ctx, env, *opts)
}

// maxServed bounds the sessions of one gateway.
const maxServed = 100_000

// basis holds what serve needs before it listens.
type basis struct {
	secure *tls.Config // may be nil
	tokens string      // path of the store
	store  *auth.Store
	// trusted are the reverse proxies whose headers are believed.
	trusted []netip.Prefix
	targets []notify.Target
}

// prepareServe checks the flags.
func prepareServe(in *serveOptions) (b basis, err error) {
	if in.logFormat != "" && in.logFormat != "text" && in.logFormat != "json" {
		return b, cli.Usage("serve: --log-format %.20q: must be text or json", in.logFormat)
	}
	if in.sessions < 1 || in.sessions > maxServed {
		return b, cli.Usage("serve: --sessions %d: must be 1 to %d", in.sessions, maxServed)
	}
	if b.targets, err = in.notify.Read("serve"); err != nil {
		return b, err
	}
	if err = in.cluster.checkFlags(); err != nil {
		return b, err
	}
	if b.secure, err = loadCertificate(in.cert, in.key); err != nil {
		return b, err
	}
	addr, err := net.ResolveTCPAddr("tcp", in.listen)
	if err != nil {
		return b, cli.Usage(
			"serve: --listen %.60q: %w: write it as 127.0.0.1:PORT, or :PORT for all addresses",
			in.listen, err)
	}
	if b.secure == nil && !addr.IP.IsLoopback() {
		return b, cli.Usage(
			"serve: --listen %s can be reached from other machines: add --tls-cert and "+
				"--tls-key, or listen on 127.0.0.1", in.listen)
	}
	if b.trusted, err = parseNetworks(in.trusted); err != nil {
		return b, err
	}
	b.tokens, b.store, err = cli.OpenTokens(in.tokens)
	return b, err
}

func serveGateway(ctx context.Context, env *cli.Env, in serveOptions) (err error) {
	b, err := prepareServe(&in)
	if err != nil {
		return err
	}
	if in.check {
		return reportSettings(ctx, env, in, b)
	}
	ln, err := listenTCP(ctx, in.listen)
	if err != nil {
		return err
	}
	log, logged := env.NewLogger(in.log || in.logFormat != "", in.logFormat == "json", slog.LevelInfo)
	defer logged()
	pages, err := in.webPages(log)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	server := gateway.New(in.gatewayConfig(b, pages, log))
	leave, err := in.cluster.joinCluster(server, in.publicAddress(ln), env.Err, log)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer leave()
	socket, err := localSocket()
	if err != nil {
		reportNoSocket(env, err, scheme(b.secure != nil)+"://"+in.publicAddress(ln))
	}
	announceGateway(env, ln, b.secure != nil, socket, b.tokens)
	if in.page {
		_, _ = fmt.Fprintln(env.Out,
			"web pages: on (make a link to one with: gateway open --gateway URL)")
	}
	log.Info("listening", "address", ln.Addr().String(), "tls", b.secure != nil,
		"version", version.String())
	defer log.Info("closed")
	dial := func(context.Context) (page.Link, error) {
		viewer := auth.Identity{Role: auth.RoleViewer}
		return page.NewSeatLink(server.JoinPage(viewer, listing)), nil
	}
	defer in.notify.Start(ctx, notices.Waiting{
		Targets: b.targets, Log: log, Link: in.linkTo, Dial: dial,
	})()
	return serveOn(ctx, server, ln, b.secure, socket)
}

// gatewayConfig returns the configuration of the gateway to serve.
func (in serveOptions) gatewayConfig(b basis, pages gateway.Pages, log *slog.Logger) gateway.Config {
	return gateway.Config{
		Log:      log,
		Pages:    pages,
		Trusted:  b.trusted,
		Tokens:   b.store,
		Hosts:    in.hosts,
		Origins:  in.origins,
		Draw:     pictures.Draw,
		Version:  version.String(),
		Sessions: in.sessions,
		Cluster:  in.cluster.clusterName(),
		// proxies of sessions before a restart reconnect in that time
		GathersUntil: time.Now().Add(local.GatherTime),
		MCP: func(c *client.Client, hold func() func()) gateway.MCPHandler {
			cfg := mcpConfig(c, log)
			cfg.Hold = hold
			return mcp.NewHTTP(cfg)
		},
	}
}

// reportSettings runs serve --check: it reports whether a gateway could start with these settings.
func reportSettings(ctx context.Context, env *cli.Env, in serveOptions, b basis) error {
	good, err := in.cluster.checkServers(ctx, env.Err)
	if err != nil {
		return err
	}
	verdict := "the settings are valid"
	if !good {
		verdict = "the gateway can start, and joins the cluster once this is fixed"
	}
	return env.PrintAnswer(
		map[string]any{"listen": in.listen, "tls": b.secure != nil, "tokens": b.tokens},
		fmt.Sprintf("%s: listen on %s://%s, tokens in %s", verdict, scheme(b.secure != nil),
			in.listen, b.tokens))
}

// publicAddress returns the address at which others find this gateway, for operators.
func (in *serveOptions) publicAddress(ln net.Listener) string {
	host, port, err := net.SplitHostPort(ln.Addr().String())
	if ip := net.ParseIP(host); err != nil || ip != nil && !ip.IsUnspecified() {
		return ln.Addr().String()
	}
	name, _ := os.Hostname()
	if len(in.hosts) > 0 {
		name = in.hosts[0]
	}
	return net.JoinHostPort(cmp.Or(name, host), port)
}

// serveOn serves on TCP, and on the local socket if it is not nil, until ctx ends.
func serveOn(
	ctx context.Context, server *gateway.Server, ln net.Listener, secure *tls.Config,
	socket *place.Place,
) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	if socket != nil {
		wg.Go(func() { stop(local.KeepPlace(ctx, server, socket)) }) // ends with ctx or with Close
	}
	wg.Go(func() { stop(server.ServeTCP(ctx, ln, secure)) }) // ends with ctx or with Close
	<-ctx.Done()
	err := server.Close()
	wg.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

func listenTCP(ctx context.Context, address string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil {
		return ln, nil
	}
	hint := "--listen needs an address of this machine: 127.0.0.1:PORT, or :PORT for all of them"
	if errors.Is(err, syscall.EADDRINUSE) {
		hint = "another gateway may be running there: choose another address with --listen"
	}
	return nil, cli.Fail(cli.StatusRefused, "serve: %w", err).WithHint(hint)
}

// loadCertificate makes the TLS configuration from two files, nil without files.
func loadCertificate(cert, key string) (*tls.Config, error) {
	switch {
	case cert == "" && key == "":
		return nil, nil //nolint:nilnil // no certificate is a configuration like any other
	case cert == "" || key == "":
		return nil, cli.Usage("serve: --tls-cert and --tls-key must be used together")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, cli.Usage("serve: certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}, nil
}

// localSocket takes over the user's local gateway socket if it is free.
func localSocket() (*place.Place, error) {
	dir, err := userdirs.Runtime()
	if err != nil {
		return nil, err
	}
	return local.TakePlace(dir)
}

// reportNoSocket reports why the local socket is not served here, and which process serves it.
func reportNoSocket(env *cli.Env, cause error, here string) {
	_, path, err := userdirs.LocalSocket()
	if err == nil && errors.Is(cause, place.ErrHeld) {
		if conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path}); err == nil {
			_, _ = fmt.Fprintf(env.Err, "gateway: serve: %s serves the local gateway already, on "+
				"unix:%s: this one serves %s alone\nhint: gateway ls shows its sessions, gateway "+
				"ls --gateway %s --token-file FILE those of this one; to serve both, start gateway "+
				"serve before the first proxy --agent or gateway mcp\n",
				place.ProcessOf(conn), path, here, here)
			_ = conn.Close()
			return
		}
	}
	_, _ = fmt.Fprintf(env.Err, "gateway: serve: not on the local socket: %v\n", cause)
}

func scheme(secure bool) string {
	if secure {
		return "wss"
	}
	return "ws"
}

// announceGateway prints the gateway's addresses and how to connect.
func announceGateway(env *cli.Env, ln net.Listener, secure bool, local *place.Place, tokens string) {
	_, _ = fmt.Fprintf(env.Out, "listening on %s://%s\n", scheme(secure), ln.Addr())
	if local != nil {
		_, _ = fmt.Fprintf(env.Out, "listening on unix:%s\n", local.Path())
	}
	_, _ = fmt.Fprintf(env.Out,
		"tokens: %s (create one with: gateway token create NAME --role proxy|agent|viewer|owner)\n",
		tokens)
}
