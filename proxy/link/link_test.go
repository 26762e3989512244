package link

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon bounds what happens at once on any machine.
const soon = 10 * time.Second

// gateway is a gateway of the test's own on a unix socket: what it does with a connection is the test's business.
func gateway(t *testing.T, serve func(*websocket.Conn)) (dial func(context.Context) (net.Conn, error)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	up := websocket.Upgrader{Subprotocols: []string{protocol.Version}}
	h := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		serve(conn)
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = h.Serve(ln) }()
	t.Cleanup(func() { _ = h.Close(); <-served })
	return func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "unix", path) }
}

// link starts a link; stop ends it and waits.
func link(t *testing.T, c Config) (l *Link, stop func()) {
	t.Helper()
	c.URL = "ws://localhost" + protocol.PathProxy
	if c.Hello == nil {
		c.Hello = func() []protocol.Message { return []protocol.Message{hello} }
	}
	if c.Handle == nil {
		c.Handle = func(protocol.Message) {}
	}
	l = New(c)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); l.Run(ctx) }()
	stop = func() {
		cancel()
		select {
		case <-done:
		case <-time.After(soon):
			t.Error("Run did not return after its context ended")
		}
	}
	t.Cleanup(stop)
	return l, stop
}

var hello = &protocol.SessionOpen{ID: "o", SessionID: "vim-1", Name: "vim", Command: "vim", Args: []string{}, Cols: 80, Rows: 3}

func snapshot(seq uint64, lines ...string) *protocol.Snapshot {
	return &protocol.Snapshot{
		ID: "s", SessionID: "vim-1", Seq: seq,
		Screen: &protocol.Screen{Cols: 80, Rows: len(lines), Lines: lines},
	}
}

// hear reads the next message of the link's.
func hear(t *testing.T, conn *websocket.Conn) protocol.Message {
	t.Helper()
	_, frame, err := conn.ReadMessage()
	if err != nil {
		return nil
	}
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	require.NoError(t, err)
	return m
}

// TestDeltasRebuildTheScreen: whatever the slot skipped, the receiver has the newest screen, and the end comes last.
func TestDeltasRebuildTheScreen(t *testing.T) {
	got, seen := make(chan []protocol.Message, 1), make(chan uint64, 1000)
	dial := gateway(t, func(conn *websocket.Conn) {
		var all []protocol.Message
		for m := hear(t, conn); m != nil; m = hear(t, conn) {
			all = append(all, m)
			if s, ok := m.(*protocol.Snapshot); ok {
				seen <- s.Seq
			}
		}
		got <- all
	})
	ready := make(chan struct{})
	l, _ := link(t, Config{Dial: dial, Up: func() { close(ready) }})
	<-ready
	lines := make([]string, 24)
	for seq := range uint64(500) {
		lines = slices.Clone(lines)
		lines[rand.IntN(len(lines))] = fmt.Sprint("line ", seq)
		l.Snapshot(snapshot(seq+1, lines...))
		for have := uint64(0); seq%7 == 0 && have != seq+1; {
			have = <-seen // this one is not skipped
		}
	}
	l.Send(&protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 3})
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	l.Finish(ctx)
	require.NoError(t, ctx.Err(), "the close frame was answered")

	all := <-got
	require.IsType(t, hello, all[0], "the hello comes first")
	require.IsType(t, &protocol.SessionClose{}, all[len(all)-1])
	var have []string
	seq, part := uint64(0), 0
	for _, m := range all[1 : len(all)-1] {
		s := m.(*protocol.Snapshot)
		if s.Screen.Lines != nil {
			have = s.Screen.Lines
		} else {
			require.Equal(t, seq, s.Since)
			have = protocol.Patch(have, s.Changed)
			part++
		}
		seq = s.Seq
	}
	require.Equal(t, uint64(500), seq, "the newest is not skipped")
	require.Equal(t, lines, have)
	require.Positive(t, part, "some were differences")
	t.Logf("%d of 500 snapshots were sent, %d as differences", len(all)-2, part)
}

// TestRunEndsThoughTheGatewayStalls: neither a handshake without an answer nor a write that is not taken holds the end up.
func TestRunEndsThoughTheGatewayStalls(t *testing.T) {
	t.Run("handshake", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "s")
		ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
		require.NoError(t, err)
		defer func() { _ = ln.Close() }()
		dialled := make(chan struct{})
		_, stop := link(t, Config{Dial: func(ctx context.Context) (net.Conn, error) {
			defer close(dialled)
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}})
		<-dialled
		stop()
	})
	t.Run("write", func(t *testing.T) {
		release := make(chan struct{})
		dial := gateway(t, func(*websocket.Conn) { <-release })
		ready := make(chan struct{})
		l, stop := link(t, Config{Dial: dial, Up: func() { close(ready) }})
		<-ready
		big := make([]string, 3)
		for i := range big {
			big[i] = string(make([]byte, 200_000))
		}
		l.Snapshot(snapshot(1, big...)) // more than the socket takes
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		l.Finish(ctx) // returns with its context
		stop()
		close(release)
	})
}

// TestAFullQueueCutsTheConnection: a gateway that takes nothing loses the connection, and the next one begins anew.
func TestAFullQueueCutsTheConnection(t *testing.T) {
	release := make(chan struct{})
	dial := gateway(t, func(*websocket.Conn) { <-release })
	ups, downs := make(chan struct{}, 100), make(chan struct{}, 100)
	l, stop := link(t, Config{Dial: dial, Up: func() { ups <- struct{}{} }, Down: func() { downs <- struct{}{} }})
	<-ups
	for {
		select {
		case <-downs:
			<-ups // it is there again
			close(release)
			stop()
			return
		default:
			l.Send(&protocol.Error{Code: protocol.CodeBusy, Message: string(make([]byte, 4096))})
		}
	}
}

// TestTroubleIsToldOnce: for each time without a gateway.
func TestTroubleIsToldOnce(t *testing.T) {
	told, tries := make(chan error, 100), make(chan struct{}, 100)
	_, stop := link(t, Config{
		Dial: func(context.Context) (net.Conn, error) {
			tries <- struct{}{}
			return nil, fmt.Errorf("nobody")
		},
		Trouble: func(err error) { told <- err },
	})
	for range 4 {
		<-tries
	}
	stop()
	require.Len(t, told, 1)
	require.ErrorContains(t, <-told, "no gateway answers")
}

// liars are gateways that never finish the handshake: each writes until the connection is gone.
var liars = map[string]func(net.Conn){
	"endless header": func(c net.Conn) {
		fill(c, "HTTP/1.1 101 Switching Protocols\r\nX: ", strings.Repeat("x", 4096))
	},
	"endless lines": func(c net.Conn) {
		fill(c, "HTTP/1.1 101 Switching Protocols\r\n", strings.Repeat("X-Line: y\r\n", 400))
	},
	"endless interim answers": func(c net.Conn) {
		fill(c, "", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100))
	},
	"no line end at all": func(c net.Conn) { fill(c, "", strings.Repeat("HTTP/1.1", 512)) },
}

func fill(c net.Conn, first, again string) {
	_, err := c.Write([]byte(first))
	for err == nil {
		_, err = c.Write([]byte(again))
	}
}

// lie is a gateway that lies, and counts what it could send.
func lie(t *testing.T, how func(net.Conn)) (dial func(context.Context) (net.Conn, error)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	var all sync.WaitGroup
	all.Go(func() { // ends with the listener
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { // ends when the other end closes
				how(conn)
				conn.Close()
			})
		}
	})
	t.Cleanup(func() { _ = ln.Close(); all.Wait() })
	return func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "unix", path) }
}

// TestR75ALyingGatewayIsBounded: it is given up after 64 KiB, and the user is told why.
func TestR75ALyingGatewayIsBounded(t *testing.T) {
	for name, how := range liars {
		t.Run(name, func(t *testing.T) {
			told := make(chan error, 1)
			_, stop := link(t, Config{Dial: lie(t, how), Trouble: func(err error) { told <- err }})
			select {
			case err := <-told:
				if name == "endless interim answers" { // the first of them is an answer
					require.Error(t, err)
				} else {
					require.ErrorIs(t, err, handshake.ErrTooLong)
				}
			case <-time.After(soon):
				require.Fail(t, "the link is still reading a handshake that has no end")
			}
			stop()
		})
	}
}
