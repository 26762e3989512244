// Package metrics holds the counts of a gatekey for its operators, and writes them in the text
// format 0.0.4 of Prometheus. Packages that count make a [Family]; [Requests] counts HTTP requests.
package metrics

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Family is a metric of the gatekey.
type Family struct {
	// Name lacks the product's prefix; that of a counter ends in _total.
	Name, Help string
	Value      float64 // of a family without a label
	// Label is the label whose values are the keys of Values.
	Label  string
	Values map[string]float64
}

// Single returns a family of one value.
func Single[N int | uint64](name, help string, n N) Family {
	return Family{Name: name, Help: help, Value: float64(n)}
}

// Labelled returns a family with a value for each word of a label.
func Labelled[N int | uint64](name, help, label string, counts map[string]N) Family {
	values := make(map[string]float64, len(counts))
	for word, n := range counts {
		values[word] = float64(n)
	}
	return Family{Name: name, Help: help, Label: label, Values: values}
}

// seconds are the upper bounds of the histogram: from an instant answer to the longest wait.
var seconds = []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600}

// requestKey is a method and a path; answerKey adds the status of the answer.
type requestKey struct {
	method, path string
}

type answerKey struct {
	requestKey
	status int
}

func (t requestKey) compareTo(o requestKey) int {
	return cmp.Or(strings.Compare(t.path, o.path), strings.Compare(t.method, o.method))
}

type histogram struct {
	buckets []uint64 // by seconds, and one for longer times
	sum     float64
	count   uint64
}

// Requests counts HTTP requests. Its size is bounded: paths are those of the routes. All methods
// may be called from any goroutine.
type Requests struct {
	began time.Time

	mu       sync.Mutex
	requests map[answerKey]uint64
	times    map[requestKey]*histogram
}

// NewRequests returns the counts of a process that starts now.
func NewRequests() *Requests {
	return &Requests{
		began:    time.Now(),
		requests: make(map[answerKey]uint64),
		times:    make(map[requestKey]*histogram),
	}
}

// RecordRequest counts an answer that took d.
func (b *Requests) RecordRequest(method, path string, status int, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := requestKey{method, path}
	b.requests[answerKey{key, status}]++
	h := b.times[key]
	if h == nil {
		h = &histogram{buckets: make([]uint64, len(seconds)+1)}
		b.times[key] = h
	}
	at, _ := slices.BinarySearch(seconds, d.Seconds())
	h.buckets[at]++
	h.sum += d.Seconds()
	h.count++
}

// Write writes the families, the counted requests, and the metrics of this process.
func (b *Requests) Write(out *bytes.Buffer, families []Family, version string) {
	for _, f := range families {
		f.write(out)
	}
	b.writeRequests(out)
	writeProcess(out, b.began)
	writeFamily(out, "terminalproxy_build_info", "gauge", "The product's version, as a label.")
	fmt.Fprintf(out, "terminalproxy_build_info{version=%q} 1\n", version)
}

func writeFamily(b *bytes.Buffer, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func writeGauge(b *bytes.Buffer, name, help string, value float64) {
	writeFamily(b, name, "gauge", help)
	fmt.Fprintf(b, "%s %s\n", name, formatFloat(value))
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func (f Family) write(b *bytes.Buffer) {
	name, kind := "terminalproxy_"+f.Name, "gauge"
	if strings.HasSuffix(name, "_total") {
		kind = "counter"
	}
	writeFamily(b, name, kind, f.Help)
	if f.Label == "" {
		fmt.Fprintf(b, "%s %s\n", name, formatFloat(f.Value))
	}
	for _, word := range slices.Sorted(maps.Keys(f.Values)) {
		fmt.Fprintf(b, "%s{%s=%q} %s\n", name, f.Label, word, formatFloat(f.Values[word]))
	}
}

func (b *Requests) writeRequests(out *bytes.Buffer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const requests = "terminalproxy_http_requests_total"
	writeFamily(out, requests, "counter", "Requests answered, by path and status.")
	keys := slices.Collect(maps.Keys(b.requests))
	sort.Slice(keys, func(i, k int) bool {
		return cmp.Or(keys[i].compareTo(keys[k].requestKey), keys[i].status-keys[k].status) < 0
	})
	for _, k := range keys {
		fmt.Fprintf(out, "%s{method=%q,path=%q,status=\"%d\"} %d\n",
			requests, k.method, k.path, k.status, b.requests[k])
	}
	b.writeTimes(out)
}

func (b *Requests) writeTimes(out *bytes.Buffer) {
	const times = "terminalproxy_http_request_seconds"
	writeFamily(out, times, "histogram",
		"How long answers took, including the wait for a condition or for the user.")
	keys := slices.Collect(maps.Keys(b.times))
	sort.Slice(keys, func(i, k int) bool { return keys[i].compareTo(keys[k]) < 0 })
	for _, k := range keys {
		h, sum := b.times[k], uint64(0)
		labels := fmt.Sprintf("method=%q,path=%q", k.method, k.path)
		for i, n := range h.buckets {
			le := "+Inf"
			if i < len(seconds) {
				le = formatFloat(seconds[i])
			}
			sum += n
			fmt.Fprintf(out, "%s_bucket{%s,le=%q} %d\n", times, labels, le, sum)
		}
		fmt.Fprintf(out, "%s_sum{%s} %s\n%s_count{%s} %d\n",
			times, labels, formatFloat(h.sum), times, labels, h.count)
	}
}

// writeProcess writes the metrics of this process.
func writeProcess(b *bytes.Buffer, began time.Time) {
	// package runtime/metrics would fill tables at start, in every proxy
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	writeGauge(b, "go_goroutines", "Goroutines that exist.", float64(runtime.NumGoroutine()))
	writeGauge(b, "go_memstats_heap_alloc_bytes", "Bytes of heap objects.", float64(memory.HeapAlloc))
	// Linux has this directory; elsewhere the family is absent, as it is from Prometheus's own
	// clients. The directory itself is one of the files.
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		writeGauge(b, "process_open_fds", "Open file descriptors.", float64(len(open)-1))
	}
	writeGauge(b, "process_start_time_seconds",
		"When the gatekey began, in Unix seconds.", float64(began.UnixMilli())/1000)
}
