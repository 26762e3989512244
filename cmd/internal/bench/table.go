package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// figures are what benchmarks reported, by the benchmark's name and the unit.
type figures struct {
	cpu string
	of  map[string]map[string]float64
}

// parse reads the output of go test -bench.
func parse(out string) figures {
	f := figures{cpu: "unknown", of: make(map[string]map[string]float64)}
	for line := range strings.Lines(out) {
		if cpu, ok := strings.CutPrefix(line, "cpu: "); ok {
			f.cpu = strings.TrimSpace(cpu)
		}
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		if at := strings.LastIndexByte(name, '-'); at > 0 { // the number of processors
			name = name[:at]
		}
		if f.of[name] == nil {
			f.of[name] = make(map[string]float64)
		}
		for pair := range slices.Chunk(words[2:], 2) {
			if n, err := strconv.ParseFloat(pair[0], 64); err == nil && len(pair) == 2 {
				f.of[name][pair[1]] = n
			}
		}
	}
	return f
}

// figure is one measurement, named as its reader knows it.
type figure struct{ name, bench, metric string }

// row is a line of the table: what we measured beside a baseline, and beside others where they are installed.
type row struct {
	goal, what, unit string
	scale            float64 // from the benchmark's unit to that of the table; 0 is 1
	ours, base       figure
	others           []figure
	brief            bool // it stands in the README, too
}

// wrappers makes the figures of a benchmark that measures lanes side by side.
func wrappers(bench, unit string, names ...string) (all []figure) {
	for _, n := range names {
		all = append(all, figure{n, bench, n + "-" + unit})
	}
	return all
}

// lane is a row about one of our lanes beside a plain copy from one terminal to another, script and tmux.
func lane(ours, what, unit string, scale float64, bench, metric string, brief bool) row {
	f := wrappers(bench, metric, ours, "copy", "script", "tmux")
	f[1].name = "plain copy"
	return row{what: what, unit: unit, scale: scale, ours: f[0], base: f[1], others: f[2:], brief: brief}
}

// started is a row about a start and end, beside script, tmux and the program alone.
func started(ours, what string, brief bool) row {
	f := wrappers("Start", "ms", ours, "script", "tmux", "bare")
	f[3].name = "alone"
	return row{what: what, unit: "ms", ours: f[0], base: f[1], others: f[2:], brief: brief}
}

// look is a row about a screen in an agent's hands, beside a message there and back on the same transport.
func look(what, bench string, brief bool) row {
	return row{
		what: what, unit: "ms", scale: 1e-3, brief: brief, ours: figure{"", bench, "p50-µs"}, base: figure{"bare transport", bench, "transport-µs"},
		others: []figure{{"tmux -C", bench, "x-control"}, {"capture-pane", bench, "x-capture"}},
	}
}

// seen is a row about what is printed in an observer's hands, beside tmux's control mode.
func seen(what, bench, ours, unit string, scale float64, brief bool) row {
	r := row{what: what, unit: unit, scale: scale, brief: brief, ours: figure{"", bench, ours}, base: figure{"tmux -C", bench, "control-" + ours}}
	if ours == "p50-µs" {
		r.others = []figure{{"capture-pane", bench, "x-capture"}}
	}
	return r
}

// table is what make bench prints.
var table = slices.Concat(
	goal("the terminal stays as fast as it was",
		lane("proxy", "text, `proxy`", "MiB/s", 0, "Output/text", "MiB/s", false),
		lane("agent", "text, `proxy --agent`", "MiB/s", 0, "Output/text", "MiB/s", true),
		lane("agent", "colours, `proxy --agent`", "MiB/s", 0, "Output/colours", "MiB/s", true),
		lane("agent", "Unicode, `proxy --agent`", "MiB/s", 0, "Output/unicode", "MiB/s", false),
		lane("agent", "cursor motion, `proxy --agent`", "MiB/s", 0, "Output/cursor", "MiB/s", false),
		lane("agent", "a key's echo, `proxy --agent`", "ms", 1e-3, "Key", "p50-µs", true),
		started("proxy", "start and end, `proxy`", false),
		started("agent", "start and end, `proxy --agent`", true),
	),
	goal("it takes little of the machine",
		lane("proxy", "CPU for a MiB of text, `proxy`", "ms", 0, "Output/text", "cpu-ms/MiB", false),
		lane("agent", "CPU for a MiB of text, `proxy --agent`", "ms", 0, "Output/text", "cpu-ms/MiB", false),
		lane("agent", "CPU for a MiB of colours, `proxy --agent`", "ms", 0, "Output/colours", "cpu-ms/MiB", false),
		lane("agent", "CPU for a key, `proxy --agent`", "ms", 1e-3, "Key", "cpu-µs", false),
		row{what: "wake-ups in 10 s while nothing happens", ours: figure{"", "NobodyLooks", "proxy-wakes/10s"}},
	),
	goal("an agent sees at once",
		look("a look, WebSocket", "Read/websocket-unix", true),
		look("a look, MCP", "Read/mcp-stdio", false),
		seen("a line printed, at a wait", "Observe/user/wait", "p50-µs", "ms", 1e-3, true),
		seen("a line printed, at a wait by MCP", "Observe/user/mcp-wait", "p50-µs", "ms", 1e-3, false),
		seen("a line printed, at a subscriber", "Observe/user/subscription", "p50-µs", "ms", 1e-3, false),
		seen("CPU of all for that", "Observe/user/subscription", "cpu-µs", "ms", 1e-3, false),
	),
	goal("many may look",
		row{
			what: "1,000 viewers of a line, p99", unit: "ms", ours: figure{"", "Viewers/1000", "p99-ms"},
			base: figure{"bare WebSockets", "Viewers/bare-1000", "p99-ms"},
		},
		row{
			what: "CPU for a viewer's message", unit: "µs", brief: true, ours: figure{"", "Viewers/1000", "cpu-µs/message"},
			base: figure{"bare WebSockets", "Viewers/bare-1000", "cpu-µs/message"},
		},
		row{what: "size of a line that scrolled", unit: "bytes", ours: figure{"", "Viewers/1000", "B/line"}},
		row{
			what: "CPU for an update at one of 5,000 subscribers", unit: "µs", ours: figure{"", "Subscribers", "cpu-µs/update"},
			base: figure{"bare WebSockets", "Subscribers", "bare-cpu-µs/update"},
		},
		row{
			what: "memory of each", unit: "KiB", ours: figure{"", "Subscribers", "KiB/subscriber"},
			base: figure{"bare WebSockets", "Subscribers", "bare-KiB/subscriber"},
		},
	),
	goal("a model reads little",
		row{
			what: "read in five tasks", unit: "KB", scale: 1e-3, brief: true, ours: figure{"", "Task/all/tools", "read-B"},
			base: figure{"tmux capture-pane", "Task/all/tmux", "read-B"},
		},
		row{what: "calls in them", ours: figure{"", "Task/all/tools", "calls"}, base: figure{"tmux capture-pane", "Task/all/tmux", "calls"}},
	),
)

func goal(words string, rows ...row) []row {
	for i := range rows {
		rows[i].goal = words
	}
	return rows
}

// brief is the rows for the README.
func brief(rows []row) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !r.brief })
}

const legend = `Ratios are ours to the baseline, and to others in the last column: of MiB/s more is better, of everything else less. Medians, all in
turn in one run. Times hold on a machine where nothing else runs; ratios hold on any.`

func (f figures) get(g figure) (n float64, ok bool) {
	n, ok = f.of[g.bench][g.metric]
	return n, ok
}

// lost names the rows without a figure of ours.
func (f figures) lost(rows []row) (lost []string) {
	for _, r := range rows {
		if _, ok := f.get(r.ours); !ok {
			lost = append(lost, r.what)
		}
	}
	return lost
}

// markdown is the table.
func (f figures) markdown(rows []row) string {
	var b strings.Builder
	b.WriteString("| goal | measured | unit | ours | baseline | ratio | ratio to others |\n|---|---|---|---|---|---|---|\n")
	last := ""
	for _, r := range rows {
		if _, ok := f.get(r.ours); !ok {
			continue
		}
		said := r.goal
		if said == last {
			said = ""
		}
		last = r.goal
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", said, r.what, r.unit, strings.Join(f.cells(r), " | "))
	}
	return b.String()
}

// cells are ours, the baseline, the ratio to it and those to others; what was not measured is empty.
func (f figures) cells(r row) []string {
	scale := r.scale
	if scale == 0 {
		scale = 1
	}
	ours, _ := f.get(r.ours)
	cells := []string{round(ours * scale), "", "", ""}
	if base, ok := f.get(r.base); ok {
		cells[1] = round(base*scale) + ", " + r.base.name
		cells[2] = f.ratio(r.ours, r.base)
	}
	var others []string
	for _, o := range r.others {
		n, ok := f.get(o)
		switch {
		case !ok:
		case strings.HasPrefix(o.metric, "x-"): // it is the ratio
			others = append(others, o.name+" "+round(n))
		default:
			others = append(others, o.name+" "+f.ratio(r.ours, o))
		}
	}
	cells[3] = strings.Join(others, ", ")
	return cells
}

// ratio is that of two figures: as the benchmark has it, which knows each round, or of the two medians.
func (f figures) ratio(ours, other figure) string {
	lane, unit, _ := strings.Cut(ours.metric, "-")
	if n, ok := f.get(figure{bench: ours.bench, metric: lane + ":" + strings.TrimSuffix(other.metric, "-"+unit) + "-" + unit}); ok {
		return round(n)
	}
	a, _ := f.get(ours)
	b, _ := f.get(other)
	if b == 0 {
		return ""
	}
	return round(a / b)
}

// round gives two digits that count, and the whole number where there are more before the point.
func round(n float64) string {
	if n == 0 {
		return "0"
	}
	digits := max(0, 1-int(math.Floor(math.Log10(math.Abs(n)))))
	return strconv.FormatFloat(n, 'f', digits, 64)
}

const (
	begins = "<!-- make bench-write -->\n"
	ends   = "\n<!-- the end of it -->"
)

// replace puts words between the two comments in a document.
func replace(doc, words string) (string, error) {
	head, rest, ok := strings.Cut(doc, begins)
	_, tail, closed := strings.Cut(rest, ends)
	if !ok || !closed {
		return "", errors.New("it has no place for the table: " + strings.TrimSpace(begins) + " and " + strings.TrimSpace(ends))
	}
	return head + begins + words + ends + tail, nil
}
