package screen

import (
	"bytes"
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// payloads are what programs print, for 80 by 24.
var payloads = []struct {
	name string
	gen  func(b *bytes.Buffer, r *rand.Rand)
}{
	{"ascii", func(b *bytes.Buffer, r *rand.Rand) {
		fmt.Fprintf(b, "%08d the quick brown fox jumps over %s\r\n", r.Intn(1e8), strings.Repeat("lazy dog ", r.Intn(8)))
	}},
	{"sgr", func(b *bytes.Buffer, r *rand.Rand) {
		b.WriteString("\x1b[H")
		for range 80 * 24 {
			fmt.Fprintf(b, "\x1b[38;5;%d;48;5;%d;1;3;4m%c", 100+r.Intn(156), r.Intn(256), 'A'+r.Intn(26))
		}
	}},
	{"log", func(b *bytes.Buffer, r *rand.Rand) {
		fmt.Fprintf(b, "\x1b[2m2026-01-02T03:04:05\x1b[0m \x1b[1;3%dmINFO\x1b[0m \x1b[38;2;%d;120;200mmodule::%d\x1b[0m: "+
			"request id=%x took %dms\r\n", r.Intn(8), r.Intn(256), r.Intn(99), r.Uint32(), r.Intn(999))
	}},
	{"unicode", unicodePayload},
	{"cursor", cursorPayload},
	{"region", func(b *bytes.Buffer, r *rand.Rand) {
		if b.Len() == 0 {
			b.WriteString("\x1b[?1049h\x1b[2;23r")
		}
		fmt.Fprintf(b, "\x1b[23;1H\nline %d\x1b[K", r.Intn(1e6))
		if r.Intn(4) == 0 {
			b.WriteString("\x1b[2;1H\x1bMtop")
		}
	}},
	{"clusters", func(b *bytes.Buffer, r *rand.Rand) {
		if b.Len() == 0 {
			b.WriteString("\x1b[?2027h")
		}
		unicodePayload(b, r)
	}},
	{"scroll", func(b *bytes.Buffer, _ *rand.Rand) { b.WriteString("y\r\n") }},
}

func unicodePayload(b *bytes.Buffer, r *rand.Rand) {
	for range 10 {
		switch r.Intn(6) {
		case 0, 1:
			for range 8 {
				b.WriteRune(rune(0x4e00 + r.Intn(0x4000)))
			}
		case 2:
			b.WriteRune(rune(0x1f600 + r.Intn(64)))
		case 3:
			b.WriteString("e\u0301a\u0308 ñß привет ")
		case 4:
			b.WriteString("👩\u200d👩\u200d👧 🇩🇪 👍🏽 ❤\ufe0f ")
		case 5:
			b.WriteString("plain text ")
		}
	}
	b.WriteString("\r\n")
}

func cursorPayload(b *bytes.Buffer, r *rand.Rand) {
	fmt.Fprintf(b, "\x1b[%d;%dH", 1+r.Intn(24), 1+r.Intn(80))
	switch r.Intn(8) {
	case 0:
		b.WriteString("\x1b[K")
	case 1:
		fmt.Fprintf(b, "\x1b[%dL\x1b[%dM", 1+r.Intn(3), 1+r.Intn(3))
	case 2:
		fmt.Fprintf(b, "\x1b[%d@\x1b[%dP", 1+r.Intn(3), 1+r.Intn(3))
	case 3:
		b.WriteString("\x1b[?25l\x1b[1;34mkeyword\x1b[m\x1b[?25h")
	default:
		b.WriteString("x := foo(bar)")
	}
}

func payload(i, size int) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewSource(1))
	for b.Len() < size {
		payloads[i].gen(&b, r)
	}
	return b.Bytes()
}

// readSize is the size of one read from a PTY.
const readSize = 4096

func feedReads(s *Screen, p []byte) {
	for len(p) > 0 {
		n := min(len(p), readSize)
		s.Feed(p[:n])
		p = p[n:]
	}
}

// TestNoAllocations holds for every payload once the tables and the history have their size.
func TestNoAllocations(t *testing.T) {
	for i, c := range payloads {
		p := payload(i, 64<<10)
		s := New(Config{Cols: 80, Rows: 24, Scrollback: 500})
		for range 8 {
			feedReads(s, p)
		}
		require.LessOrEqual(t, testing.AllocsPerRun(5, func() { feedReads(s, p) }), 2.0, c.name)
	}
}

// 10,000 rows of 80 columns fit in 10 MB.
func TestMemoryOfHistory(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for i, c := range payloads[:4] {
		p := payload(i, 4<<20)
		before := heap()
		s := New(Config{Cols: 80, Rows: 24, Scrollback: 10_000})
		s.Feed(p)
		used := heap() - before
		t.Logf("%s: %d rows, %.1f MB", c.name, s.HistoryLen(), float64(used)/1e6)
		require.Less(t, used, uint64(10<<20), c.name)
		runtime.KeepAlive(s)
		runtime.KeepAlive(p)
	}
}
