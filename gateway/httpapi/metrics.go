package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Family is a metric of the gateway.
type Family struct {
	// Name lacks the product's prefix; that of a counter ends in _total.
	Name, Help string
	// Label tells Values apart; a family without a label has one value, under "".
	Label  string
	Values map[string]float64
}

// seconds are the upper bounds of the histogram: from an instant answer to the longest wait.
var seconds = []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600}

// requestKey is a method and a path, and answerKey that with the status of the answer.
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

// metricsBook counts requests. Its size is bounded: paths are those of the routes.
type metricsBook struct {
	began time.Time

	mu       sync.Mutex
	requests map[answerKey]uint64
	times    map[requestKey]*histogram
}

func newMetrics() *metricsBook {
	return &metricsBook{
		began:    time.Now(),
		requests: make(map[answerKey]uint64),
		times:    make(map[requestKey]*histogram),
	}
}

func (b *metricsBook) recordRequest(method, path string, status int, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	way := requestKey{method, path}
	b.requests[answerKey{way, status}]++
	h := b.times[way]
	if h == nil {
		h = &histogram{buckets: make([]uint64, len(seconds)+1)}
		b.times[way] = h
	}
	at, _ := slices.BinarySearch(seconds, d.Seconds())
	h.buckets[at]++
	h.sum += d.Seconds()
	h.count++
}

// writeMetrics answers in the text format 0.0.4 of Prometheus.
func (a *API) writeMetrics(_ Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	if q := parseQuery(r); q.err != nil {
		return nil, q.err
	}
	var b bytes.Buffer
	for _, f := range a.cfg.Stats() {
		f.write(&b)
	}
	a.metrics.write(&b)
	writeProcess(&b, a.metrics.began)
	writeFamily(&b, "terminalproxy_build_info", "gauge", "The product's version, as a label.")
	fmt.Fprintf(&b, "terminalproxy_build_info{version=%q} 1\n", a.cfg.Version)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
	return nil, nil
}

func writeFamily(b *bytes.Buffer, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func writeGauge(b *bytes.Buffer, name, kind, help string, value float64) {
	writeFamily(b, name, kind, help)
	fmt.Fprintf(b, "%s %s\n", name, formatFloat(value))
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func (f Family) write(b *bytes.Buffer) {
	name, kind := "terminalproxy_"+f.Name, "gauge"
	if strings.HasSuffix(name, "_total") {
		kind = "counter"
	}
	writeFamily(b, name, kind, f.Help)
	for _, word := range slices.Sorted(maps.Keys(f.Values)) {
		label := ""
		if f.Label != "" {
			label = fmt.Sprintf("{%s=%q}", f.Label, word)
		}
		fmt.Fprintf(b, "%s%s %s\n", name, label, formatFloat(f.Values[word]))
	}
}

func (b *metricsBook) write(out *bytes.Buffer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const requests = "terminalproxy_http_requests_total"
	writeFamily(out, requests, "counter", "Requests answered, by path and status.")
	compare := func(a, c answerKey) int {
		return cmp.Or(a.compareTo(c.requestKey), a.status-c.status)
	}
	for _, k := range slices.SortedFunc(maps.Keys(b.requests), compare) {
		fmt.Fprintf(out, "%s{method=%q,path=%q,status=\"%d\"} %d\n",
			requests, k.method, k.path, k.status, b.requests[k])
	}
	b.writeTimes(out)
}

func (b *metricsBook) writeTimes(out *bytes.Buffer) {
	const times = "terminalproxy_http_request_seconds"
	writeFamily(
		out,
		times,
		"histogram",
		"How long answers took, waiting for facts and for the user included.",
	)
	for _, k := range slices.SortedFunc(maps.Keys(b.times), requestKey.compareTo) {
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
	// package runtime/metrics fills tables at start, at the cost of every proxy
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	writeGauge(b, "go_goroutines", "gauge", "Goroutines that exist.", float64(runtime.NumGoroutine()))
	writeGauge(b, "go_memstats_heap_alloc_bytes", "gauge", "Bytes of heap objects.", float64(memory.HeapAlloc))
	// Linux has this directory; elsewhere the family is absent, as it is from Prometheus's own clients.
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		writeGauge(b, "process_open_fds", "gauge", "Open file descriptors.", float64(len(open)-1)) // without the directory's
	}
	writeGauge(b, "process_start_time_seconds", "gauge", "When the gateway began, in Unix seconds.", float64(began.UnixMilli())/1000)
}
