package chat_test

import (
	"runtime"
	"strings"
	"testing"

	"terminalproxy/proxy/chat"
)

// BenchmarkMemory measures what a conversation of a thousand items takes beyond their text, in
// bytes.
func BenchmarkMemory(b *testing.B) {
	const items, size = 1000, 500
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var beyond uint64
	for b.Loop() {
		f := &fake{}
		before := heap()
		s := chat.New("claude", f)
		if err := s.Start(); err != nil {
			b.Fatal(err)
		}
		f.report(chat.Ready{})
		for range items {
			f.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Text, Text: strings.Repeat("x", size)}})
		}
		beyond = heap() - before - items*size
		runtime.KeepAlive(s)
	}
	b.ReportMetric(float64(beyond), "B-beyond/conversation")
}
