//go:build linux

package built_test

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

const (
	viewers = 1000
	// withAToken is how many viewers come with one token: a gateway takes no more than 64.
	withAToken = 60
	// ticks is how many lines one turn of the benchmark prints, at tickEvery.
	ticks     = 60
	tickEvery = 100 * time.Millisecond
	tick      = "tick"
)

// audiences are crowds of viewers, of a gateway or of a process that only writes to them.
var audiences = []struct {
	name string
	bare bool
}{
	{"bare-1000", true},
	{"1000", false},
}

// BenchmarkViewers states how soon viewers have a line that scrolls, ten of which come in a second, and what that costs.
func BenchmarkViewers(b *testing.B) {
	var least time.Duration
	for _, a := range audiences {
		b.Run(a.name, func(b *testing.B) {
			p := fanned(b)
			if !a.bare {
				p = servedWith(b, "ticker")
			}
			c := p.crowd()
			var used time.Duration
			for b.Loop() {
				used += c.turn()
			}
			each := used / time.Duration(max(1, len(c.took)))
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(c.quantile(.5).Microseconds())/1e3, "p50-ms")
			b.ReportMetric(float64(c.quantile(.99).Microseconds())/1e3, "p99-ms")
			b.ReportMetric(micros(each), "cpu-µs/message")
			b.ReportMetric(float64(field("/proc/"+strconv.Itoa(p.pids[0])+"/status", "VmHWM:"))/1024, "peak-MiB")
			b.ReportMetric(float64(len(c.took))/float64(viewers*b.N*ticks), "seen")
			if a.bare {
				least = each
			} else if least > 0 {
				b.ReportMetric(times(each, least), "x-bare")
				b.ReportMetric(float64(slices.Sorted(slices.Values(c.sizes))[len(c.sizes)/2]), "B/line")
			}
		})
	}
}

// crowd is people who look at a session. They are as cheap as can be: they share the processors with what is measured.
type crowd struct {
	lane
	p     *place
	mu    sync.Mutex // over what follows, and lane.took
	sizes []int      // of the messages, in bytes
	shown *sync.Cond
	ready int // viewers who have the screen
}

// crowd connects them, and waits until they have the screen.
func (p *place) crowd() *crowd {
	p.tb.Helper()
	c := &crowd{p: p, lane: lane{at: p.world}}
	c.shown = sync.NewCond(&c.mu)
	header := http.Header{}
	for i := range viewers {
		if p.token != "" && i%withAToken == 0 {
			name := "viewers" + strconv.Itoa(i)
			header.Set("Authorization", "Bearer "+strings.TrimSpace(p.output(binary("gateway"), "token", "create", name, "--role", "viewer")))
		}
		conn := c.connect(header)
		require.NoError(p.tb, conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"terminal.view","requestId":"v","sessionId":"`+p.id+`"}`)))
		go c.reads(conn) // ends with the connection
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.ready < viewers {
		c.shown.Wait()
	}
	return c
}

func (c *crowd) connect(header http.Header) *websocket.Conn {
	c.p.tb.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}, ReadBufferSize: 1024, WriteBufferSize: 256}
	conn, resp, err := dialer.DialContext(context.Background(), c.p.at+protocol.PathView, header)
	require.NoError(c.p.tb, err)
	require.NoError(c.p.tb, resp.Body.Close())
	c.p.tb.Cleanup(func() { _ = conn.Close() })
	return conn
}

// reads is a viewer's.
func (c *crowd) reads(conn *websocket.Conn) {
	for seen := false; ; {
		_, frame, err := conn.ReadMessage()
		if err != nil {
			return
		}
		now := monotonic()
		seq := after(frame, `"seq":`)
		if seq == "" || !bytes.Contains(frame, []byte(`"terminal.rows"`)) {
			continue
		}
		if conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"terminal.ack","sessionId":"`+c.p.id+`","seq":`+seq+`}`)) != nil {
			return
		}
		at, ok := printed(string(frame[max(0, bytes.LastIndex(frame, []byte(tick+":"))):]), tick)
		c.mu.Lock()
		if ok && seen {
			c.took = append(c.took, time.Duration(now-at))
			c.sizes = append(c.sizes, len(frame))
		}
		if !seen {
			seen = true
			c.ready++
			c.shown.Broadcast()
		}
		c.mu.Unlock()
	}
}

// after is the number behind a key.
func after(frame []byte, key string) string {
	_, rest, _ := bytes.Cut(frame, []byte(key))
	end := slices.IndexFunc(rest, func(c byte) bool { return c < '0' || c > '9' })
	return string(rest[:max(0, end)])
}

// turn has the lines printed, and gives the processor time that the gateway spent.
func (c *crowd) turn() time.Duration {
	before := processor(c.p.pids[0])
	c.p.prints(strconv.Itoa(ticks))
	time.Sleep(ticks*tickEvery + tickEvery)
	return processor(c.p.pids[0]) - before
}

// fanned is a process that only writes to viewers.
func fanned(tb testing.TB) *place {
	tb.Helper()
	w := newWorld(tb)
	p := &place{world: w, orders: w.orders(), id: "ticker-abcd"}
	_, out := w.talks(binary("fan"), w.path("orders"))
	addr, err := out.ReadString('\n')
	require.NoError(tb, err)
	p.at = strings.TrimSpace(addr)
	return p
}
