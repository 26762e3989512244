package world

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// Caller is a program that speaks plain HTTP to a gateway, as curl does.
type Caller struct {
	w      *World
	Client *http.Client
	host   string
	Token  string // "" for no token
	Name   string // "" for script
}

func (w *World) Caller() *Caller {
	return w.CallerAt("unix", filepath.Join(w.Run(), "gateway.sock"), "localhost")
}

func (w *World) CallerAt(network, address, host string) *Caller {
	c := &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: 3 * Patience, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}}
	w.T.Cleanup(c.CloseIdleConnections)
	return &Caller{w: w, Client: c, host: host}
}

// WaitPending waits until the gateway has n open requests.
func (c *Caller) WaitPending(n int) {
	c.w.T.Helper()
	want, metrics := "terminalproxy_requests_waiting "+strconv.Itoa(n)+"\n", ""
	c.w.Until(func() bool {
		metrics = c.Do("GET", "/metrics", "", 200)
		return strings.Contains(metrics, want)
	}, func() string { return "not " + want + metrics })
}

func (c *Caller) Request(method, path, body string) *http.Response {
	c.w.T.Helper()
	resp, err := c.Ask(c.w.Ctx, method, path, body)
	require.NoError(c.w.T, err)
	return resp
}

func (c *Caller) Ask(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.host+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Terminal-Agent-Key", "0123456789abcdef0123456789abcdef")
	r.Header.Set("Terminal-Agent-Name", cmp.Or(c.Name, "script"))
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return c.Client.Do(r)
}

// Do sends a request and checks the status.
func (c *Caller) Do(method, path, body string, status int) string {
	c.w.T.Helper()
	resp := c.Request(method, path, body)
	text, err := io.ReadAll(resp.Body)
	require.NoError(c.w.T, err)
	require.NoError(c.w.T, resp.Body.Close())
	require.Equal(c.w.T, status, resp.StatusCode, "%s %s: %s", method, path, text)
	return string(text)
}
