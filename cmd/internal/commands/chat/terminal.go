package chat

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"time"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/programs"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/acp"
)

const (
	// agentCols and agentRows are the size of a terminal that a coding agent opens, large enough to
	// keep lines of output whole.
	agentCols, agentRows = 160, 40
	// dialPatience is how long a gateway may take to answer before a conversation begins.
	dialPatience = time.Second
	// endPatience is how long the gateway may take to end a program.
	endPatience = 5 * time.Second
)

// chatTerminals holds the sessions for programs of a coding agent: people can list, watch, attach
// to and end them. They end with the conversation.
type chatTerminals struct {
	agent string
	ep    endpoint.Endpoint
	local *cli.LocalShare
	taste proxy.Taste
	outer *chat.Session // of that agent, whose user answers agents in the terminals

	mu     sync.Mutex
	client *client.Client // nil before the first program
	own    *programs.Host
}

// newTerminals returns terminals for an agent, or nil if no gateway runs.
func newTerminals(ctx context.Context, env *cli.Env, agent string) *chatTerminals {
	ep, err := env.Endpoint()
	if err != nil || !ep.Local() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	conn, err := ep.DialContext(ctx)
	if err != nil {
		return nil
	}
	_ = conn.Close()
	return &chatTerminals{
		agent: agent,
		ep:    ep,
		taste: env.Taste,
		local: &cli.LocalShare{Log: slog.New(slog.DiscardHandler)},
	}
}

// ensureHost returns the host of the programs, and connects it to the gateway first if needed.
func (c *chatTerminals) ensureHost() *programs.Host {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own == nil {
		c.client = client.New(client.Config{
			Dial:      c.local.DialLocal,
			URL:       c.ep.URL(protocol.PathAgent),
			Header:    c.ep.Header(),
			Name:      c.agent,
			Key:       strings.ToLower(rand.Text() + rand.Text()),
			Transient: true,
		})
		c.own = programs.New(c.client, c.ep, c.local, c.taste, c.local.Log)
		c.own.Chat = &proxy.Chat{Session: c.outer, Around: true}
	}
	return c.own
}

// close ends all programs. It may be called on nil.
func (c *chatTerminals) close() error {
	if c == nil || c.own == nil {
		return nil
	}
	c.own.Close()
	return errors.Join(c.client.Close(), c.local.Close())
}

// Run implements [acp.Terminals].
func (c *chatTerminals) Run(
	ctx context.Context, conversation string, command acp.Command,
) (acp.Terminal, error) {
	program, args := command.Program, command.Args
	// some agents send a shell command line as the program
	if _, err := exec.LookPath(program); err != nil && len(args) == 0 {
		program, args = "/bin/sh", []string{"-c", command.Program}
	}
	name := []rune(c.agent + " " + conversation)
	own := c.ensureHost()
	id, err := own.Start(ctx, &protocol.ProxyStart{
		Command:   program,
		Args:      args,
		Env:       command.Env,
		Cwd:       command.Dir,
		Cols:      agentCols,
		Rows:      agentRows,
		Name:      string(name[:min(len(name), protocol.MaxName/4)]),
		AgentName: c.agent,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot start the program in a terminal: %w", err)
	}
	t := &chatTerminal{own: own, id: id, ended: make(chan struct{})}
	var events <-chan protocol.Message
	// the subscription ends with the session, or with the client
	if events, err = own.Subscribe(context.WithoutCancel(ctx), id, 0); err != nil {
		t.Release()
		return nil, fmt.Errorf("cannot follow the program in its terminal: %w", err)
	}
	go t.awaitExit(events)
	return t, nil
}

// chatTerminal is one session for a program.
type chatTerminal struct {
	own   *programs.Host
	id    string
	ended chan struct{}
	exit  acp.Exit // set before ended is closed
}

// awaitExit waits for the end of the program.
func (t *chatTerminal) awaitExit(events <-chan protocol.Message) {
	defer close(t.ended)
	t.exit = acp.Exit{Signal: "unknown"} // the gateway went away
	for m := range events {
		if end, ok := m.(*protocol.SessionClose); ok {
			t.exit = acp.Exit{Code: end.ExitCode, Signal: end.Signal}
		}
	}
}

// Output implements [acp.Terminal]: the history, then the screen.
func (t *chatTerminal) Output(ctx context.Context, most int) (text string, cut bool, err error) {
	got, err := t.own.Read(ctx, &protocol.Read{SessionID: t.id, Scrollback: protocol.MaxHistory})
	if err != nil {
		return "", false, err
	}
	text = got.Text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if got.Frame != nil {
		text += strings.Join(got.Frame.Screen.Lines, "\n")
	}
	text = strings.TrimRight(text, "\n ")
	cut = got.FirstLine > 0
	if over := len(text) - most; over > 0 {
		text, cut = strings.ToValidUTF8(text[over:], ""), true
	}
	return text, cut, nil
}

// Ended implements [acp.Terminal].
func (t *chatTerminal) Ended() <-chan struct{} { return t.ended }

// Exit implements [acp.Terminal].
func (t *chatTerminal) Exit() acp.Exit { return t.exit }

// Kill implements [acp.Terminal].
func (t *chatTerminal) Kill(ctx context.Context) error {
	select {
	case <-t.ended:
		return nil
	default:
		return t.own.EndSession(ctx, &protocol.Close{SessionID: t.id})
	}
}

// Release implements [acp.Terminal]. The output can be read for a while.
func (t *chatTerminal) Release() {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	_ = t.Kill(ctx) // on failure, it ends with the conversation
}
