package chat

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/programs"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/chat"
)

const (
	// askSessionText is printed in the session of openAskSession, which runs nothing else.
	askSessionText = "Questions of other agents in this session are answered where you talk to %s: " +
		"at the terminal of gateway chat."

	// askSessionScript prints its argument and waits. It begins with the text that lists of
	// sessions show for it.
	askSessionScript = `: 'agents ask here and are answered in gateway chat'; trap "" INT QUIT TSTP; printf '%s\r\n' "$1"; exec tail -f /dev/null`

	// askCols and askRows are the size of that session.
	askCols, askRows = 160, 40

	// dialTimeout is how long a gateway may take to answer before a conversation begins.
	dialTimeout = time.Second
)

// openAskSession opens a session in which other agents ask the user of this conversation with an
// agent. Agents that its agent starts find the session by their environment, which they inherit
// from here. Without a local gateway it opens none. end closes the session.
func openAskSession(
	ctx context.Context, env *cli.Env, agent string, own *chat.Session,
) (end func() error, err error) {
	end = func() error { return nil }
	ep, err := env.Endpoint()
	if err != nil || !ep.Local() {
		return end, nil // the conversation needs no gateway
	}
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := ep.DialContext(dialing)
	if err != nil {
		return end, nil // no gateway runs
	}
	_ = conn.Close()
	local := &cli.LocalShare{Log: slog.New(slog.DiscardHandler)}
	c := client.New(client.Config{
		Dial:      local.DialLocal,
		URL:       ep.URL(protocol.PathAgent),
		Header:    ep.Header(),
		Name:      agent,
		Key:       strings.ToLower(rand.Text() + rand.Text()),
		Transient: true,
	})
	host := programs.New(c, ep, local, env.Taste, local.Log)
	host.Chat = &proxy.Chat{Session: own, Around: true}
	end = func() error {
		host.Close()
		return errors.Join(c.Close(), local.Close())
	}
	id, err := host.Start(ctx, &protocol.ProxyStart{
		Command: "/bin/sh", Args: []string{"-c", askSessionScript, "sh", fmt.Sprintf(askSessionText, agent)},
		Cols: askCols, Rows: askRows, Name: agent + " chat", AgentName: agent,
	})
	if err != nil {
		return end, fmt.Errorf("agents that %s starts cannot ask you here: %w", agent, err)
	}
	return end, os.Setenv(proxy.SessionVariable, id)
}
