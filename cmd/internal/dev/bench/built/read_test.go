//go:build linux

package built_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// way is one way for an agent to have the screen.
type way struct {
	at   *world
	read func() (screen string, err error)
	// bare sends a message and reads one of the same sizes on the same kind of connection, without anything behind it.
	bare func() error
}

// ways are what an agent can use. On the account's own gateway the user's proxy is the gateway; over TCP it is a process
// of its own, which the proxy reaches over TCP as well: four messages a read, and not two.
var ways = []struct {
	name  string
	setup func(testing.TB) way
}{
	{"websocket-unix", func(tb testing.TB) way { return overWebSocket(tb, ofUser(tb)) }},
	{"websocket-tcp", func(tb testing.TB) way { return overWebSocket(tb, served(tb)) }},
	{"http-unix", func(tb testing.TB) way { return overHTTP(tb, ofUser(tb)) }},
	{"http-tcp", func(tb testing.TB) way { return overHTTP(tb, served(tb)) }},
	{"mcp-stdio", overStdio},
	{"mcp-http", func(tb testing.TB) way { return overMCP(tb, served(tb)) }},
}

func overWebSocket(tb testing.TB, p *place) way {
	c, socket := p.client(), bare(tb).echoSocket(p.at == "")
	got, err := c.Read(context.Background(), &protocol.Read{SessionID: p.id})
	require.NoError(tb, err)
	answer, err := protocol.Encode(got)
	require.NoError(tb, err)
	ask, err := protocol.Encode(&protocol.Read{RequestID: got.RequestID, SessionID: p.id})
	require.NoError(tb, err)
	echo := order(len(answer), len(ask))
	return way{
		at: p.world,
		read: func() (string, error) {
			got, err := c.Read(context.Background(), &protocol.Read{SessionID: p.id})
			if err != nil {
				return "", err
			}
			return strings.Join(got.Frame.Screen.Lines, "\n"), nil
		},
		bare: func() error {
			if err := socket.WriteMessage(websocket.TextMessage, echo); err != nil {
				return err
			}
			_, _, err := socket.ReadMessage()
			return err
		},
	}
}

// order is a message of a length that asks for an answer of another.
func order(answer, length int) []byte {
	head := strconv.Itoa(answer) + " "
	return append([]byte(head), bytes.Repeat([]byte{'x'}, max(0, length-len(head)))...)
}

func overHTTP(tb testing.TB, p *place) way {
	path := "/v1/sessions/" + p.id + "/screen"
	c := p.web()
	read := func() (string, error) {
		body, err := whole(p.ask(c, http.MethodGet, path, ""))
		return string(body), err
	}
	screen, err := read()
	require.NoError(tb, err)
	return way{at: p.world, read: read, bare: echoWeb(tb, p.at == "", http.MethodGet, path, "", len(screen))}
}

// echoWeb is a bare transport over HTTP.
func echoWeb(tb testing.TB, local bool, method, path, body string, answer int) func() error {
	p := bare(tb)
	c := p.web()
	if local {
		c = p.world.web("unix", p.path("echo"))
	}
	return func() error {
		got, err := whole(p.ask(c, method, path, body, "Echo-Bytes", strconv.Itoa(answer)))
		if err == nil && len(got) != answer {
			err = fmt.Errorf("the bare transport answered with %d bytes for %d", len(got), answer)
		}
		return err
	}
}

func overStdio(tb testing.TB) way {
	p := ofUser(tb)
	m := p.mcp()
	ask := toolCall("terminal_read", map[string]any{"terminal": p.id, "view": "screen"})
	answer, err := m.call("tools/call", ask)
	require.NoError(tb, err)
	w := newWorld(tb)
	in, out := w.talks(binary("echo-stdio"))
	echo := append(order(len(answer), len(rpc(1, "tools/call", ask))-1), '\n')
	return way{
		at: p.world,
		read: func() (string, error) {
			answer, err := m.call("tools/call", ask)
			if err != nil {
				return "", err
			}
			return text(answer)
		},
		bare: func() error {
			if _, err := in.Write(echo); err != nil {
				return err
			}
			_, err := out.ReadBytes('\n')
			return err
		},
	}
}

func overMCP(tb testing.TB, p *place) way {
	c, count := p.web(), 1
	const both = "application/json, text/event-stream"
	post := func(session, body string) (*http.Response, error) {
		header := []string{"Content-Type", "application/json", "Accept", both}
		if session != "" {
			header = append(header, "Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25")
		}
		return p.ask(c, http.MethodPost, "/mcp", body, header...)
	}
	hello, err := post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+handshake+`}`)
	require.NoError(tb, err)
	session := hello.Header.Get("Mcp-Session-Id")
	_, err = whole(hello, nil)
	require.NoError(tb, err)
	_, err = whole(post(session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	require.NoError(tb, err)
	raw := func() ([]byte, error) {
		count++
		return whole(post(session, string(rpc(count, "tools/call", toolCall("terminal_read", map[string]any{"terminal": p.id, "view": "screen"})))))
	}
	first, err := raw()
	require.NoError(tb, err)
	return way{
		at: p.world,
		read: func() (string, error) {
			body, err := raw()
			if err != nil {
				return "", err
			}
			return text(data(body))
		},
		bare: echoWeb(tb, false, http.MethodPost, "/mcp", string(rpc(1, "tools/call", toolCall("terminal_read", map[string]any{"terminal": p.id, "view": "screen"}))), len(first)),
	}
}

// data is the message in an answer over HTTP, which comes as it is or as a server-sent event.
func data(body []byte) []byte {
	for line := range bytes.Lines(body) {
		if rest, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			return rest
		}
	}
	return body
}

// timed measures one look, which has to show the screen.
func (l *lane) timed(tb testing.TB, look func() (string, error)) {
	l.counted(func() {
		began := time.Now()
		screen, err := look()
		l.took = append(l.took, time.Since(began))
		if err == nil && !strings.Contains(screen, drawn) {
			err = errors.New("this is not the screen: " + screen)
		}
		require.NoError(tb, err)
	})
}

func BenchmarkRead(b *testing.B) {
	needTmux(b)
	for _, c := range ways {
		b.Run(c.name, func(b *testing.B) {
			w, one, other := c.setup(b), inTmux(b, true), inTmux(b, true)
			tmux := one.control()
			ours, echo := &lane{at: w.at}, &lane{at: newWorld(b)}
			connected, process := &lane{at: one.world}, &lane{at: other.world}
			lanes := []*lane{ours, echo, connected, process}
			for _, l := range lanes {
				l.begin(b)
			}
			for b.Loop() {
				ours.timed(b, w.read)
				connected.timed(b, tmux.capture)
				process.timed(b, other.capture)
				echo.timed(b, func() (string, error) { return drawn, w.bare() })
			}
			p50 := ours.quantile(.5)
			b.ReportMetric(0, "ns/op") // of all lanes together: says nothing
			b.ReportMetric(micros(p50), "p50-µs")
			b.ReportMetric(micros(ours.quantile(.99)), "p99-µs")
			b.ReportMetric(micros(echo.quantile(.5)), "transport-µs")
			b.ReportMetric(micros(p50-echo.quantile(.5)), "beyond-µs")
			b.ReportMetric(micros(ours.each(b)), "cpu-µs")
			b.ReportMetric(times(p50, connected.quantile(.5)), "x-control")
			b.ReportMetric(times(p50, process.quantile(.5)), "x-capture")
			b.ReportMetric(times(ours.each(b), connected.each(b)), "cpu-x-control")
			b.ReportMetric(times(ours.each(b), process.each(b)), "cpu-x-capture")
		})
	}
}

// TestEveryWayShowsTheScreen keeps the benchmark honest: each way brings the same screen.
func TestEveryWayShowsTheScreen(t *testing.T) {
	for _, c := range ways {
		t.Run(c.name, func(t *testing.T) {
			w := c.setup(t)
			screen, err := w.read()
			require.NoError(t, err)
			require.Contains(t, screen, drawn)
			require.Contains(t, screen, "notes-37.txt")
			require.NoError(t, w.bare())
		})
	}
	t.Run("tmux", func(t *testing.T) {
		needTmux(t)
		p := inTmux(t, true)
		for _, look := range []func() (string, error){p.control().capture, p.capture} {
			screen, err := look()
			require.NoError(t, err)
			require.Contains(t, screen, drawn)
			require.Contains(t, screen, "notes-37.txt")
		}
	})
}
