// Command bench measures what the project promises about speed, each figure beside a baseline of the same run, and prints one table.
// With -write it puts that table into README.md and docs/performance.md, too.
//
//	go run ./cmd/internal/bench [-raw FILE] [-write]
//
// It runs in the module's directory. What the benchmarks print goes to the file.
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

// runs are the benchmarks of the table: a package, which of its benchmarks, and how long (see go help testflag).
var runs = []struct{ what, pkg, bench, benchtime string }{
	{"output, keys and starts, beside other wrappers", "./cmd/internal/bench/built", "^Benchmark(Output|Key|Start)$", "1x"},
	{"a look at the screen", "./cmd/internal/bench/built", "^BenchmarkRead$/^(websocket-unix|mcp-stdio)$", "300x"},
	{"a wait and a subscriber", "./cmd/internal/bench/built", "^BenchmarkObserve$/^user$/^(subscription|wait|mcp-wait)$", "1x"},
	{"nobody looks", "./cmd/internal/bench/built", "^BenchmarkNobodyLooks$", "1x"},
	{"many viewers", "./cmd/internal/bench/built", "^BenchmarkViewers$/^(bare-)?1000$", "1x"},
	{"many subscribers", "./gateway", "^BenchmarkSubscribers$", "1x"},
	{"tasks of an agent", "./cmd/internal/bench/tokens", "^BenchmarkTask$/^(build|dialog|failed-build|log|shell|all)$/^(tools|tmux)$", "1x"},
}

func main() {
	raw := flag.String("raw", "bin/bench.txt", "`file` for what the benchmarks print")
	write := flag.Bool("write", false, "put the table into README.md and docs/performance.md")
	flag.Parse()
	if err := run(*raw, *write); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(raw string, write bool) error {
	began, load := time.Now(), loadAverage()
	if err := os.MkdirAll(filepath.Dir(raw), 0o755); err != nil { //nolint:gosec // bin, as the build makes it
		return err
	}
	file, err := os.Create(raw) //nolint:gosec // the caller's choice
	if err != nil {
		return err
	}
	defer file.Close()
	var out bytes.Buffer
	for _, r := range runs {
		fmt.Fprintf(os.Stderr, "bench: %s ...\n", r.what)
		if err := measure(io.MultiWriter(file, &out), r.pkg, r.bench, r.benchtime); err != nil {
			return fmt.Errorf("%s: %w; see %s", r.what, err, raw)
		}
	}
	got := parse(out.String())
	where := fmt.Sprintf("%s, %d cores (%s), load %s at the start and %s at the end", began.Format("2 January 2006"), runtime.NumCPU(), got.cpu, load, loadAverage())
	fmt.Printf("%s\n%s\n\n%s; it took %s. All that was measured: %s\n", got.markdown(table), legend, where, time.Since(began).Round(time.Second), raw)
	lost := got.lost(table)
	if len(lost) > 0 {
		fmt.Printf("Not measured, since something is not installed here: %s\n", strings.Join(lost, "; "))
	}
	switch {
	case !write:
		return nil
	case len(lost) > 0:
		return errors.New("the documents stay as they are: their table has all rows")
	}
	return writeTables(got, where)
}

// measure runs benchmarks.
func measure(out io.Writer, pkg, bench, benchtime string) error {
	cmd := exec.CommandContext(context.Background(), "go", "test", "-run", "^$", "-bench", bench, "-benchtime", benchtime, pkg) //nolint:gosec // from the list
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// loadAverage is how many processes wanted a processor in the last minute, "unknown" where the system does not tell.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// writeTables puts the tables where a comment asks for them.
func writeTables(got figures, where string) error {
	for _, doc := range []struct {
		path string
		rows []row
	}{{"README.md", brief(table)}, {"docs/performance.md", table}} {
		text, err := os.ReadFile(doc.path)
		if err != nil {
			return err
		}
		next, err := replace(string(text), got.markdown(doc.rows)+"\n"+legend+"\n"+where+".")
		if err != nil {
			return fmt.Errorf("%s: %w", doc.path, err)
		}
		if err := os.WriteFile(doc.path, []byte(next), 0o644); err != nil { //nolint:gosec // documents
			return err
		}
	}
	return nil
}
