package session_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// statement is one command line of a page, with the lines that belong to it.
type statement struct {
	line int
	text string
}

// example says how a page's commands run. A command that no step names runs to its end, with status
// 0, in the page's shell.
type example struct {
	// replace lists pairs: a placeholder of the page, and its value here; {port} is a free port.
	replace []string
	// before prepares what the page's prose has the reader do first.
	before func(r *pageRun)
	steps  []step
}

// step says how the commands run that contain line.
type step struct {
	line string
	// skip is the reason why they do not run here. It names the test that runs them, if one does.
	skip string
	// stays matches the screen once the command is up. The command then keeps its terminal until
	// the end of the page, or until end is typed.
	stays string
	end   string // what ends such a command: text, or a key by its tmux name (C-c)
	brief bool   // end it at once
	// shell runs the command in place of bash.
	shell string
	// needs is a program that this machine may lack.
	needs string
	// before, during and after run before the command, while it runs, and after it.
	before, during, after func(r *pageRun)
	want                  string // matches the screen after the command
	status                int
}

// pageRun is a reader who works through one page, in a home of his own.
type pageRun struct {
	w       *world.World
	s       *world.Terminal // the shell in which the next command runs
	used    map[*step]bool
	exports []string // what the next shell needs from the commands before
	staying []staying
	at      string // where the command stands, for messages
	port    string // replaces {port}
	missing []string
}

// staying is a command that still runs in its terminal.
type staying struct {
	s         *world.Terminal
	text, end string
}

// TestPagesRun works through every shell block of the README and of docs, in order, as a reader
// would: a page at a time, each in a new home.
func TestPagesRun(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(world.Checkout, "docs", "*.md"))
	require.NoError(t, err)
	paths = append(paths, filepath.Join(world.Checkout, "README.md"))
	var names []string
	for _, path := range paths {
		name, err := filepath.Rel(world.Checkout, path)
		require.NoError(t, err)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		statements := shellStatements(t, string(text))
		if len(statements) == 0 {
			continue
		}
		names = append(names, name)
		t.Run(name, func(t *testing.T) { newPageRun(t).runPage(name, statements, examples[name]) })
	}
	for name := range examples {
		require.Contains(t, names, name, "a page with steps has no command")
	}
}

// shellStatements returns the commands of a page's blocks of kind sh and console.
func shellStatements(t *testing.T, page string) (found []statement) {
	t.Helper()
	kind, open := "", ""
	for i, line := range strings.Split(page, "\n") {
		text := strings.TrimSpace(line)
		if fence, isFence := strings.CutPrefix(text, "```"); isFence {
			require.Empty(t, open, "line %d: a command goes on over the end of its block", i+1)
			if kind == "" {
				kind = fence
			} else {
				kind = ""
			}
			continue
		}
		switch {
		case kind == "console" && strings.HasPrefix(text, "$ "):
			text = strings.TrimPrefix(text, "$ ")
		case kind != "sh" || text == "":
			continue
		}
		if open != "" {
			text = open + "\n" + text
		} else {
			found = append(found, statement{line: i + 1})
		}
		open = ""
		if strings.HasSuffix(text, `\`) || !isWhole(t, text) {
			open = text
			continue
		}
		found[len(found)-1].text = text
	}
	return found
}

// isWhole reports whether bash waits for no more lines.
func isWhole(t *testing.T, text string) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bash", "-n", "-c", text).CombinedOutput()
	if err == nil {
		return true
	}
	require.Contains(t, string(out), "unexpected end of file", text)
	return false
}

func newPageRun(t *testing.T) *pageRun {
	t.Helper()
	w := world.New(t, "vim", "curl", "openssl", "zsh", "fish")
	w.Write("notes.txt", "one\ntwo\n")
	w.Write("home/.bashrc", "PS1='$ '\n")
	return &pageRun{w: w, s: w.Terminal(200, 50), used: make(map[*step]bool)}
}

func (r *pageRun) runPage(name string, statements []statement, e example) {
	r.port = freePort(r.w.T)
	var pairs []string
	for _, text := range e.replace {
		pairs = append(pairs, strings.ReplaceAll(text, "{port}", r.port))
	}
	replacer := strings.NewReplacer(pairs...)
	if e.before != nil {
		r.at = name
		e.before(r)
	}
	for _, st := range statements {
		r.at = fmt.Sprintf("%s:%d: %s", name, st.line, st.text)
		s := e.stepFor(st.text)
		r.used[s] = true
		if _, err := exec.LookPath(s.needs); s.needs != "" && err != nil {
			r.missing = append(r.missing, s.needs)
		} else if s.skip == "" {
			r.runStep(s, replacer.Replace(st.text))
		}
	}
	r.endAll()
	for i := range e.steps {
		require.True(r.w.T, r.used[&e.steps[i]], "%s: no command contains %q: remove the step", name, e.steps[i].line)
	}
	if len(r.missing) > 0 {
		r.w.T.Skipf("the page ran, but for the commands that need %s: not installed", strings.Join(r.missing, ", "))
	}
}

var plainStep step

// stepFor returns the step for a command.
func (e *example) stepFor(text string) *step {
	if i := slices.IndexFunc(e.steps, func(s step) bool { return strings.Contains(text, s.line) }); i >= 0 {
		return &e.steps[i]
	}
	return &plainStep
}

func (r *pageRun) runStep(s *step, text string) {
	r.w.T.Helper()
	r.w.T.Log(r.at)
	if s.before != nil {
		s.before(r)
	}
	if regexp.MustCompile(`\bID\b`).MatchString(text) {
		text = regexp.MustCompile(`\bID\b`).ReplaceAllString(text, r.id())
	}
	if s.shell != "" {
		got := r.w.Do(s.shell, "-c", text)
		require.Equal(r.w.T, s.status, got.Status, "%s\n%s%s", r.at, got.Out, got.Err)
		return
	}
	if strings.HasPrefix(text, "export ") {
		r.exports = append(r.exports, text)
	}
	r.s.Run(text)
	if s.stays != "" {
		r.s.Match(s.stays)
		r.staying = append(r.staying, staying{r.s, text, s.end})
		if s.during != nil {
			s.during(r)
		}
		if s.brief {
			r.endLast()
		}
		r.openShell()
		return
	}
	if s.during != nil {
		s.during(r)
	}
	require.Equal(r.w.T, s.status, r.s.Status(), "%s\n%s", r.at, r.s.Screen())
	if s.want != "" {
		require.Regexp(r.w.T, s.want, r.s.Screen(), r.at)
	}
	if s.after != nil {
		s.after(r)
	}
}

// openShell opens a new terminal that knows what the commands before have exported.
func (r *pageRun) openShell() {
	r.w.T.Helper()
	r.s = r.w.Terminal(200, 50)
	if len(r.exports) > 0 {
		_, status := r.s.RunToEnd(strings.Join(r.exports, "\n"))
		require.Zero(r.w.T, status)
	}
}

// stay starts a command that the page takes for granted, in a terminal of its own.
func (r *pageRun) stay(command, up, end string) {
	r.w.T.Helper()
	r.s.Run(command)
	r.s.Match(up)
	r.staying = append(r.staying, staying{r.s, command, end})
	r.openShell()
}

func (r *pageRun) endAll() {
	r.w.T.Helper()
	for len(r.staying) > 0 {
		r.endLast()
	}
}

// endLast ends the command that stays since the shortest time.
func (r *pageRun) endLast() {
	r.w.T.Helper()
	last := r.staying[len(r.staying)-1]
	r.staying = r.staying[:len(r.staying)-1]
	r.at = "the end of " + last.text
	if strings.HasPrefix(last.end, "C-") {
		last.s.Press(last.end)
	} else {
		last.s.Typed(last.end)
	}
	require.Zero(r.w.T, last.s.Status(), "%s\n%s", r.at, last.s.Screen())
}

// last returns the terminal of the command that stays since the shortest time.
func (r *pageRun) last() *world.Terminal { return r.staying[len(r.staying)-1].s }

// id returns the running session that was used last.
func (r *pageRun) id() (id string) {
	r.w.T.Helper()
	r.w.Until(func() bool {
		running := slices.DeleteFunc(r.w.Sessions(), func(s protocol.SessionInfo) bool { return s.State != protocol.StateRunning })
		if len(running) > 0 {
			id = running[0].SessionID
		}
		return id != ""
	}, func() string { return r.at + ": no session" })
	return id
}

// agree answers the question of a command that asks a person.
func (r *pageRun) agree() {
	r.w.T.Helper()
	r.s.Wait("[y/N]")
	r.s.Typed("y\n")
}

func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0") // closed at once: the page's command listens there
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(ln.Addr().String())
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	return port
}
