package page_test

import (
	"runtime"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// idlers is as many connections as one opening takes.
const idlers = 16

// BenchmarkIdlePage measures the memory, heap and stacks, that an idle page's connection costs the
// door. It includes the page's own end: about a KiB.
func BenchmarkIdlePage(b *testing.B) {
	h := openDoor(b, nil)
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}, ReadBufferSize: 1, WriteBufferSize: 1}
	each := 0.0
	var pages []*browser
	for range idlers / 2 {
		pages = append(pages, h.newPage())
	}
	for b.Loop() {
		var tickets []string
		for _, p := range pages {
			tickets = append(tickets, p.ticket(), p.ticket())
		}
		before := inUse()
		var all []*websocket.Conn
		for _, ticket := range tickets {
			conn, resp, err := dialer.DialContext(b.Context(), "ws://"+h.at+"/v1/page", nil)
			require.NoError(b, err)
			require.NoError(b, resp.Body.Close())
			require.NoError(b, conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"hello","ticket":"`+ticket+`"}`)))
			_, _, err = conn.ReadMessage()
			require.NoError(b, err)
			all = append(all, conn)
		}
		each += float64(inUse()-before) / idlers / 1024
		for _, conn := range all {
			require.NoError(b, conn.Close())
			<-(<-h.links).done
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(each/float64(b.N), "KiB/page")
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the second collection releases pooled memory
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
