package chat

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"terminalproxy/cmd/internal/agents/beside"
	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/cmd/internal/tui/pictures"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/mcp"
	"terminalproxy/protocol"
	"terminalproxy/proxy/chat/acp"
)

// sharedTools are the tools whose calls the conversation need not approve: they only read, or the
// user answers at the terminal. terminal_run is not among them.
var sharedTools = []string{
	"terminal_list", "terminal_read", "terminal_wait", "terminal_request_control", "terminal_send",
	"terminal_release", "terminal_say",
}

// shareVariables name the gateway for gateway mcp. Some agents pass few variables to the programs
// that they start.
var shareVariables = []string{
	"HOME", "PATH", "TERMINALPROXY_DIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
	"XDG_CACHE_HOME", "XDG_DATA_HOME",
}

// openTerminals gives the agent terminals: its own, and those that the user shares.
func (in *chatOptions) openTerminals(
	ctx context.Context, env *cli.Env, agent chatAgent,
) (end func() error, err error) {
	endSharing, err := in.shareTerminals(ctx, env, agent.httpToolsOnly)
	if err != nil {
		return nil, err
	}
	if !in.silent {
		in.terminals = newTerminals(ctx, env, agent.name)
	}
	return func() error { return errors.Join(endSharing(), in.terminals.close()) }, nil
}

// shareTerminals adds the tools for the user's shared terminals, if the user wants that. The server
// gets a new name in each conversation, so that it differs from the agent's own servers.
func (in *chatOptions) shareTerminals(
	ctx context.Context, env *cli.Env, overHTTP bool,
) (end func() error, err error) {
	end = func() error { return nil }
	if !in.share {
		return end, nil
	}
	tools := &acp.Tools{
		Name: "term-" + strings.ToLower(rand.Text()[:10]), Allowed: sharedTools,
	}
	in.tools = tools
	if overHTTP {
		return serveTools(ctx, env, tools)
	}
	program, err := beside.FindGateway()
	if err != nil {
		return nil, cli.Fail(cli.StatusRefused, "--terminals: %w", err)
	}
	tools.Command = []string{program, "mcp", "--shared-only"}
	for _, name := range shareVariables {
		if value, ok := os.LookupEnv(name); ok {
			tools.Env = append(tools.Env, name+"="+value)
		}
	}
	for name, value := range map[string]string{
		"PROXY_GATEWAY": env.Gateway, "PROXY_TOKEN_FILE": env.TokenFile,
	} {
		if value != "" {
			tools.Env = append(tools.Env, name+"="+value)
		}
	}
	return end, nil
}

// serveTools serves the tools over HTTP on the loopback interface, for one conversation. A
// request needs the conversation's token.
func serveTools(ctx context.Context, env *cli.Env, tools *acp.Tools) (end func() error, err error) {
	ep, err := env.Endpoint()
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	cfg := env.ClientConfig(ep, protocol.PathAgent, "")
	cfg.Name, cfg.Log = "an agent", log
	cfg.Key, cfg.Transient = strings.ToLower(rand.Text()+rand.Text()), true
	local := &cli.LocalShare{Log: log}
	if ep.Local() {
		cfg.Dial = local.DialLocal
	}
	var network net.ListenConfig
	ln, err := network.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, cli.Fail(cli.StatusRefused, "--terminals: listen on this machine: %w", err)
	}
	c := client.New(cfg)
	handler := mcp.NewHTTP(mcp.Config{
		Terminals: c, Draw: pictures.FitPNG, MissingGlyphs: pictures.MissingGlyphs,
		Version: version.String(), Log: log,
	})
	tools.URL, tools.Token = "http://"+ln.Addr().String()+"/mcp", rand.Text()+rand.Text()
	server := &http.Server{
		Handler:           guardTools(handler, ln.Addr().String(), tools.Token),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }() // ends with Close
	return func() error {
		err := server.Close()
		handler.Close()
		if bad := <-served; !errors.Is(bad, http.ErrServerClosed) {
			err = errors.Join(err, bad)
		}
		return errors.Join(err, c.Close(), local.Close())
	}, nil
}

// guardTools forwards requests that have the token and do not come from a web page.
func guardTools(next http.Handler, host, token string) http.Handler {
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := []byte(r.Header.Get("Authorization"))
		switch {
		case r.Host != host || r.Header.Get("Origin") != "":
			http.Error(w, "requests from web pages are not allowed", http.StatusForbidden)
		case subtle.ConstantTimeCompare(given, want) != 1:
			http.Error(w, "the token belongs to another conversation", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// claudeArgs returns the arguments that give the tools to Claude Code without its interface.
func claudeArgs(t *acp.Tools) []string {
	if t == nil {
		return nil
	}
	variables := make(map[string]string, len(t.Env))
	for _, variable := range t.Env {
		name, value, _ := strings.Cut(variable, "=")
		variables[name] = value
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		t.Name: map[string]any{"command": t.Command[0], "args": t.Command[1:], "env": variables},
	}})
	if err != nil {
		panic(err) // it holds strings only
	}
	allowed := strings.Join(allowedNames("mcp__%s__%s", t), ",")
	return []string{"--mcp-config", string(config), "--allowedTools", allowed}
}

// allowedNames returns the tools that need no approval, as an agent names them: the format gets the
// server and the tool.
func allowedNames(format string, t *acp.Tools) (all []string) {
	if t == nil {
		return nil
	}
	for _, tool := range t.Allowed {
		all = append(all, fmt.Sprintf(format, t.Name, tool))
	}
	return all
}
