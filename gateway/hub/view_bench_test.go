package hub

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"terminalproxy/protocol"
)

// BenchmarkScrolledLineForManyViewers measures the gateway's cost of a scrolled line for each
// viewer of a busy session, beside the same with a difference and a frame made for each of them.
func BenchmarkScrolledLineForManyViewers(b *testing.B) {
	const many = 1000
	_, proxy, viewers := showing(many)
	screens := make([]*protocol.Rows, 64)
	for n := range screens {
		m := &protocol.Rows{SessionID: "vim-1", Cols: 100, Rows: 30, State: &protocol.ViewState{Title: "a build"}}
		for row := range m.Rows {
			m.Lines = append(m.Lines, fmt.Sprintf("\x1b[0;32m%4d\x1b[0m %s", n+row, strings.Repeat("word ", (n+row)%12)))
		}
		screens[n] = m
	}
	seq := uint64(0)
	next := func() *protocol.Rows {
		m := *screens[seq%uint64(len(screens))]
		seq++
		m.Seq, m.Rev = seq, seq
		return &m
	}
	turn := func(m *protocol.Rows) (bytes int) {
		proxy.Handle(m)
		for _, v := range viewers {
			for _, m := range allMessages(v) {
				frame, err := protocol.Encode(m)
				if err != nil {
					b.Fatal(err)
				}
				bytes = len(frame)
			}
			v.Handle(&protocol.Ack{SessionID: "vim-1", Seq: m.Seq})
		}
		return bytes
	}
	var shared, each time.Duration
	bytes := 0
	last := next()
	turn(last)
	for b.Loop() {
		m, began := next(), time.Now()
		bytes = turn(m)
		shared += time.Since(began)
		began = time.Now()
		for range many {
			own := *m
			own.Lines = slices.Clone(m.Lines)
			if _, err := protocol.Encode(own.Difference(last)); err != nil {
				b.Fatal(err)
			}
		}
		each += time.Since(began)
		last = m
	}
	b.ReportMetric(float64(shared.Nanoseconds())/float64(b.N)/many, "ns/viewer")
	b.ReportMetric(float64(shared)/float64(each), "of-each-its-own")
	b.ReportMetric(float64(bytes), "bytes/viewer")
}
