// Command bench measures what the project promises about speed, each figure beside a baseline of
// the same run, and prints one table. With -write it also puts the table into docs/performance.md.
//
//	go run ./cmd/internal/dev/bench [-raw FILE] [-write]
//
// It runs in the module's directory. FILE gets the output of the benchmarks.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// tablePage holds the table, between tableBegin and tableEnd.
const tablePage = "docs/performance.md"

// The packages with benchmarks.
const (
	builtPackage  = "./cmd/internal/dev/bench/built"
	tokensPackage = "./cmd/internal/dev/bench/tokens"
	screenPackage = "./proxy/terminal/screen"
)

// onPath are the benchmarks of the user's path.
const onPath = "^Benchmark(Output|Key|Start)$"

// runs are the benchmarks of the table; bench and benchtime are flags (go help testflag).
var runs = []struct{ label, pkg, bench, benchtime string }{
	{"output, keys and starts, beside other wrappers", builtPackage, onPath, "1x"},
	{
		"a look at the screen",
		builtPackage, "^BenchmarkRead$/^(websocket-unix|mcp-stdio)$", "300x",
	},
	{
		"a wait and a subscriber",
		builtPackage, "^BenchmarkObserve$/^user$/^(subscription|wait|mcp-wait)$", "1x",
	},
	{"the costliest byte of any sequence", screenPackage, "^BenchmarkWork$", "1x"},
	{"nobody looks", builtPackage, "^BenchmarkNobodyLooks$", "1x"},
	{"many viewers", builtPackage, "^BenchmarkViewers$/^(bare-)?1000$", "1x"},
	{"many subscribers", "./gateway", "^BenchmarkSubscribers$", "1x"},
	{
		"tasks of an agent",
		tokensPackage, "^BenchmarkTask$/^.*$/^(tools|steps|tmux)$", "1x",
	},
	{busyLabel, builtPackage, onPath, "1x"},
}

const (
	// busyLabel is the label of the run beside busy loops. The names of its figures begin with
	// "Busy/".
	busyLabel = "the first ones, beside two busy loops"
	// besideLoops is a script that runs its arguments beside them.
	besideLoops = `trap 'kill $(jobs -p)' EXIT; for n in 1 2; do while :; do :; done & done; "$@"`
)

func main() {
	raw := flag.String("raw", "bin/bench.txt", "`file` for what the benchmarks print")
	write := flag.Bool("write", false, "put the table into docs/performance.md")
	flag.Parse()
	if err := run(*raw, *write); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(raw string, write bool) error {
	began, load := time.Now(), loadAverage()
	//nolint:gosec // bin, as the build makes it
	if err := os.MkdirAll(filepath.Dir(raw), 0o755); err != nil {
		return err
	}
	file, err := os.Create(raw) //nolint:gosec // the caller's choice
	if err != nil {
		return err
	}
	defer file.Close()
	var out bytes.Buffer
	for _, r := range runs {
		fmt.Fprintf(os.Stderr, "bench: %s ...\n", r.label)
		part, err := runBenchmarks(r.pkg, r.bench, r.benchtime, r.label == busyLabel)
		_, writeErr := io.MultiWriter(file, &out).Write(part)
		if err := errors.Join(err, writeErr); err != nil {
			return fmt.Errorf("%s: %w; see %s", r.label, err, raw)
		}
	}
	got := parseFigures(out.String())
	conditions := fmt.Sprintf("%s, %d cores (%s), load %s at the start and %s at the end",
		began.Format("2 January 2006"), runtime.NumCPU(), got.cpu, load, loadAverage())
	fmt.Printf("%s\n%s\n\n%s; it took %s. All that was measured: %s\n",
		got.formatTable(table), legend, conditions, time.Since(began).Round(time.Second), raw)
	missing := got.missingRows(table)
	if len(missing) > 0 {
		fmt.Printf("Not measured, since something is not installed here: %s\n",
			strings.Join(missing, "; "))
	}
	switch {
	case !write:
		return nil
	case len(missing) > 0:
		return fmt.Errorf("%s stays as it is: its table has all rows", tablePage)
	}
	return writeTable(got, conditions)
}

// runBenchmarks returns what the benchmarks print, with "Busy/" before their names if they ran
// beside busy loops.
func runBenchmarks(pkg, bench, benchtime string, busy bool) ([]byte, error) {
	args := []string{"go", "test", "-run", "^$", "-bench", bench, "-benchtime", benchtime, pkg}
	if busy {
		args = append([]string{"sh", "-c", besideLoops, "sh"}, args...)
	}
	//nolint:gosec // from the list
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...)
	out, err := cmd.CombinedOutput()
	if busy {
		out = bytes.ReplaceAll(out, []byte("\nBenchmark"), []byte("\nBenchmarkBusy/"))
	}
	return out, err
}

// loadAverage returns the load average of the last minute, or "unknown" without /proc/loadavg.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// writeTable replaces the table of tablePage, the only copy in the documents.
func writeTable(got figures, conditions string) error {
	text, err := os.ReadFile(tablePage)
	if err != nil {
		return err
	}
	content := got.formatTable(table) + "\n" + legend + "\n" + conditions + "."
	next, err := replaceTable(string(text), content)
	if err != nil {
		return fmt.Errorf("%s: %w", tablePage, err)
	}
	return os.WriteFile(tablePage, []byte(next), 0o644) //nolint:gosec // a document
}
