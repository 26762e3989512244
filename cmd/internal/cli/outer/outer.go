// Package outer asks the people of the session in which a command runs.
package outer

import (
	"cmp"
	"context"
	"errors"
	"os"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/chat"
)

// Conversation is another coding agent's conversation, whose people are asked because no person is
// at this terminal.
type Conversation struct {
	Client  *client.Client
	Session string
}

// SessionID returns the session in which this command runs, or "".
func SessionID() string { return os.Getenv(proxy.SessionVariable) }

// New returns the conversation of a session, reached through the gateway as an agent of that name.
// It connects with the first request.
func New(env *cli.Env, session, name string) (*Conversation, error) {
	ep, err := env.Endpoint()
	if err != nil {
		return nil, err
	}
	cfg := env.ClientConfig(ep, protocol.PathAgent, "")
	cfg.Name = name
	return &Conversation{Session: session, Client: client.New(cfg)}, nil
}

// AskPeople asks those people. An error allows nothing, and gives the reason why they did not
// answer.
func (o *Conversation) AskPeople(
	ctx context.Context, r *chat.Request,
) (by string, answer chat.Answer, err error) {
	m := &protocol.ChatAsk{
		SessionID: o.Session,
		Tool:      protocol.Clip(r.Tool, protocol.MaxChatID),
		Input:     r.Input,
		Why:       protocol.Clip(r.Why, protocol.MaxReason),
		Allows:    r.Allows,
	}
	for _, q := range r.Form {
		q.Header = protocol.Clip(q.Header, protocol.MaxName)
		m.Form = append(m.Form, q)
	}
	got, err := o.Client.Ask(ctx, m)
	switch {
	case err != nil:
		return "", answer, err
	case got.By == "":
		return "", answer, errors.New(cmp.Or(got.Why, "no answer was given"))
	}
	answer = got.Answer
	answer.Words = cmp.Or(answer.Words, got.Why)
	return got.By, answer, nil
}
