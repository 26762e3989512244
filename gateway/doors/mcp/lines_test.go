package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A line that is not a message is answered, and the next one is read.
func TestABadLineCostsAnError(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for _, tt := range []struct {
		name, line string
		code       int // 0 for no answer
		id         any
	}{
		{"text", "Debugger attached.", -32700, nil},
		{"two in one", ping + ping, -32700, nil},
		{"NUL bytes", "\x00\x00" + ping, -32700, nil},
		{"no UTF-8", `{"jsonrpc":"2.0","id":1,"method":"` + "\xff" + `"}`, -32700, nil},
		{"nested beyond reason", strings.Repeat("[", 1<<20), -32700, nil},
		{"nested params", `{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, -32600, 1.0},
		{"a number", "42", -32600, nil},
		{"no version", `{"id":906,"method":"ping"}`, -32600, 906.0},
		{"version 1", `{"jsonrpc":"1.0","id":"a","method":"ping"}`, -32600, "a"},
		{"a method that is none", `{"jsonrpc":"2.0","id":3,"method":5}`, -32600, 3.0},
		{"a list", "[" + ping + "]", -32600, nil},
		{"too long", strings.Repeat("x", 20<<20), -32600, nil},
		{"too long a message", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("y", maxLine) + `"}}`, -32600, nil},
		{"blank", "", 0, nil},
		{"an error for nothing", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, -32600, nil},
		{"a notification with bad parameters", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}`, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := dialLines(t)
			c.send(t, tt.line+"\n")
			if tt.code != 0 {
				got := c.next(t)
				require.Equal(t, tt.id, got["id"])
				require.InEpsilon(t, tt.code, got["error"].(map[string]any)["code"], 0)
			}
			for _, end := range []string{"\n", "\r\n"} {
				c.send(t, ping+end)
				require.InEpsilon(t, 7, c.next(t)["id"], 0)
			}
			c.send(t, "\ufeff"+ping+"\n")
			require.InEpsilon(t, 7, c.next(t)["id"], 0)
		})
	}
}

// A list of messages is taken apart in revisions that have lists.
func TestAListOfMessages(t *testing.T) {
	c := dialLines(t)
	c.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`+"\n")
	require.Equal(t, "2025-03-26", c.next(t)["result"].(map[string]any)["protocolVersion"])
	c.send(t, `[{"jsonrpc":"2.0","method":"notifications/initialized"}, {"jsonrpc":"2.0","id":"a","method":"ping"}, [], 5, {"jsonrpc":"2.0","id":"b","method":"ping"}]`+"\n")
	answers := map[any]int{}
	for range 4 {
		answers[c.next(t)["id"]]++
	}
	require.Equal(t, map[any]int{nil: 2, "a": 1, "b": 1}, answers)
}

// Half a message is answered, and the server ends as usual.
func TestHalfAMessageAtTheEnd(t *testing.T) {
	c := dialLines(t)
	c.send(t, `{"jsonrpc"`)
	require.NoError(t, c.in.Close())
	require.Nil(t, c.next(t)["id"])
	require.NoError(t, <-c.ended)
}

// lineClient is a client that writes any line.
type lineClient struct {
	in    *io.PipeWriter
	lines chan []byte
	ended chan error
}

func dialLines(t *testing.T) *lineClient {
	t.Helper()
	return dialServer(t, New(Config{Terminals: nil}))
}

func dialServer(t *testing.T, s *Server) *lineClient {
	t.Helper()
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	c := &lineClient{in: in, lines: make(chan []byte, 100), ended: make(chan error, 1)}
	go func() { // ends with in
		c.ended <- s.Serve(context.Background(), theirs, ours)
		_ = ours.Close()
	}()
	go func() { // ends with the server
		defer close(c.lines)
		for out := bufio.NewReader(out); ; {
			line, err := out.ReadBytes('\n')
			if err != nil {
				return
			}
			c.lines <- line
		}
	}()
	t.Cleanup(func() { _, _ = in.Close(), out.Close() })
	return c
}

func (c *lineClient) send(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(c.in, text)
	require.NoError(t, err)
}

// next returns the next line that is not a notification.
func (c *lineClient) next(t *testing.T) map[string]any {
	t.Helper()
	for line := range c.lines {
		var m map[string]any
		require.NoError(t, json.Unmarshal(line, &m))
		if _, answer := m["method"]; !answer {
			return m
		}
	}
	require.FailNow(t, "the server has ended")
	return nil
}
