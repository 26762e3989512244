//go:build linux

package built_test

import (
	"bytes"
	"context"
	"errors"
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
	read func() (screen string, err error)
	// bare sends a message and reads one of the same sizes on the same kind of connection, without anything behind it.
	bare func() error
}

// ways are what an agent can use. The user's proxy is the gateway.
var ways = []struct {
	name  string
	setup func(*place) way
}{
	{"websocket-unix", overWebSocket},
	{"mcp-stdio", overStdio},
}

func overWebSocket(p *place) way {
	tb := p.tb
	c, socket := p.client(), echoSocket(tb)
	got, err := c.Read(context.Background(), &protocol.Read{SessionID: p.id})
	require.NoError(tb, err)
	answer, err := protocol.Encode(got)
	require.NoError(tb, err)
	ask, err := protocol.Encode(&protocol.Read{RequestID: got.RequestID, SessionID: p.id})
	require.NoError(tb, err)
	echo := order(len(answer), len(ask))
	return way{
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

func overStdio(p *place) way {
	tb, m := p.tb, p.mcp()
	ask := toolCall("terminal_read", map[string]any{"terminal": p.id, "view": "screen"})
	answer, err := m.call("tools/call", ask)
	require.NoError(tb, err)
	w := newWorld(tb)
	in, out := w.talks(binary("echo-stdio"))
	echo := append(order(len(answer), len(rpc(1, "tools/call", ask))-1), '\n')
	return way{
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
			p, one, other := ofUser(b), inTmux(b), inTmux(b)
			w, tmux := c.setup(p), one.control()
			ours, echo := &lane{at: p.world}, &lane{at: newWorld(b)}
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

// TestEveryWayShowsTheScreen keeps the benchmarks honest: each way brings the same screen, and each
// observer has a mark after it was written, without a rest before it.
func TestEveryWayShowsTheScreen(t *testing.T) {
	shows := func(t *testing.T, look func() (string, error)) {
		screen, err := look()
		require.NoError(t, err)
		require.Contains(t, screen, drawn)
		require.Contains(t, screen, "notes-37.txt")
	}
	sees := func(t *testing.T, p *place, o observer) {
		l := newWatchful(p, o)
		for range 2 {
			l.mark(t, 0)
		}
		for _, took := range l.took {
			require.Positive(t, took)
		}
	}
	p := ofUser(t)
	for _, c := range ways {
		t.Run(c.name, func(t *testing.T) {
			w := c.setup(p)
			shows(t, w.read)
			require.NoError(t, w.bare())
		})
	}
	for _, c := range observers {
		t.Run(c.name, func(t *testing.T) { sees(t, p, c.setup(p)) })
	}
	t.Run("tmux", func(t *testing.T) {
		needTmux(t)
		p := inTmux(t)
		shows(t, p.control().capture)
		shows(t, p.capture)
		sees(t, p, notified(p))
		sees(t, p, polling(p))
	})
}
