package main

import (
	"cmp"
	"context"
	"errors"
	"os"

	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/chat"
)

// around is the conversation of another coding agent, whose people are asked in place of the one
// who is not at this terminal.
type around struct {
	client  *client.Client
	session string
}

// sessionAround returns the session in which this command runs, "" outside of one.
func sessionAround() string { return os.Getenv(proxy.SessionVariable) }

// newAround reaches a session through the gateway, as an agent of that name. It connects with the
// first request.
func (a *app) newAround(session, name string) (*around, error) {
	ep, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	cfg := a.clientConfig(ep, protocol.PathAgent, "")
	cfg.Name = name
	return &around{session: session, client: client.New(cfg)}, nil
}

// askPeople puts a request to those people. On an error nothing is allowed; its sentence says why
// they did not answer.
func (o *around) askPeople(
	ctx context.Context,
	r *chat.Request,
) (by string, answer chat.Answer, err error) {
	m := &protocol.ChatAsk{
		SessionID: o.session,
		Tool:      protocol.Clip(r.Tool, protocol.MaxChatID),
		Input:     r.Input,
		Why:       protocol.Clip(r.Why, protocol.MaxReason),
		Allows:    r.Allows,
	}
	for _, q := range r.Form {
		q.Header = protocol.Clip(q.Header, protocol.MaxName)
		m.Form = append(m.Form, q)
	}
	got, err := o.client.Ask(ctx, m)
	switch {
	case err != nil:
		return "", answer, err
	case got.By == "":
		return "", answer, errors.New(cmp.Or(got.Why, "nobody answered"))
	}
	answer = got.Answer
	answer.Words = cmp.Or(answer.Words, got.Why)
	return got.By, answer, nil
}
