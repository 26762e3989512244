package link

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
	"terminalproxy/protocol/handshake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
		fake.Receive(t, done, "the return of Run after its context ended")
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

// hear reads the link's next message, or nil at its end.
func hear(t *testing.T, c fake.Conn) protocol.Message {
	t.Helper()
	m, err := c.Next()
	bad, _ := errors.AsType[*protocol.Error](err)
	assert.Nil(t, bad, "what a link sends can be read")
	return m
}

// Whatever the slot skipped, the receiver has the newest screen, and the end comes last.
func TestDeltasRebuildTheScreen(t *testing.T) {
	got, seen := make(chan []protocol.Message, 1), make(chan uint64, 1000)
	dial := fake.Gateway(t, func(conn fake.Conn) {
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
		l.PutSnapshot(snapshot(seq+1, lines...))
		for have := uint64(0); seq%7 == 0 && have != seq+1; {
			have = <-seen // this one is not skipped
		}
	}
	l.Send(&protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 3})
	ctx, cancel := context.WithTimeout(t.Context(), fake.Soon)
	defer cancel()
	l.FinishSending(ctx)
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

// A gateway that says so gets deltas. It gets a whole snapshot when it may have forgotten the last one:
// after a blackout, and when it asks.
func TestAGatewayThatTakesDeltasGetsThem(t *testing.T) {
	got := make(chan protocol.Message)
	answers := make(chan protocol.Message)
	dial := fake.Gateway(t, func(conn fake.Conn) {
		go func() { // ends with the test
			for m := range answers {
				_ = conn.Send(m)
			}
		}()
		for m := hear(t, conn); m != nil; m = hear(t, conn) {
			got <- m
		}
		close(got)
	})
	handled := make(chan protocol.Message)
	l, stop := link(t, Config{Dial: dial, Handle: func(m protocol.Message) { handled <- m }})
	next := func() protocol.Message { return fake.Receive(t, got, "a message") }
	answer := func(m protocol.Message) {
		answers <- m
		require.Equal(t, m, fake.Receive(t, handled, "the answer"))
	}
	require.IsType(t, hello, next())
	put := func(seq uint64, row string) protocol.Message {
		l.PutSnapshot(snapshot(seq, "a row that stays", row))
		return next()
	}
	require.IsType(t, &protocol.Snapshot{}, put(1, "b"))
	require.IsType(t, &protocol.Snapshot{}, put(2, "c"), "an older gateway says nothing of deltas")
	answer(&protocol.Subscribed{SessionID: "vim-1", On: true, Deltas: true})
	require.Equal(t, []protocol.Row{{Row: 1, Text: "d"}}, put(3, "d").(*protocol.SnapshotDelta).Changed)
	l.Send(&protocol.Blackout{ID: "b", SessionID: "vim-1", On: true, Why: protocol.BlackoutUser})
	require.IsType(t, &protocol.Blackout{}, next())
	require.NotEmpty(t, put(4, "e").(*protocol.Snapshot).Screen.Lines)
	require.IsType(t, &protocol.SnapshotDelta{}, put(5, "f"))
	answer(&protocol.Error{Code: protocol.CodeBadMessage, Field: "since", Message: "x"})
	require.NotEmpty(t, put(6, "g").(*protocol.Snapshot).Screen.Lines)
	require.IsType(t, &protocol.SnapshotDelta{}, put(7, "h"))
	close(answers)
	stop()
}

// Rows that were not fetched are not sent. Those that are sent say what changed, and the session's
// end comes after them.
func TestRowsAreTheNewestAndBeforeTheEnd(t *testing.T) {
	got := make(chan []protocol.Message, 1)
	dial := fake.Gateway(t, func(conn fake.Conn) {
		var all []protocol.Message
		for m := hear(t, conn); m != nil; m = hear(t, conn) {
			all = append(all, m)
		}
		got <- all
	})
	begin, ready := make(chan struct{}), make(chan struct{})
	late := func(ctx context.Context) (net.Conn, error) { <-begin; return dial(ctx) }
	l, _ := link(t, Config{Dial: late, Up: func() { close(ready) }})
	l.PutRows(&protocol.Rows{SessionID: "vim-1", Seq: 1, Cols: 80, Rows: 1}) // without a gateway no one looks
	close(begin)
	<-ready
	lines := make([]string, 24)
	for i := range lines {
		lines[i] = fmt.Sprint("a row of some length, number ", i)
	}
	for seq := range uint64(300) {
		lines = slices.Clone(lines)
		lines[rand.IntN(len(lines))] = fmt.Sprint("line ", seq)
		l.PutRows(&protocol.Rows{SessionID: "vim-1", Seq: seq + 2, Cols: 80, Rows: 24, Lines: lines, State: &protocol.ViewState{Title: "x"}})
	}
	l.Send(&protocol.SessionClose{ID: "c", SessionID: "vim-1"})
	l.Send(&protocol.Done{RequestID: "r"})
	ctx, cancel := context.WithTimeout(t.Context(), fake.Soon)
	defer cancel()
	l.FinishSending(ctx)
	require.NoError(t, ctx.Err())

	all := <-got
	require.IsType(t, &protocol.SessionClose{}, all[len(all)-2])
	var have *protocol.Rows
	for _, m := range all[1 : len(all)-2] {
		full, ok := m.(*protocol.Rows).Complete(have)
		require.True(t, ok)
		have = full
	}
	require.EqualValues(t, 301, have.Seq)
	require.Equal(t, lines, have.Lines)
}

// Neither a handshake without an answer nor a blocked write delays the end.
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
		dial := fake.Gateway(t, func(fake.Conn) { <-release })
		ready := make(chan struct{})
		l, stop := link(t, Config{Dial: dial, Up: func() { close(ready) }})
		<-ready
		big := make([]string, 3)
		for i := range big {
			big[i] = string(make([]byte, 200_000))
		}
		l.PutSnapshot(snapshot(1, big...)) // more than the socket takes
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		l.FinishSending(ctx) // returns with its context
		stop()
		close(release)
	})
}

// A gateway that takes nothing loses the connection, and the next one begins anew.
func TestAFullQueueCutsTheConnection(t *testing.T) {
	release := make(chan struct{})
	dial := fake.Gateway(t, func(fake.Conn) { <-release })
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

// Once for each time without a gateway.
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

// The gateway is given up after 64 KiB, and the user is told why.
func TestALyingGatewayIsBoundedR75(t *testing.T) {
	for name, lie := range fake.Lies {
		t.Run(name, func(t *testing.T) {
			told := make(chan error, 1)
			_, dial := fake.Server(t, "unix", func(c net.Conn) { fake.Flood(c, lie.First, lie.Again) })
			_, stop := link(t, Config{Dial: dial, Trouble: func(err error) { told <- err }})
			err := fake.Receive(t, told, "the end of a handshake that has none")
			if name == "endless interim answers" { // the first of them is an answer
				require.Error(t, err)
			} else {
				require.ErrorIs(t, err, handshake.ErrTooLong)
			}
			stop()
		})
	}
}

// Messages sent at the end, just after a connection was lost, arrive over the next one.
func TestLastWordsWaitForTheNextGateway(t *testing.T) {
	heard, gate, conns := make(chan protocol.Message, 8), make(chan struct{}), atomic.Int64{}
	reach := fake.Gateway(t, func(conn fake.Conn) {
		if conns.Add(1) == 1 {
			hear(t, conn)
			return // it is killed
		}
		for m := hear(t, conn); m != nil; m = hear(t, conn) {
			heard <- m
		}
	})
	downs, dials := make(chan struct{}, 1), 0
	l, _ := link(t, Config{Down: func() { downs <- struct{}{} }, Dial: func(ctx context.Context) (net.Conn, error) {
		if dials++; dials > 1 {
			<-gate
		}
		return reach(ctx)
	}})
	<-downs
	over, cancel := context.WithCancel(t.Context())
	cancel()
	l.WaitReconnected(over) // returns with its context
	waited := make(chan struct{})
	go func() { // ends with the next connection
		defer close(waited)
		l.WaitReconnected(context.Background())
	}()
	close(gate)
	fake.Receive(t, waited, "the next connection")
	l.Send(&protocol.SessionClose{ID: "c", SessionID: "vim-1"})
	ctx, stop := context.WithTimeout(t.Context(), fake.Soon)
	defer stop()
	l.FinishSending(ctx)
	require.IsType(t, hello, <-heard)
	require.IsType(t, &protocol.SessionClose{}, <-heard)
	l.WaitReconnected(context.Background()) // no answer is expected
}
