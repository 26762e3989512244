package record

import (
	"strings"
	"testing"
	"time"
)

// BenchmarkEvent measures the recorder goroutine's cost of a chunk of output before it is written.
func BenchmarkEvent(b *testing.B) {
	p := []byte(strings.Repeat("a line of output, as programs print them \x1b[1mbold\x1b[m, für €5\r\n", 70))
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	var e encoder
	var dst []byte
	for b.Loop() {
		dst = e.appendEvent(dst[:0], time.Second, codeOutput, p)
	}
}
