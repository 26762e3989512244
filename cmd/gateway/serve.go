package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/pictures"
	"terminalproxy/cmd/internal/version"
	"terminalproxy/gateway"
	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/mcp"
	"terminalproxy/gateway/place"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, cert, key, tokens string
	origins, hosts            []string
	log                       bool
}

func (a *app) newServe() *cobra.Command {
	var in serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Run a gateway that other machines can reach", Args: cobra.NoArgs,
		Long: "serve offers WebSockets at /v1/proxy, /v1/agent and /v1/view, plain HTTP at /v1/sessions (described by GET\n" +
			"/v1/openapi.json), metrics at /metrics, and MCP at /mcp. Every agent needs a token of its own:\n\n" +
			"  gateway token create claude --role agent\n" +
			"  claude mcp add --transport http term http://127.0.0.1:7117/mcp --header \"Authorization: Bearer TOKEN\"",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), in) },
	}
	f := cmd.Flags()
	f.StringVar(&in.listen, "listen", "127.0.0.1:7117", "TCP `ADDRESS` to listen on; anything but loopback needs a certificate")
	f.StringVar(&in.cert, "tls-cert", "", "`FILE` with the certificate chain (PEM)")
	f.StringVar(&in.key, "tls-key", "", "`FILE` with the certificate's key (PEM)")
	f.StringVar(&in.tokens, "tokens", "", tokensHelp)
	f.StringSliceVar(&in.origins, "origin", nil, "`ORIGIN` of web pages that may connect; may be repeated")
	f.StringSliceVar(&in.hosts, "host", nil, "another host `NAME` of this server; may be repeated")
	f.BoolVar(&in.log, "log", false, "write a log to standard error")
	return cmd
}

func (a *app) serve(ctx context.Context, in serveFlags) (err error) {
	secure, err := certificate(in.cert, in.key)
	if err != nil {
		return err
	}
	path, store, err := openTokens(in.tokens)
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", in.listen)
	if _, wrong := errors.AsType[*net.AddrError](err); wrong {
		return usage("serve: --listen %.60q: %w: write it as 127.0.0.1:PORT, or :PORT for all addresses", in.listen, err)
	}
	if err != nil {
		hint := "--listen needs an address of this machine: 127.0.0.1:PORT, or :PORT for all of them"
		if errors.Is(err, syscall.EADDRINUSE) {
			hint = "another gateway may be running there: choose another address with --listen"
		}
		return fail(statusRefused, "serve: %w", err).hinted(hint)
	}
	if addr, ok := ln.Addr().(*net.TCPAddr); secure == nil && ok && !addr.IP.IsLoopback() {
		return errors.Join(usage("serve: --listen %s can be reached from other machines: add --tls-cert and --tls-key, or listen on 127.0.0.1", in.listen), ln.Close())
	}
	log := a.logger(in.log, slog.LevelInfo)
	server := gateway.New(gateway.Config{
		Log: log, Tokens: store, Hosts: in.hosts, Origins: in.origins, Draw: pictures.Draw, Version: version.String(),
		MCP: func(c *client.Client) gateway.MCPHandler { return mcp.NewHTTP(mcpConfig(c, log)) },
	})
	local, err := localSocket()
	if err != nil {
		_, _ = fmt.Fprintf(a.err, "gateway: serve: not on the local socket: %v\n", err)
	}
	a.announce(ln, secure != nil, local, path)

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	if local != nil {
		wg.Go(func() { stop(server.KeepLocal(ctx, local)) }) // ends with ctx or with Close
	}
	wg.Go(func() { stop(server.ServeTCP(ctx, ln, secure)) }) // ends with ctx or with Close
	<-ctx.Done()
	err = server.Close()
	wg.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// certificate is the TLS configuration of a pair of files, nil for none.
func certificate(cert, key string) (*tls.Config, error) {
	switch {
	case cert == "" && key == "":
		return nil, nil //nolint:nilnil // no certificate is a configuration like any other
	case cert == "" || key == "":
		return nil, usage("serve: --tls-cert and --tls-key must be used together")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, usage("serve: certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}, nil
}

// localSocket takes the place of the user's local gateway if nobody has it.
func localSocket() (*place.Place, error) {
	dir, err := gateway.RuntimeDir()
	if err != nil {
		return nil, err
	}
	return gateway.ListenLocal(dir)
}

// announce says where the gateway is and how to come in.
func (a *app) announce(ln net.Listener, secure bool, local *place.Place, tokens string) {
	scheme := "ws"
	if secure {
		scheme = "wss"
	}
	_, _ = fmt.Fprintf(a.out, "listening on %s://%s\n", scheme, ln.Addr())
	if local != nil {
		_, _ = fmt.Fprintf(a.out, "listening on unix:%s\n", local.Path())
	}
	_, _ = fmt.Fprintf(a.out, "tokens: %s (create one with: gateway token create NAME --role proxy|agent|viewer|owner)\n", tokens)
}

// openTokens opens the token file that a flag names, or the one in the state directory.
func openTokens(path string) (string, *auth.Store, error) {
	if path == "" {
		var err error
		if path, err = gateway.TokensPath(); err != nil {
			return "", nil, err
		}
	}
	store, err := auth.OpenStore(path, nil)
	if err != nil {
		return "", nil, fail(statusUsage, "token file: %w", err)
	}
	return path, store, nil
}
