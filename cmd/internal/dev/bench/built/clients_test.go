//go:build linux

package built_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// mcpPipe is an MCP client on the standard input and output of a process of its own. It writes and reads the lines by
// itself, so that no library of the client's is measured.
type mcpPipe struct {
	tb    testing.TB
	in    io.Writer
	out   *bufio.Reader
	count int
}

const handshake = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`

// mcp starts `gateway mcp`.
func (w *world) mcp() *mcpPipe {
	w.tb.Helper()
	in, out := w.talks(binary("gateway"), "mcp")
	m := &mcpPipe{tb: w.tb, in: in, out: out}
	_, err := m.call("initialize", json.RawMessage(handshake))
	require.NoError(w.tb, err)
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	require.NoError(w.tb, err)
	return m
}

// rpc is a request of JSON-RPC 2.0.
func rpc(id int, method string, params any) []byte {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		panic(err) // they are all plain
	}
	return append(line, '\n')
}

// call is one request with its answer.
func (m *mcpPipe) call(method string, params any) ([]byte, error) {
	m.count++
	if _, err := m.in.Write(rpc(m.count, method, params)); err != nil {
		return nil, err
	}
	id := []byte(`"id":` + strconv.Itoa(m.count))
	for {
		line, err := m.out.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		if bytes.Contains(line, append(id, ',')) || bytes.Contains(line, append(id, '}')) {
			return line, nil
		}
	}
}

// text is the text in the answer to a tool call.
func text(answer []byte) (string, error) {
	var got struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return "", err
	}
	switch {
	case got.Error != nil:
		return "", errors.New(got.Error.Message)
	case got.Result.IsError:
		return "", errors.New(got.Result.Content[0].Text)
	}
	return got.Result.Content[0].Text, nil
}

func toolCall(name string, args any) map[string]any {
	return map[string]any{"name": name, "arguments": args}
}

// tool calls a tool, which must succeed.
func (m *mcpPipe) tool(name string, args any) string {
	m.tb.Helper()
	answer, err := m.call("tools/call", toolCall(name, args))
	require.NoError(m.tb, err)
	got, err := text(answer)
	require.NoError(m.tb, err)
	return got
}

// web is an HTTP client that keeps its connection.
func (w *world) web(network, address string) *http.Client {
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}}
	w.tb.Cleanup(c.CloseIdleConnections)
	return c
}

// web is an HTTP client for the place's gateway.
func (p *place) web() *http.Client {
	if p.at == "" {
		return p.world.web("unix", p.path("run/gateway.sock"))
	}
	return p.world.web("tcp", strings.TrimPrefix(p.at, "ws://"))
}

// ask is one HTTP request; every word of header is a name and the one after it its value.
func (p *place) ask(c *http.Client, method, path, body string, header ...string) (*http.Response, error) {
	host := "localhost"
	if p.at != "" {
		host = strings.TrimPrefix(p.at, "ws://")
	}
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+host+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Terminal-Agent-Key", agentKey)
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return c.Do(r)
}

// whole is the body of a response that must be a success.
func whole(resp *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s: %s", resp.Status, body)
	}
	return body, nil
}

// control is a client of tmux in control mode: commands in, blocks of answers and notifications out (tmux(1)).
type control struct {
	in  io.Writer
	out *bufio.Reader
}

// control attaches one to the place's server.
func (p *place) control() *control {
	p.tb.Helper()
	in, out := p.talks("tmux", "-u", "-S", p.tmux, "-C", "attach")
	c := &control{in, out}
	require.NoError(p.tb, c.skip("%session-changed"))
	return c
}

// skip reads up to a notification.
func (c *control) skip(notification string) error {
	for {
		line, err := c.out.ReadString('\n')
		if err != nil || strings.HasPrefix(line, notification) {
			return err
		}
	}
}

// capture asks for the screen.
func (c *control) capture() (string, error) {
	if _, err := io.WriteString(c.in, "capture-pane -p\n"); err != nil {
		return "", err
	}
	if err := c.skip("%begin"); err != nil {
		return "", err
	}
	var screen strings.Builder
	for {
		line, err := c.out.ReadString('\n')
		switch {
		case err != nil:
			return "", err
		case strings.HasPrefix(line, "%end"):
			return screen.String(), nil
		case strings.HasPrefix(line, "%error"):
			return "", errors.New("tmux: " + screen.String())
		}
		screen.WriteString(line)
	}
}

// capture asks for the screen as a script does, with a process.
func (p *place) capture() (string, error) {
	cmd := exec.CommandContext(context.Background(), "tmux", "-S", p.tmux, "capture-pane", "-p")
	cmd.Env = p.env
	out, err := cmd.Output()
	return string(out), err
}

// echoSocket is a WebSocket to a bare transport's other end.
func (p *place) echoSocket(local bool) *websocket.Conn {
	p.tb.Helper()
	d := websocket.Dialer{}
	if local {
		d.NetDialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", p.path("echo"))
		}
	}
	conn, resp, err := d.DialContext(context.Background(), p.at, nil)
	require.NoError(p.tb, err)
	_ = resp.Body.Close()
	p.tb.Cleanup(func() { _ = conn.Close() })
	return conn
}
