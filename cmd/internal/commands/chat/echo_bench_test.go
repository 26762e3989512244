package chat

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// echoed collects what an editor printed, and tells a waiter when new text arrives.
type echoed struct {
	mu    sync.Mutex
	text  []byte
	grown chan struct{}
}

func (e *echoed) add(p []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text = append(e.text, p...)
	close(e.grown)
	e.grown = make(chan struct{})
}

// await waits for words in what is printed from now on.
func (e *echoed) await(words string) {
	for {
		e.mu.Lock()
		has, grown := bytes.Contains(e.text, []byte(words)), e.grown
		if has {
			e.text = e.text[:0]
		}
		e.mu.Unlock()
		if has {
			return
		}
		<-grown
	}
}

// BenchmarkEcho measures the time from a key to its echo, as the 99th percentile, while an agent's
// text streams. The time without a stream is the baseline of the same run.
func BenchmarkEcho(b *testing.B) {
	keyboard, screen, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	if err := pty.Setsize(screen, &pty.Winsize{Cols: 100, Rows: 40}); err != nil {
		b.Fatal(err)
	}
	e, err := newEditor(screen, screen)
	if err != nil {
		b.Fatal(err)
	}
	shown := &echoed{grown: make(chan struct{})}
	var parts sync.WaitGroup
	parts.Go(func() { // ends with the terminal
		for p := make([]byte, 32<<10); ; {
			n, err := keyboard.Read(p)
			if err != nil {
				return
			}
			shown.add(p[:n])
		}
	})
	key := rune(0xac00) // each key is a different one, since the line is redrawn again and again
	press := func() time.Duration {
		if key++; key > 0xd700 {
			key = 0xac01
		}
		began := time.Now()
		_, _ = keyboard.WriteString(string(key)) // a lost key hangs below
		shown.await(string(key))
		took := time.Since(began)
		_, _ = keyboard.Write([]byte{0x15}) // Ctrl+U empties the line
		return took
	}
	p99 := func(n int) time.Duration {
		all := make([]time.Duration, n)
		for i := range all {
			all[i] = press()
		}
		slices.Sort(all)
		return all[n*99/100]
	}
	const keys = 300
	var idle, busy time.Duration
	for b.Loop() {
		idle = max(idle, p99(keys))
		over := make(chan struct{})
		var streams sync.WaitGroup
		streams.Go(func() { // one line a millisecond: more than any model sends
			view, pace := &chatView{text: e.term, about: e.term, cols: e.columns}, time.NewTicker(time.Millisecond)
			defer pace.Stop()
			for {
				select {
				case <-pace.C:
					view.write(strings.Repeat("word ", 16) + "\n")
				case <-over:
					return
				}
			}
		})
		busy = max(busy, p99(keys))
		close(over)
		streams.Wait()
	}
	b.ReportMetric(float64(idle.Microseconds())/1000, "ms-idle-p99")
	b.ReportMetric(float64(busy.Microseconds())/1000, "ms-streaming-p99")
	b.ReportMetric(float64(busy)/float64(idle), "times-idle")
	e.close()
	_ = screen.Close()
	_ = keyboard.Close()
	parts.Wait()
}
