//go:build linux

package built_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lane is one way to look, with its measurements.
type lane struct {
	took []time.Duration
	cpu  time.Duration // of processes that were started to look
	at   *world        // whose processes answer
	base time.Duration // their processor time before
}

// begin forgets the measurements.
func (l *lane) begin(tb testing.TB) {
	l.took, l.cpu = nil, 0
	l.base = l.at.cpu(tb)
}

// counted measures what processes that do starts and waits for spend.
func (l *lane) counted(do func()) {
	before := spent()
	do()
	l.cpu += spent() - before
}

// each is the processor time for one look.
func (l *lane) each(tb testing.TB) time.Duration {
	return (l.cpu + l.at.cpu(tb) - l.base) / time.Duration(max(1, len(l.took)))
}

// quantile is the smallest measurement that q of them do not exceed (nearest rank).
func (l *lane) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(l.took))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

func times(a, b time.Duration) float64 { return float64(a) / float64(b) }

// spent is the processor time of the processes that this one waited for.
func spent() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// programs are the processes that are looked at: what they spend is not counted.
var programs = map[string]bool{"marker": true, "flood": true, "echo-keys": true, "sh": true}

// family is the processes that a world counts: those it started and their descendants, without the programs.
func (w *world) family(tb testing.TB) []int {
	tb.Helper()
	parents := make(map[int]int)
	names := make(map[int]string)
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(tb, err)
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		head, tail, _ := strings.Cut(string(stat), ") ")
		word, name, _ := strings.Cut(head, " (")
		pid, _ := strconv.Atoi(word)
		parents[pid], _ = strconv.Atoi(strings.Fields(tail)[1])
		names[pid] = name
	}
	var found []int
	for pid, name := range names {
		for up := pid; up > 1 && !programs[name]; up = parents[up] {
			if slices.Contains(w.pids, up) {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// cpu is the processor time of a world's processes.
func (w *world) cpu(tb testing.TB) (total time.Duration) {
	tb.Helper()
	for _, pid := range w.family(tb) {
		total += processor(pid)
	}
	return total
}

// processor is the processor time of one process.
func processor(pid int) (total time.Duration) {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	for _, task := range tasks {
		stat, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		first, _, _ := bytes.Cut(stat, []byte(" "))
		n, _ := strconv.ParseInt(string(first), 10, 64)
		total += time.Duration(n)
	}
	return total
}

// wakes counts how often a world's processes were woken: a thread that gives up the processor by itself comes back by a
// wake-up.
func (w *world) wakes(tb testing.TB) (total int) {
	tb.Helper()
	for _, pid := range w.family(tb) {
		tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/status")
		for _, task := range tasks {
			total += field(task, "voluntary_ctxt_switches:")
		}
	}
	return total
}

// field is a number in a file of "Name: value" lines, 0 when the process has ended.
func field(path, name string) int {
	data, _ := os.ReadFile(path)
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}
