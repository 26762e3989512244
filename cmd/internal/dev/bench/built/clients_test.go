//go:build linux

package built_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
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

// echoSocket is a WebSocket on a Unix socket, with nothing behind it.
func echoSocket(tb testing.TB) *websocket.Conn {
	tb.Helper()
	w := newWorld(tb)
	_, out := w.talks(binary("echo"), w.path("echo"))
	_, err := out.ReadString('\n') // it listens
	require.NoError(tb, err)
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", w.path("echo"))
	}}
	conn, resp, err := d.DialContext(context.Background(), "ws://localhost", nil)
	require.NoError(tb, err)
	_ = resp.Body.Close()
	tb.Cleanup(func() { _ = conn.Close() })
	return conn
}
