package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var errFailed = errors.New("failed")

// results collects the results of all groups.
type results struct {
	mu                      sync.Mutex
	out                     io.Writer
	passed, failed, skipped int
	reasons                 map[string]int // numbers of skipped tests, by their reasons
	failures                []failure
	flaky                   []failure // of tests that passed when they ran again
	unfinished              []string  // packages that an interrupt ended
	notes                   []string
	interrupted             bool
}

// failure is a failed package, or another reason to fail.
type failure struct {
	text  string // as go test prints it
	group *group
	pkg   string
	tests []string // the failed ones without their subtests; nil if they must not run again
	count int      // of failed tests and subtests
}

func (r *results) printLine(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(r.out, line)
}

// printEnd prints why tests skipped, then what failed, with the refusals last, then the counts.
func (r *results) printEnd(refusals []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.reasons) > 0 {
		fmt.Fprintln(r.out, "\nskipped:")
	}
	for _, reason := range slices.SortedFunc(maps.Keys(r.reasons), func(a, b string) int {
		return cmp.Or(r.reasons[b]-r.reasons[a], strings.Compare(a, b))
	}) {
		fmt.Fprintf(r.out, "%6d  %s\n", r.reasons[reason], reason)
	}
	for _, note := range r.notes {
		fmt.Fprintln(r.out, note)
	}
	if r.interrupted {
		slices.Sort(r.unfinished)
		names := cmp.Or(strings.Join(r.unfinished, " "), "none")
		r.failures = append(r.failures, failure{text: fmt.Sprintf("interrupted, and the tests were ended; "+
			"these packages had begun and not finished: %s\n", names)})
	}
	for _, refusal := range refusals {
		r.failures = append(r.failures, failure{text: refusal})
	}
	if len(r.flaky) > 0 {
		fmt.Fprintln(r.out, "\nflaky: these failed, and passed when they ran again; mend the tests:")
	}
	for _, f := range r.flaky {
		fmt.Fprint(r.out, f.text)
	}
	if len(r.failures) > 0 {
		fmt.Fprintln(r.out, "\nfailed:")
	}
	for _, f := range r.failures {
		fmt.Fprint(r.out, f.text)
	}
	if len(r.failures) > 0 {
		fmt.Fprintln(r.out, "FAIL")
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	if len(r.failures) > 0 {
		return errFailed
	}
	return nil
}

// event is a line of go test -json (go doc test2json, go help buildjson).
type event struct{ Action, Package, Test, Output, ImportPath, FailedBuild string }

// stream reads the output of one go test.
type stream struct {
	*results
	group       *group
	interrupted func() bool
	partial     []byte // of a line
	stray       string // lines that are no events
	failed      bool
	builds      map[string]string // unprinted output of builds
	packages    map[string]*packageRun
}

// packageRun is the run of a package's tests.
type packageRun struct {
	output []byte
	names  []string // of its tests, in the order of their starts
	tests  map[string]*testRun
	failed int
}

type testRun struct {
	output                                        []byte
	paused, ended, failed, parent, parentOfFailed bool
}

// Write takes the output of go test -json.
func (s *stream) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partial = append(s.partial, data...)
	for {
		line, rest, found := bytes.Cut(s.partial, []byte("\n"))
		if !found {
			return len(data), nil
		}
		var e event
		if err := json.Unmarshal(line, &e); err == nil && e.Action != "" {
			s.handleEvent(e)
		} else {
			s.stray += string(line) + "\n"
			fmt.Fprintf(s.out, "%s\n", line)
		}
		s.partial = rest
	}
}

func (s *stream) handleEvent(e event) {
	if s.packages == nil {
		s.packages, s.builds = map[string]*packageRun{}, map[string]string{}
	}
	if s.reasons == nil {
		s.reasons = map[string]int{}
	}
	if e.Action == "build-output" {
		s.builds[e.ImportPath] += e.Output
	}
	if e.Package == "" {
		return
	}
	p := s.packages[e.Package]
	if p == nil {
		p = &packageRun{tests: map[string]*testRun{}}
		s.packages[e.Package] = p
	}
	if e.Test != "" {
		s.handleTest(p, e)
		return
	}
	switch e.Action {
	case "output":
		if e.Output != "PASS\n" && e.Output != "FAIL\n" {
			p.output = append(p.output, e.Output...)
		}
	case "pass", "skip":
		fmt.Fprint(s.out, closingLine(p.output))
		delete(s.packages, e.Package)
	case "fail":
		s.failPackage(p, e)
	}
}

// failPackage reports a package that failed, or that an interrupt left unfinished.
func (s *stream) failPackage(p *packageRun, e event) {
	delete(s.packages, e.Package)
	if s.interrupted() && !p.hasFailedTest() {
		s.unfinished = append(s.unfinished, e.Package)
		return
	}
	text := s.builds[e.FailedBuild] + s.describeFailure(p) + string(p.output)
	delete(s.builds, e.FailedBuild) // go test also shows it only once
	fmt.Fprint(s.out, text)
	s.failures = append(s.failures, failure{text, s.group, e.Package, p.listRepeatable(), p.failed})
	s.failed = true
}

// listRepeatable returns the failed tests, without their subtests. It returns nil if the package
// did not run to its end, or if the race detector reported a race, which another run need not show.
func (p *packageRun) listRepeatable() (tests []string) {
	race := []byte("WARNING: DATA RACE")
	if bytes.Contains(p.output, race) {
		return nil
	}
	for _, name := range p.names {
		t := p.tests[name]
		if !t.ended || bytes.Contains(t.output, race) {
			return nil
		}
		if t.failed && !strings.Contains(name, "/") {
			tests = append(tests, name)
		}
	}
	return tests
}

// closingLine returns go test's own line for a package, without the output of its tests.
func closingLine(output []byte) string {
	for line := range strings.Lines(string(output)) {
		for _, prefix := range []string{"ok  \t", "?   \t", "\t"} {
			if strings.HasPrefix(line, prefix) {
				return line
			}
		}
	}
	return ""
}

func (s *stream) handleTest(p *packageRun, e event) {
	t := p.tests[e.Test]
	if t == nil {
		t = &testRun{}
		p.tests[e.Test] = t
		p.names = append(p.names, e.Test)
		if above := p.tests[parentName(e.Test)]; above != nil {
			above.parent = true
		}
	}
	switch e.Action {
	case "pause", "cont":
		t.paused = e.Action == "pause"
	case "output":
		if !strings.HasPrefix(e.Output, "=== ") {
			t.output = append(t.output, e.Output...)
		}
	case "pass", "skip", "fail":
		t.ended = true
		s.countTest(p, e, t)
	}
}

// countTest counts a finished test. A test with subtests counts if it fails or skips by itself.
func (s *stream) countTest(p *packageRun, e event, t *testRun) {
	switch {
	case e.Action == "skip":
		s.skipped++
		s.reasons[skipReason(t.output)]++
	case e.Action == "pass" && !t.parent:
		s.passed++
	case e.Action == "fail":
		t.failed = true
		if !t.parentOfFailed {
			s.results.failed++
			p.failed++
		}
		for name := parentName(e.Test); name != ""; name = parentName(name) {
			if above := p.tests[name]; above != nil {
				above.parentOfFailed = true
			}
		}
	}
	if e.Action != "fail" {
		t.output = nil
	}
}

func parentName(test string) string {
	return test[:max(0, strings.LastIndex(test, "/"))]
}

// logged matches a line of t.Log and t.Skip.
var logged = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)`)

// skipReason returns the last line that the test logged.
func skipReason(output []byte) string {
	reason := "without a reason"
	for line := range strings.Lines(string(output)) {
		if found := logged.FindStringSubmatch(line); found != nil {
			reason = strings.TrimSpace(found[1])
		}
	}
	return reason
}

func (p *packageRun) hasFailedTest() bool {
	for _, t := range p.tests {
		if t.failed {
			return true
		}
	}
	return false
}

// describeFailure returns the output of a package's failed tests, and which tests were running when
// the package ended. A package that fails without a failed test counts as one.
func (s *stream) describeFailure(p *packageRun) string {
	var text strings.Builder
	var running []string
	slices.SortStableFunc(p.names, func(a, b string) int { // a test, then its subtests
		a, _, _ = strings.Cut(a, "/")
		b, _, _ = strings.Cut(b, "/")
		return slices.Index(p.names, a) - slices.Index(p.names, b)
	})
	for _, name := range p.names {
		t := p.tests[name]
		if t.failed || !t.ended {
			text.Write(t.output)
		}
		if !t.ended && !t.paused && !t.parent {
			running = append(running, name)
		}
	}
	if !p.hasFailedTest() {
		s.results.failed++
	}
	if len(running) > 0 {
		text.WriteString("still running: " + strings.Join(running, " ") + "\n")
	}
	return text.String()
}

// finishRun records the end of go test: its error and its standard error.
func (s *stream) finishRun(err error, stderr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.interrupted() {
		s.results.interrupted = true
		s.unfinished = slices.AppendSeq(s.unfinished, maps.Keys(s.packages))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.packages)) {
		p := s.packages[name]
		text := s.describeFailure(p) + string(p.output) + "FAIL\t" + name + "\t[did not end]\n"
		s.failures = append(s.failures, failure{text: text})
		s.failed = true
	}
	for _, name := range slices.Sorted(maps.Keys(s.builds)) {
		fmt.Fprint(s.out, s.builds[name]) // warnings
	}
	if err != nil && !s.failed {
		s.results.failed++
		text := fmt.Sprintf("%s%s%sgo test: %v\n", s.stray, s.partial, stderr, err)
		s.failures = append(s.failures, failure{text: text})
	}
}
