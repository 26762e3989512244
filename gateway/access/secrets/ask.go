package secrets

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"terminalproxy/protocol"
)

// HelperName is the name of the helper program, and PinentryName its name for gpg-agent.
const (
	HelperName   = "gateway-askpass"
	PinentryName = "pinentry-gateway"
)

// Question is the question of a helper.
type Question struct {
	Kind, Prompt string
	// Client is the process on whose behalf gpg-agent asks, 0 for a program that asks for itself.
	Client int
	// Proceed is called when the gateway has identified the program; agent is the coding agent that
	// runs it, or "". An error ends the question. Nil asks in any case.
	Proceed func(agent string) error
}

// LostError is the error for a gateway that disappeared before it answered.
type LostError struct{ cause error }

// Error implements error.
func (l *LostError) Error() string { return "the gateway went away: " + l.cause.Error() }

// Unwrap returns the cause.
func (l *LostError) Unwrap() error { return l.cause }

// maxReply bounds a reply, in bytes.
const maxReply = 16 << 10

// Ask asks the user over a connection to the local gateway, and returns the answer. seal protects
// the memory of this process from others; it is called when the gateway has identified the program.
// An error of the gateway is a [Refusal].
func Ask(ctx context.Context, conn net.Conn, seal func(), q Question) ([]byte, error) {
	dialed := false
	hc := &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			if dialed { // the gateway identifies this process by its connection
				return nil, net.ErrClosed
			}
			dialed = true
			return conn, nil
		},
		MaxConnsPerHost: 1,
	}}
	defer hc.CloseIdleConnections()
	hello, err := post(ctx, hc, PathHello, introduction{Client: q.Client})
	if err != nil {
		return nil, err
	}
	if q.Proceed != nil {
		if err := q.Proceed(hello.Agent); err != nil {
			return nil, err
		}
	}
	key, err := NewKey()
	if err != nil {
		return nil, err
	}
	if err := nameProcess(nameOfKey(key.Public())); err != nil {
		return nil, fmt.Errorf("show the key: %w", err)
	}
	seal()
	got, err := post(ctx, hc, PathAsk, question{
		RequestID: protocol.NewID(), Prompt: q.Prompt, Kind: q.Kind, PublicKeyB64: key.Public(),
	})
	switch {
	case err != nil:
		return nil, err
	case got.Verdict != protocol.SecretGiven:
		return nil, refusedFor(hello.Program)
	}
	return key.Open(q.Kind, q.Prompt, got.SealedB64)
}

// post sends a step of a question.
func post(ctx context.Context, hc *http.Client, path string, body any) (reply, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return reply{}, err
	}
	r, err := http.NewRequestWithContext(
		ctx, http.MethodPost, "http://localhost"+path, bytes.NewReader(data))
	if err != nil {
		return reply{}, err
	}
	r.GetBody = nil // a question is asked once
	resp, err := hc.Do(r)
	if err != nil {
		return reply{}, &LostError{err}
	}
	defer resp.Body.Close()
	var got reply
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxReply))
	switch err2 := json.Unmarshal(data, &got); {
	case got.Error != "":
		return got, Refusal(got.Error)
	case err != nil:
		return got, &LostError{err}
	case err2 != nil || resp.StatusCode != http.StatusOK:
		return got, fmt.Errorf("the gateway does not handle questions of programs: %s", resp.Status)
	}
	return got, nil
}

// hostQuestion matches the end of ssh's question about an unknown host.
var hostQuestion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\(yes/no(/\[fingerprint\])?\)\?\s*$`)
})

// KindOf returns the kind of answer that a prompt asks for. hint is the value of
// SSH_ASKPASS_PROMPT.
func KindOf(prompt, hint string) string {
	switch {
	case hint == "confirm", hostQuestion().MatchString(prompt):
		return protocol.SecretConfirm
	case strings.HasPrefix(prompt, "Username for "):
		return protocol.SecretText
	}
	return protocol.SecretHidden
}

// CleanPrompt returns a prompt that can be sent: valid UTF-8 of bounded length. The proxy that
// shows it removes what a terminal would act on.
func CleanPrompt(prompt string) string { return clip(prompt, protocol.MaxSecretPrompt) }
