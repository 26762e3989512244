package gateway

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// idlers is the number of viewers of an idle session.
const idlers = 600

// BenchmarkIdleViewer measures the memory, heap and stacks, that an idle viewer costs, beside the
// cost of a WebSocket that a bare server reads.
func BenchmarkIdleViewer(b *testing.B) {
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := (&websocket.Upgrader{Subprotocols: []string{protocol.Version}}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _, _ = conn.ReadMessage() // view
		_ = conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"terminal.rows"}`))
		_, _, _ = conn.ReadMessage() // ack
		_, _, _ = conn.ReadMessage() // the end
	}))
	defer bare.Close()
	addr, tokens, store := tcp(b, Config{})
	many := make([]string, 1+idlers/connectionsPerPeer)
	for i := range many {
		var err error
		many[i], err = store.Create(auth.Token{Name: fmt.Sprintf("viewer-%d", i), Role: auth.RoleViewer})
		require.NoError(b, err)
	}
	proxy := bearer(addr, tokens[auth.RoleProxy]).mustConnect(b, protocol.PathProxy)
	open := fake.Opening("vim-1")
	message(b, proxy, open)
	message(b, proxy, fake.Snapshot("vim-1", 1, "hello"))
	rows := &protocol.Rows{SessionID: "vim-1", Seq: 1, Cols: 100, Rows: 30, State: &protocol.ViewState{}}
	for range rows.Rows {
		rows.Lines = append(rows.Lines, strings.Repeat("word ", 12))
	}
	go func() { // ends with the connection
		_ = fake.Conn{Conn: proxy}.Answer(func(m protocol.Message) protocol.Message {
			if _, asked := m.(*protocol.View); !asked {
				return nil
			}
			return rows
		})
	}()
	var least, each float64
	for b.Loop() {
		least = memory(b, strings.TrimPrefix(bare.URL, "http://"), many)
		each = memory(b, addr, many)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(least, "bare-KiB")
	b.ReportMetric(each, "KiB/viewer")
}

// memory returns the cost of each viewer at an address, in KiB. It includes some hundred bytes of
// the viewer's own end.
func memory(b *testing.B, addr string, tokens []string) float64 {
	b.Helper()
	before := inUse()
	conns := make([]net.Conn, idlers)
	for i := range conns {
		conns[i] = newIdleViewer(b, addr, tokens[i/connectionsPerPeer])
	}
	after := inUse()
	for _, conn := range conns {
		require.NoError(b, conn.Close())
	}
	return float64(after-before) / idlers / 1024
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the second collection releases pooled memory
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// newIdleViewer is a viewer without a library: it has the screen, has acknowledged it, and waits.
func newIdleViewer(b *testing.B, addr, token string) net.Conn {
	b.Helper()
	conn := upgraded(b, addr, token)
	writeText(b, conn, `{"type":"terminal.view","requestId":"v","sessionId":"vim-1"}`)
	until(b, conn, `"terminal.rows"`)
	writeText(b, conn, `{"type":"terminal.ack","sessionId":"vim-1","seq":1}`)
	return conn
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
