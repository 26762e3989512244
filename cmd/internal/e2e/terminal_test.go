package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tmuxConf makes tmux a terminal that shows everything that it receives.
const tmuxConf = `
set -g default-terminal screen-256color
set -sg escape-time 0
set -sg exit-empty off
set -g status off
set -g set-titles off
set -g history-limit 5000
`

// terminal is a window with a shell, in which a user works.
type terminal struct {
	w      *world
	name   string // of the tmux session
	marks  int
	marked string // ends the output of the running command line
	film   *film
}

func (w *world) terminal(cols, rows int) *terminal {
	w.t.Helper()
	w.write("bashrc", "PS1='$ '\nunset HISTFILE\n")
	s := w.window(cols, rows, "bash --noprofile --rcfile bashrc -i")
	s.wait("$")
	return s
}

// window opens a window for another command. Without one, tmux chooses.
func (w *world) window(cols, rows int, command ...string) *terminal {
	w.t.Helper()
	if w.tmux == "" {
		w.tmux = w.path("tmux")
		w.write("tmux.conf", tmuxConf+w.content("more.conf"))
	}
	s := &terminal{w: w, name: "user" + strconv.FormatInt(worlds.Add(1), 10)}
	require.NoError(w.t, os.MkdirAll(s.dir(), 0o700))
	s.film = newFilm(filepath.Join(s.dir(), "film"), cols, rows)
	args := append([]string{
		"-u", "-S", w.tmux, "-f", w.path("tmux.conf"), "new-session", "-d", "-s", s.name,
		"-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows),
	}, command...)
	args = append(args, ";", "pipe-pane", "-t", s.name, "exec cat >> '"+s.film.path+"'")
	out, err := w.command("tmux", args...).CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	return s
}

// dir is for the files of this window, beside the world's own.
func (s *terminal) dir() string { return s.w.dir + "." + s.name }

// tmux runs a tmux command on this window.
func (s *terminal) tmux(command string, args ...string) string {
	s.w.t.Helper()
	all := append([]string{"-S", s.w.tmux, command, "-t", s.name}, args...)
	out, err := s.w.command("tmux", all...).CombinedOutput()
	require.NoError(s.w.t, err, "tmux %s: %s", strings.Join(all, " "), out)
	return string(out)
}

// screen returns the window's text.
func (s *terminal) screen() string { return s.tmux("capture-pane", "-p") }

// colours returns the window's text with its attributes.
func (s *terminal) colours() string { return s.tmux("capture-pane", "-e", "-p") }

// bottom returns the last row of the window.
func (s *terminal) bottom() string {
	rows := strings.Split(strings.TrimSuffix(s.screen(), "\n"), "\n")
	return rows[len(rows)-1]
}

// format asks tmux for a fact of the window.
func (s *terminal) format(what string) string {
	return strings.TrimSpace(s.tmux("display-message", "-p", what))
}

func (s *terminal) title() string { return s.format("#{pane_title}") }

// typed types text unchanged.
func (s *terminal) typed(text string) { s.keys("-l", text) }

// press presses keys by their tmux names.
func (s *terminal) press(keys ...string) { s.keys(keys...) }

func (s *terminal) keys(args ...string) {
	s.w.t.Helper()
	s.skipFilm()
	s.tmux("send-keys", args...)
}

// bytes sends the bytes of a key unchanged.
func (s *terminal) bytes(key string) {
	var hex []string
	for _, b := range []byte(key) {
		hex = append(hex, fmt.Sprintf("%02x", b))
	}
	s.keys(append([]string{"-H"}, hex...)...)
}

func (s *terminal) resize(cols, rows int) {
	s.skipFilm()
	s.film.screen.Resize(cols, rows)
	s.tmux("resize-window", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows))
}

// see waits until the screen is as wanted.
func (s *terminal) see(what string, wanted func(screen string) bool) {
	s.w.t.Helper()
	var screen string
	s.w.until(func() bool { screen = s.screen(); return wanted(screen) }, func() string { return what + ":\n" + screen })
}

// wait waits until text stands on the screen.
func (s *terminal) wait(text string) {
	s.w.t.Helper()
	s.see(text, func(screen string) bool { return strings.Contains(screen, text) })
}

// waitGone waits until text no longer stands on the screen.
func (s *terminal) waitGone(text string) {
	s.w.t.Helper()
	s.see("not "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// match waits until the screen matches, and returns the first group.
func (s *terminal) match(pattern string) string {
	s.w.t.Helper()
	compiled := regexp.MustCompile(pattern)
	var found []string
	s.see(pattern, func(screen string) bool { found = compiled.FindStringSubmatch(screen); return found != nil })
	return found[len(found)-1]
}

// waitTitle waits until the window's title contains text.
func (s *terminal) waitTitle(text string) {
	s.w.t.Helper()
	title := ""
	s.w.until(func() bool { title = s.title(); return strings.Contains(title, text) }, func() string { return text + ": " + title })
}

// run lets the shell run a command line, on an empty screen. The line is not typed, so all text on
// the screen comes from the program.
func (s *terminal) run(line string) {
	s.w.t.Helper()
	s.marks++
	s.marked = fmt.Sprintf("@%d", s.marks)
	name := filepath.Join(s.dir(), strconv.Itoa(s.marks))
	require.NoError(s.w.t, os.WriteFile(name, []byte("clear\n"+line+"\necho "+s.marked+"=$?\n"), 0o600))
	s.typed(". " + name + "\n")
}

// runAnew is run for a command line with the same output as the last one, which cannot be taken for
// the new output.
func (s *terminal) runAnew(line string) {
	s.w.t.Helper()
	s.tmux("send-keys", "-R")
	s.run(line)
}

// status waits for the end of the command line, and returns its exit status.
func (s *terminal) status() int {
	s.w.t.Helper()
	n, err := strconv.Atoi(s.match(s.marked + `=(\d+)`))
	require.NoError(s.w.t, err)
	return n
}

// runToEnd runs a command line to its end.
func (s *terminal) runToEnd(line string) (screen string, status int) {
	s.w.t.Helper()
	s.run(line)
	status = s.status()
	return s.screen(), status
}

// runListener runs the listener under proxy, and returns the proxy's process id. The listener
// writes its input to the file "heard".
func (s *terminal) runListener(flags string) (proxy string) {
	s.w.t.Helper()
	_ = os.Remove(s.w.path("heard"))
	s.run("proxy " + flags + " listener heard")
	return s.match(`listening proxy=(\d+) `)
}

// runBash runs a shell under proxy --agent with more flags, and returns the session's id.
func (s *terminal) runBash(flags string) (id string) {
	s.w.t.Helper()
	s.run("proxy --agent " + flags + " bash --noprofile --rcfile bashrc -i")
	id = s.w.session()
	s.wait("$")
	return id
}

// startListener runs a listener under proxy with flags, in a terminal of a new world, and returns
// its session's id.
func startListener(t *testing.T, cols, rows int, flags string) (w *world, s *terminal, id string) {
	t.Helper()
	w = newWorld(t)
	s = w.terminal(cols, rows)
	s.runListener(flags)
	return w, s, w.session()
}

// quitProgram types what ends the program, which must end with status 0.
func (s *terminal) quitProgram(text string) {
	s.w.t.Helper()
	s.typed(text)
	require.Zero(s.w.t, s.status())
}

// grantControl lets an agent ask for a session's keyboard, with more flags of gateway request, and
// the user grant it.
func (s *terminal) grantControl(id string, more ...string) {
	s.w.t.Helper()
	asking := s.w.start(s.w.cli, append([]string{"request", id}, more...)...)
	s.answer("C-g")
	require.Zero(s.w.t, asking.wait().status)
}

// waitQuestion waits for the question, which is over the bottom rows or, if the cursor is there,
// over the first rows.
func (s *terminal) waitQuestion() {
	s.w.t.Helper()
	s.see("the question", func(string) bool { return s.hasQuestion() })
}

func (s *terminal) hasQuestion() bool { return strings.Contains(s.screen(), "Ctrl+G allows") }

// answer presses a key until the question is gone: a key too soon after the question counts as an
// accident.
func (s *terminal) answer(key string) {
	s.w.t.Helper()
	s.waitQuestion()
	pause := time.NewTicker(400 * time.Millisecond)
	defer pause.Stop()
	for end := time.Now().Add(patience); s.hasQuestion(); {
		<-pause.C
		if s.hasQuestion() {
			s.press(key)
		}
		require.True(s.w.t, time.Now().Before(end), "the question stays:\n%s", s.screen())
	}
}

func (s *terminal) close() { s.tmux("kill-session") }
