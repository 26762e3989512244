package screen

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"
)

// drain writes p into a PTY (in raw mode) and returns how long a plain loop takes to read it at the
// other side.
func drain(tb testing.TB, p []byte) time.Duration {
	tb.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		tb.Skipf("no PTY here: %v", err)
	}
	defer func() { _ = master.Close() }()
	_, err = term.MakeRaw(int(slave.Fd()))
	require.NoError(tb, err)
	written := make(chan error, 1)
	start := time.Now()
	go func() { // ends when everything was written, which the loop below waits for
		_, err := io.Copy(slave, bytes.NewReader(p))
		written <- err
	}()
	buf := make([]byte, 64<<10)
	for n := 0; n < len(p); {
		k, err := master.Read(buf)
		require.NoError(tb, err)
		n += k
	}
	took := time.Since(start)
	require.NoError(tb, <-written)
	require.NoError(tb, slave.Close())
	return took
}

// BenchmarkAgainstDrain feeds each payload and drains it from a PTY in turn, in one run, and
// reports the ratio: a screen that is faster than the PTY delays no program.
func BenchmarkAgainstDrain(b *testing.B) {
	for i, c := range payloads {
		p := payload(i, 4<<20)
		b.Run(c.name, func(b *testing.B) {
			s := New(Config{Cols: 80, Rows: 24, Scrollback: 10_000})
			var fed, drained time.Duration
			for b.Loop() {
				start := time.Now()
				feedReads(s, p)
				fed += time.Since(start)
				drained += drain(b, p)
			}
			size := float64(len(p)) * float64(b.N) / 1e6
			b.ReportMetric(size/fed.Seconds(), "MB/s")
			b.ReportMetric(size/drained.Seconds(), "drain-MB/s")
			b.ReportMetric(drained.Seconds()/fed.Seconds(), "x-drain")
		})
	}
}
