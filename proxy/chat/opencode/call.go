package opencode

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"terminalproxy/protocol/pace"
	"terminalproxy/proxy/chat/stdio"
)

const (
	// callTime bounds one call.
	callTime = 30 * time.Second
	// maxBody and maxEvent bound what the server sends, in bytes.
	maxBody, maxEvent = 32 << 20, 32 << 20
	// reconnectDelay is the pause between two streams of events.
	reconnectDelay = 200 * time.Millisecond
)

// statusError is a call that the server refused.
type statusError struct {
	code int
	said string
}

func (e *statusError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("HTTP status %d: %s", e.code, e.said), ": ")
}

// server is opencode's server, as its clients reach it.
type server struct {
	url      string // known once it takes calls
	password string
	client   *http.Client
}

func newServer() server {
	return server{
		password: rand.Text(),
		// without a proxy the password stays on this machine
		client: &http.Client{Transport: &http.Transport{}},
	}
}

// call makes a call, and decodes its answer into got, which may be nil.
func (s *server) call(ctx context.Context, method, path string, body, got any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		b = nil
	}
	answer, err := s.sendRequest(ctx, method, path, b)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if b, err = io.ReadAll(io.LimitReader(answer.Body, maxBody)); err != nil || got == nil {
		return err
	}
	return json.Unmarshal(b, got)
}

// sendRequest makes a request. A status outside the 200s is an error.
func (s *server) sendRequest(
	ctx context.Context, method, path string, body []byte,
) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth(user, s.password)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		defer answer.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10)) // as much as came
		var m struct{ Message string }
		_ = json.Unmarshal(said, &m) // it says nothing for people
		return nil, &statusError{code: answer.StatusCode, said: stdio.ShortenText(m.Message)}
	}
	return answer, nil
}

// listen reads events until the server is gone. The server ends a stream by itself when its
// configuration changes.
func (d *Driver) listen() {
	for {
		_ = d.readEvents() // the server's end says why
		if pace.Pause(d.ctx, reconnectDelay) != nil {
			return
		}
	}
}

// event is what the server reports.
type event struct {
	Type       string
	Properties json.RawMessage
}

// readEvents reads one stream of events.
func (d *Driver) readEvents() error {
	answer, err := d.sendRequest(d.ctx, http.MethodGet, "/event", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			d.todo <- func() { d.reportNotice("sent an event that makes no sense: %v", err) }
			continue
		}
		d.todo <- func() { d.handleEvent(e) }
	}
	return lines.Err()
}
