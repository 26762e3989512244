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

// around is the conversation of another coding agent, whose people are asked in place of the one who is not at this terminal.
type around struct {
	client  *client.Client
	session string
}

// sessionAround is the session in which this command runs, "" for none.
func sessionAround() string { return os.Getenv(proxy.SessionVariable) }

// newAround reaches a session through the gateway, as an agent of that name. It connects when somebody has to be asked.
func (a *app) newAround(session, name string) (*around, error) {
	ep, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	return &around{session: session, client: client.New(client.Config{
		Dial: ep.DialContext, URL: ep.URL(protocol.PathAgent), Header: ep.Header(), Name: name,
	})}, nil
}

// ask puts a request to those people. An error says why nobody answered, in a sentence: then nothing is allowed.
func (o *around) ask(ctx context.Context, r *chat.Request) (by string, answer chat.Answer, err error) {
	m := &protocol.ChatAsk{SessionID: o.session, Tool: clip(r.Tool, protocol.MaxChatID), Input: r.Input, Why: clip(r.Why, protocol.MaxReason)}
	for _, c := range r.Allows {
		m.Allows = append(m.Allows, protocol.ChatChoice{Verdict: string(c.Verdict), Covers: c.Covers})
	}
	for _, f := range r.Form {
		q := protocol.ChatQuestion{ID: f.ID, Header: clip(f.Header, protocol.MaxName), Text: f.Text, Many: f.Many}
		for _, option := range f.Options {
			q.Options = append(q.Options, protocol.ChatOption{Label: option.Label, Description: clip(option.Description, protocol.MaxReason)})
		}
		m.Form = append(m.Form, q)
	}
	got, err := o.client.Ask(ctx, m)
	switch {
	case err != nil:
		return "", answer, err
	case got.By == "":
		return "", answer, errors.New(cmp.Or(got.Why, "nobody answered"))
	}
	return got.By, chat.Answer{Verdict: chat.Verdict(got.Answer.Verdict), Replies: got.Answer.Replies, Words: cmp.Or(got.Answer.Words, got.Why)}, nil
}

// clip is the beginning of what is only read.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 {
		most--
	}
	return s[:most]
}
