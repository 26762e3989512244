package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// figures holds the output of benchmarks.
type figures struct {
	cpu    string
	values map[string]map[string]float64 // by the benchmark's name and the metric
}

// parseFigures reads the output of go test -bench.
func parseFigures(out string) figures {
	f := figures{cpu: "unknown", values: make(map[string]map[string]float64)}
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
		if f.values[name] == nil {
			f.values[name] = make(map[string]float64)
		}
		for pair := range slices.Chunk(words[2:], 2) {
			if n, err := strconv.ParseFloat(pair[0], 64); err == nil && len(pair) == 2 {
				f.values[name][pair[1]] = n
			}
		}
	}
	return f
}

// figure is one measurement. The table shows its name.
type figure struct{ name, bench, metric string }

// row is a line of the table: the figure of this project, a baseline, and other programs if they
// are installed.
type row struct {
	goal, label, unit string
	scale             float64 // from the benchmark's unit to the table's; 0 means 1
	measured, base    figure
	others            []figure
}

// laneFigures makes the figures of a benchmark that measures lanes side by side.
func laneFigures(bench, unit string, names ...string) (all []figure) {
	for _, n := range names {
		all = append(all, figure{n, bench, n + "-" + unit})
	}
	return all
}

// laneRow compares one of our lanes with a plain copy between two terminals, script and tmux.
func laneRow(lane, label, unit string, scale float64, bench, metric string) row {
	f := laneFigures(bench, metric, lane, "copy", "script", "tmux")
	f[1].name = "plain copy"
	return row{
		label: label, unit: unit, scale: scale,
		measured: f[0], base: f[1], others: f[2:],
	}
}

func throughputRow(lane, label, bench string) row {
	return laneRow(lane, label, "MiB/s", 0, bench, "MiB/s")
}

func processorRow(lane, label, bench string) row {
	return laneRow(lane, label, "ms", 0, bench, "cpu-ms/MiB")
}

// startRow compares a start and end with script, tmux and the program alone.
func startRow(lane, label, bench string) row {
	f := laneFigures(bench, "ms", lane, "script", "tmux", "bare")
	f[3].name = "alone"
	return row{label: label, unit: "ms", measured: f[0], base: f[1], others: f[2:]}
}

// lookRow compares an agent's look at a screen with a round trip on the same transport.
func lookRow(label, bench string) row {
	return row{
		label: label, unit: "ms", scale: 1e-3,
		measured: figure{"", bench, "p50-µs"},
		base:     figure{"bare transport", bench, "transport-µs"},
		others:   []figure{{"tmux -C", bench, "x-control"}, {"capture-pane", bench, "x-capture"}},
	}
}

// observeRow compares the way of output to an observer with tmux's control mode. Its unit is ms.
func observeRow(label, bench, metric string) row {
	r := row{
		label: label, unit: "ms", scale: 1e-3,
		measured: figure{"", bench, metric},
		base:     figure{"tmux -C", bench, "control-" + metric},
	}
	if metric == "p50-µs" {
		r.others = []figure{{"capture-pane", bench, "x-capture"}}
	}
	return r
}

// ownRow has no other program beside it.
func ownRow(label, unit, bench, metric string) row {
	return row{label: label, unit: unit, measured: figure{"", bench, metric}}
}

func viewerRow(label, unit, metric string) row {
	r := ownRow(label, unit, "Viewers/1000", metric)
	r.base = figure{"bare WebSockets", "Viewers/bare-1000", metric}
	return r
}

func subscriberRow(label, unit, metric string) row {
	r := ownRow(label, unit, "Subscribers", metric)
	r.base = figure{"bare WebSockets", "Subscribers", "bare-" + metric}
	return r
}

// taskRow compares the twelve tasks, done by way of our tools, with tmux.
func taskRow(label, unit string, scale float64, way, metric string) row {
	r := ownRow(label, unit, "Task/all/"+way, metric)
	r.scale, r.base = scale, figure{"tmux capture-pane", "Task/all/tmux", metric}
	return r
}

// table is what make bench prints.
var table = slices.Concat(
	goalRows("the terminal stays as fast as it was",
		throughputRow("proxy", "text, `proxy`", "Output/text"),
		throughputRow("agent", "text, `proxy --agent`", "Output/text"),
		throughputRow("agent", "colours, `proxy --agent`", "Output/colours"),
		throughputRow("agent", "Unicode, `proxy --agent`", "Output/unicode"),
		throughputRow("agent", "cursor motion, `proxy --agent`", "Output/cursor"),
		laneRow("agent", "a key's echo, `proxy --agent`", "ms", 1e-3, "Key", "p50-µs"),
		laneRow("agent", "the same, p99", "ms", 1e-3, "Key", "p99-µs"),
		startRow("proxy", "start and end, `proxy`", "Start"),
		startRow("agent", "start and end, `proxy --agent`", "Start"),
	),
	goalRows("and beside two busy loops, `proxy --agent`",
		throughputRow("agent", "text", "Busy/Output/text"),
		throughputRow("agent", "colours", "Busy/Output/colours"),
		laneRow("agent", "a key's echo", "ms", 1e-3, "Busy/Key", "p50-µs"),
		laneRow("agent", "the same, p99", "ms", 1e-3, "Busy/Key", "p99-µs"),
		startRow("agent", "start and end", "Busy/Start"),
		processorRow("agent", "CPU for a MiB of text", "Busy/Output/text"),
		processorRow("agent", "CPU for a MiB of colours", "Busy/Output/colours"),
	),
	goalRows("it takes little of the machine",
		processorRow("proxy", "CPU for a MiB of text, `proxy`", "Output/text"),
		processorRow("agent", "CPU for a MiB of text, `proxy --agent`", "Output/text"),
		processorRow("agent", "CPU for a MiB of colours, `proxy --agent`", "Output/colours"),
		laneRow("agent", "CPU for a key, `proxy --agent`", "ms", 1e-3, "Key", "cpu-µs"),
		ownRow("wake-ups in 10 s while nothing happens", "", "NobodyLooks", "proxy-wakes/10s"),
		ownRow("work of the costliest byte of any sequence", "cells", "Work", "cells/byte"),
	),
	goalRows("an agent sees at once",
		lookRow("a look, WebSocket", "Read/websocket-unix"),
		lookRow("a look, MCP", "Read/mcp-stdio"),
		observeRow("a line printed, at a wait", "Observe/user/wait", "p50-µs"),
		observeRow("a line printed, at a wait by MCP", "Observe/user/mcp-wait", "p50-µs"),
		observeRow("a line printed, at a subscriber", "Observe/user/subscription", "p50-µs"),
		observeRow("CPU of all for that", "Observe/user/subscription", "cpu-µs"),
	),
	goalRows("many may look",
		viewerRow("1,000 viewers of a line, p99", "ms", "p99-ms"),
		viewerRow("CPU for a viewer's message", "µs", "cpu-µs/message"),
		ownRow("size of a line that scrolled", "bytes", "Viewers/1000", "B/line"),
		subscriberRow("CPU for an update at one of 5,000 subscribers", "µs", "cpu-µs/update"),
		subscriberRow("memory of each", "KiB", "KiB/subscriber"),
	),
	goalRows("a model reads little",
		taskRow("tasks done, of twelve", "", 0, "steps", "done"),
		taskRow("read in the same ones", "KB", 1e-3, "steps", "read-B"),
		taskRow("calls in them", "", 0, "steps", "calls"),
		taskRow("read, a step a call", "KB", 1e-3, "tools", "read-B"),
		taskRow("calls, a step a call", "", 0, "tools", "calls"),
	),
)

func goalRows(goal string, rows ...row) []row {
	for i := range rows {
		rows[i].goal = goal
	}
	return rows
}

const legend = `A ratio is our figure divided by the other one. For MiB/s more is better; for everything else, less. The figures are medians of one
run in which all candidates take turns. Times hold on an idle machine; ratios hold on any.`

func (f figures) valueOf(g figure) (n float64, ok bool) {
	n, ok = f.values[g.bench][g.metric]
	return n, ok
}

// missingRows returns the labels of the rows that lack our figure.
func (f figures) missingRows(rows []row) (labels []string) {
	for _, r := range rows {
		if _, ok := f.valueOf(r.measured); !ok {
			labels = append(labels, r.label)
		}
	}
	return labels
}

// formatTable returns the rows as a table in Markdown.
func (f figures) formatTable(rows []row) string {
	var b strings.Builder
	b.WriteString("| goal | measured | unit | ours | baseline | ratio | ratio to others |\n" +
		"|---|---|---|---|---|---|---|\n")
	last := ""
	for _, r := range rows {
		if _, ok := f.valueOf(r.measured); !ok {
			continue
		}
		goal := r.goal
		if goal == last {
			goal = ""
		}
		last = r.goal
		cells := strings.Join(f.rowCells(r), " | ")
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", goal, r.label, r.unit, cells)
	}
	return b.String()
}

// rowCells returns our figure, the baseline, the ratio to it and the ratios to others. A cell is
// empty if it was not measured.
func (f figures) rowCells(r row) []string {
	scale := r.scale
	if scale == 0 {
		scale = 1
	}
	value, _ := f.valueOf(r.measured)
	cells := []string{formatNumber(value * scale), "", "", ""}
	if base, ok := f.valueOf(r.base); ok {
		cells[1] = formatNumber(base*scale) + ", " + r.base.name
		cells[2] = f.formatRatio(r.measured, r.base)
	}
	var others []string
	for _, o := range r.others {
		n, ok := f.valueOf(o)
		switch {
		case !ok:
		case strings.HasPrefix(o.metric, "x-"): // it is the ratio
			others = append(others, o.name+" "+formatNumber(n))
		default:
			others = append(others, o.name+" "+f.formatRatio(r.measured, o))
		}
	}
	cells[3] = strings.Join(others, ", ")
	return cells
}

// formatRatio returns the ratio of two figures. It prefers the ratio that the benchmark reports,
// which compares each round, to the ratio of the two medians.
func (f figures) formatRatio(measured, other figure) string {
	lane, unit, _ := strings.Cut(measured.metric, "-")
	metric := lane + ":" + strings.TrimSuffix(other.metric, "-"+unit) + "-" + unit
	if n, ok := f.valueOf(figure{bench: measured.bench, metric: metric}); ok {
		return formatNumber(n)
	}
	a, _ := f.valueOf(measured)
	b, _ := f.valueOf(other)
	if b == 0 {
		return ""
	}
	return formatNumber(a / b)
}

// formatNumber rounds to two significant digits, but keeps all digits before the point.
func formatNumber(n float64) string {
	if n == 0 {
		return "0"
	}
	digits := max(0, 1-int(math.Floor(math.Log10(math.Abs(n)))))
	return strconv.FormatFloat(n, 'f', digits, 64)
}

const (
	tableBegin = "<!-- make bench-write -->\n"
	tableEnd   = "\n<!-- the end of it -->"
)

// replaceTable replaces the text between the two marks in a document.
func replaceTable(doc, content string) (string, error) {
	head, rest, ok := strings.Cut(doc, tableBegin)
	_, tail, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		return "", errors.New("it has no place for the table: " +
			strings.TrimSpace(tableBegin) + " and " + strings.TrimSpace(tableEnd))
	}
	return head + tableBegin + content + tableEnd + tail, nil
}
