//go:build linux

package built_test

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// shells is how many terminals do nothing, each with a shell at its prompt.
	shells = 200
	// watchFor is how long they are watched.
	watchFor = 10 * time.Second
	// settling is what the starts may leave to do.
	settling = 3 * time.Second
)

// crowds are ways to have many terminals: open makes n more of them.
var crowds = []struct {
	name string
	tmux bool
	make func(testing.TB) (w *world, open func(n int))
}{
	{"tmux-windows", true, tmuxCrowd("new-window", "-d", "-t", "s0:")},
	{"tmux-sessions", true, tmuxCrowd("new-session", "-d", "-x", "80", "-y", "24")},
	{"mcp", false, func(tb testing.TB) (*world, func(int)) {
		w := newWorld(tb)
		m := w.mcp()
		return w, func(n int) {
			for range n {
				m.tool("terminal_run", map[string]any{"program": "sh", "wait_for": "text", "value": "$"})
			}
		}
	}},
}

func tmuxCrowd(command ...string) func(testing.TB) (*world, func(int)) {
	return func(tb testing.TB) (*world, func(int)) {
		needTmux(tb)
		w := newWorld(tb)
		w.tmuxServer("exec sh")
		w.output("tmux", "-S", w.path("tmux"), "resize-window", "-x", "80", "-y", "24")
		return w, func(n int) {
			for range n {
				w.output("tmux", append(append([]string{"-S", w.path("tmux")}, command...), "exec sh")...)
			}
		}
	}
}

// BenchmarkIdle states what terminals cost in which nothing happens: the memory of all processes but the shells for each,
// and for all of them the processor time and the wake-ups.
func BenchmarkIdle(b *testing.B) {
	least := math.Inf(1) // of tmux
	for _, c := range crowds {
		b.Run(c.name, func(b *testing.B) {
			w, open := c.make(b)
			open(1)
			before := w.resident(b)
			open(shells)
			time.Sleep(settling)
			each := float64(w.resident(b)-before) / shells / 1024
			var used time.Duration
			var wakes int
			for b.Loop() {
				cpu, woken := w.cpu(b), w.wakes(b)
				time.Sleep(watchFor)
				used, wakes = used+w.cpu(b)-cpu, wakes+w.wakes(b)-woken
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(each, "KiB/shell")
			b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-µs/10s")
			b.ReportMetric(float64(wakes)/float64(b.N), "wakes/10s")
			if c.tmux {
				least = min(least, each)
			} else if !math.IsInf(least, 1) {
				b.ReportMetric(each/least, "x-tmux")
			}
		})
	}
}

// BenchmarkNobodyLooks states what a session costs whose page is open, with nobody on it, while nothing happens. The proxy, which is
// the gateway, has no wake-ups; gateway open looks at the clock every 10 s, since a timer does not count while the computer sleeps.
func BenchmarkNobodyLooks(b *testing.B) {
	p := ofUser(b)
	mine := slices.Clone(p.pids)
	_, out := p.talks(binary("gateway"), "open")
	_, err := out.ReadString('\n')
	require.NoError(b, err)
	both := p.pids
	time.Sleep(settling)
	var own, all int
	for b.Loop() {
		before := p.wakes(b)
		p.pids = mine
		woken := p.wakes(b)
		time.Sleep(watchFor)
		own += p.wakes(b) - woken
		p.pids = both
		all += p.wakes(b) - before
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(own)/float64(b.N), "proxy-wakes/10s")
	b.ReportMetric(float64(all-own)/float64(b.N), "open-wakes/10s")
}

// TestAnIdleShellIsCounted keeps the benchmark honest: it counts the processes that serve, and not the shells.
func TestAnIdleShellIsCounted(t *testing.T) {
	for _, c := range crowds {
		t.Run(c.name, func(t *testing.T) {
			w, open := c.make(t)
			open(2)
			require.NotEmpty(t, w.family(t))
			require.Greater(t, w.resident(t), 1<<20)
			require.Positive(t, w.cpu(t))
			running := 0
			for _, pid := range w.family(t) {
				require.NotEqual(t, "sh", name(pid), strconv.Itoa(pid))
				running++
			}
			require.LessOrEqual(t, running, 3, "the server, and what it keeps beside itself")
		})
	}
}
