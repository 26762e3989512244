package gateway

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

const (
	// subscribers follow one session; each receives updates.
	subscribers = 5000
	updates     = 10
)

// BenchmarkSubscribers measures, for each of many subscribers, the processor time that a changed
// line costs, with the reading at the other end, and the memory that an idle subscriber holds. Both
// stand beside a bare server that writes the same bytes to as many WebSockets.
func BenchmarkSubscribers(b *testing.B) {
	var limit syscall.Rlimit
	require.NoError(b, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Cur < 2*subscribers+100 {
		b.Skipf("%d descriptors are not enough for %d subscribers: ulimit -n %d", limit.Cur, subscribers, 2*subscribers+100)
	}
	addr, tokens, store := tcp(b, Config{})
	many := make([]string, 1+subscribers/connectionsPerPeer)
	for i := range many {
		var err error
		many[i], err = store.Create(auth.Token{Name: fmt.Sprintf("viewer-%d", i), Role: auth.RoleViewer})
		require.NoError(b, err)
	}
	proxy := bearer(addr, tokens[auth.RoleProxy]).mustConnect(b, protocol.PathProxy)
	message(b, proxy, fake.Opening("vim-1"))
	seq := uint64(0)
	next := func() {
		seq++
		m := &protocol.Snapshot{ID: "s", SessionID: "vim-1", Seq: seq, Content: strings.Repeat("word ", 800), Screen: &protocol.Screen{Cols: 100, Rows: 30}}
		for row := range m.Screen.Rows {
			m.Screen.Lines = append(m.Screen.Lines, fmt.Sprint(row, strings.Repeat(" word", 12)))
		}
		m.Screen.Lines[7] = fmt.Sprintf("line %d %s", seq, strings.Repeat("x", 60))
		message(b, proxy, m)
	}
	var size int
	var ours, least phase
	for b.Loop() {
		next()
		ours.measure(b, follow(b, addr, many), func(c *crowd) { next(); size = c.fetch(b) })
		bare := newBareFan()
		least.measure(b, follow(b, strings.TrimPrefix(bare.URL, "http://"), many), func(c *crowd) { bare.message(strings.Repeat("x", size)); c.fetch(b) })
		bare.Close()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ours.each(b), "cpu-µs/update")
	b.ReportMetric(least.each(b), "bare-cpu-µs/update")
	b.ReportMetric(float64(size), "B/update")
	b.ReportMetric(ours.holds, "KiB/subscriber")
	b.ReportMetric(least.holds, "bare-KiB/subscriber")
}

// phase is what was measured of one server.
type phase struct {
	used  time.Duration
	holds float64
}

// measure sends updates, reads them, and ends the crowd.
func (p *phase) measure(b *testing.B, c *crowd, update func(*crowd)) {
	b.Helper()
	p.holds = c.holds
	update(c) // the first use of everything
	for range updates {
		p.used += spent(func() { update(c) })
	}
	for _, conn := range c.conns {
		require.NoError(b, conn.Close())
	}
}

// each returns the processor time for an update at one subscriber, in µs.
func (p *phase) each(b *testing.B) float64 {
	return float64(p.used.Nanoseconds()) / 1e3 / float64(b.N*updates*subscribers)
}

// spent returns the processor time of this process while do runs.
func spent(do func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	do()
	return used() - before
}

// crowd is subscribers without a library. holds is the cost of each at an address, in KiB. It
// includes some hundred bytes of the subscriber's own end.
type crowd struct {
	conns []net.Conn
	holds float64
}

func follow(b *testing.B, addr string, tokens []string) *crowd {
	b.Helper()
	c := &crowd{conns: make([]net.Conn, subscribers)}
	before := inUse()
	for i := range c.conns {
		c.conns[i] = upgraded(b, addr, tokens[i/connectionsPerPeer])
		writeText(b, c.conns[i], `{"type":"sessions.subscribe","requestId":"s","sessionId":"vim-1","changes":true,"moves":true}`)
		until(b, c.conns[i], `"terminal.snapshot"`)
	}
	c.holds = float64(inUse()-before) / subscribers / 1024
	return c
}

// fetch reads one message of each, and returns the size of the last.
func (c *crowd) fetch(b *testing.B) (size int) {
	b.Helper()
	part := make([]byte, 16<<10)
	for _, conn := range c.conns {
		require.NoError(b, conn.SetReadDeadline(time.Now().Add(fake.Soon)))
		_, err := io.ReadFull(conn, part[:2])
		require.NoError(b, err)
		if size = int(part[1]); size == 126 {
			_, err = io.ReadFull(conn, part[:2])
			require.NoError(b, err)
			size = int(binary.BigEndian.Uint16(part))
		}
		_, err = io.ReadFull(conn, part[:size])
		require.NoError(b, err)
	}
	return size
}

// bareFan writes to all WebSockets.
type bareFan struct {
	*httptest.Server
	conns chan chan string
	all   []chan string
}

func newBareFan() *bareFan {
	f := &bareFan{conns: make(chan chan string, subscribers)}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := (&websocket.Upgrader{Subprotocols: []string{protocol.Version}}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		out := make(chan string, 1)
		go func() { // ends with the handler
			for text := range out {
				_ = conn.WriteMessage(websocket.TextMessage, []byte(text))
			}
		}()
		_, _, _ = conn.ReadMessage() // subscribe
		out <- `{"type":"terminal.snapshot"}`
		f.conns <- out
		_, _, _ = conn.ReadMessage() // the end
		close(out)
		_ = conn.Close()
	}))
	return f
}

func (f *bareFan) message(text string) {
	for len(f.all) < subscribers {
		f.all = append(f.all, <-f.conns)
	}
	for _, out := range f.all {
		out <- text
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the second collection releases pooled memory
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// upgraded is a WebSocket without a library.
func upgraded(b *testing.B, addr, token string) net.Conn {
	b.Helper()
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", addr)
	require.NoError(b, err)
	require.NoError(b, conn.SetDeadline(time.Now().Add(fake.Soon)))
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: %s\r\nAuthorization: Bearer %s\r\n\r\n",
		protocol.PathView, addr, protocol.Version, token)
	require.NoError(b, err)
	until(b, conn, "\r\n\r\n")
	return conn
}

// writeText writes a short text frame, with a mask of zeros.
func writeText(b *testing.B, conn net.Conn, text string) {
	b.Helper()
	_, err := conn.Write(append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...))
	require.NoError(b, err)
}

// until reads until a text was there.
func until(b *testing.B, conn net.Conn, text string) {
	b.Helper()
	var all []byte
	for part := make([]byte, 4096); !bytes.Contains(all, []byte(text)); {
		n, err := conn.Read(part)
		require.NoError(b, err, "%s", all)
		all = append(all, part[:n]...)
	}
}
