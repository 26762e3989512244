package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Family is a metric of the gateway.
type Family struct {
	// Name is without the product's; that of a counter ends in _total.
	Name, Help string
	// Label names what Values are told apart by; without one there is one value, of "".
	Label  string
	Values map[string]float64
}

// seconds are the upper bounds of the histogram: from what costs nothing to the longest wait.
var seconds = []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600}

// took is a way to ask, and asked that with what came of it.
type took struct {
	method, path string
}

type asked struct {
	took
	status int
}

func (t took) compare(o took) int {
	return cmp.Or(strings.Compare(t.path, o.path), strings.Compare(t.method, o.method))
}

type histogram struct {
	buckets []uint64 // by seconds, and one more for what is longer
	sum     float64
	count   uint64
}

// metricsBook counts requests. Its size is bounded: paths are those of the routes.
type metricsBook struct {
	began time.Time

	mu       sync.Mutex
	requests map[asked]uint64
	times    map[took]*histogram
}

func newMetrics() *metricsBook {
	return &metricsBook{began: time.Now(), requests: make(map[asked]uint64), times: make(map[took]*histogram)}
}

func (b *metricsBook) observe(method, path string, status int, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	way := took{method, path}
	b.requests[asked{way, status}]++
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

// scrape answers in the text format 0.0.4 of Prometheus.
func (a *API) scrape(_ Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	if q := query(r); q.err != nil {
		return nil, q.err
	}
	var b bytes.Buffer
	for _, f := range a.cfg.Stats() {
		f.write(&b)
	}
	a.metrics.write(&b)
	process(&b, a.metrics.began)
	family(&b, "terminalproxy_build_info", "gauge", "The product's version, as a label.")
	fmt.Fprintf(&b, "terminalproxy_build_info{version=%q} 1\n", a.cfg.Version)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
	return nil, nil
}

func family(b *bytes.Buffer, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func single(b *bytes.Buffer, name, kind, help string, value float64) {
	family(b, name, kind, help)
	fmt.Fprintf(b, "%s %s\n", name, float(value))
}

func float(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func (f Family) write(b *bytes.Buffer) {
	name, kind := "terminalproxy_"+f.Name, "gauge"
	if strings.HasSuffix(name, "_total") {
		kind = "counter"
	}
	family(b, name, kind, f.Help)
	for _, word := range slices.Sorted(maps.Keys(f.Values)) {
		label := ""
		if f.Label != "" {
			label = fmt.Sprintf("{%s=%q}", f.Label, word)
		}
		fmt.Fprintf(b, "%s%s %s\n", name, label, float(f.Values[word]))
	}
}

func (b *metricsBook) write(out *bytes.Buffer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const requests = "terminalproxy_http_requests_total"
	family(out, requests, "counter", "Requests answered, by path and status.")
	for _, k := range slices.SortedFunc(maps.Keys(b.requests), func(a, c asked) int { return cmp.Or(a.compare(c.took), a.status-c.status) }) {
		fmt.Fprintf(out, "%s{method=%q,path=%q,status=\"%d\"} %d\n", requests, k.method, k.path, k.status, b.requests[k])
	}
	b.writeTimes(out)
}

func (b *metricsBook) writeTimes(out *bytes.Buffer) {
	const times = "terminalproxy_http_request_seconds"
	family(out, times, "histogram", "How long answers took, waiting for facts and for the user included.")
	for _, k := range slices.SortedFunc(maps.Keys(b.times), took.compare) {
		h, sum := b.times[k], uint64(0)
		labels := fmt.Sprintf("method=%q,path=%q", k.method, k.path)
		for i, n := range h.buckets {
			le := "+Inf"
			if i < len(seconds) {
				le = float(seconds[i])
			}
			sum += n
			fmt.Fprintf(out, "%s_bucket{%s,le=%q} %d\n", times, labels, le, sum)
		}
		fmt.Fprintf(out, "%s_sum{%s} %s\n%s_count{%s} %d\n", times, labels, float(h.sum), times, labels, h.count)
	}
}

// process writes what is known of this process.
func process(b *bytes.Buffer, began time.Time) {
	var memory runtime.MemStats // package runtime/metrics makes its tables when the process starts, which every proxy would pay for
	runtime.ReadMemStats(&memory)
	single(b, "go_goroutines", "gauge", "Goroutines that exist.", float64(runtime.NumGoroutine()))
	single(b, "go_memstats_heap_alloc_bytes", "gauge", "Bytes of heap objects.", float64(memory.HeapAlloc))
	single(b, "process_start_time_seconds", "gauge", "When the gateway began, in Unix seconds.", float64(began.UnixMilli())/1000)
}
