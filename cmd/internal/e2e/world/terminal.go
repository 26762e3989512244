package world

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

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

// Terminal is a window with a shell, in which a user works.
type Terminal struct {
	W      *World
	Name   string // of the tmux session
	Marks  int
	Marked string // ends the output of the running command line
	Film   *film
}

func (w *World) Terminal(cols, rows int) *Terminal {
	w.T.Helper()
	w.Write("bashrc", "PS1='$ '\nunset HISTFILE\n")
	s := w.Window(cols, rows, "bash --noprofile --rcfile bashrc -i")
	s.Wait("$")
	return s
}

// Window opens a window for another command. Without one, tmux chooses.
func (w *World) Window(cols, rows int, command ...string) *Terminal {
	w.T.Helper()
	if w.Tmux == "" {
		w.Tmux = w.Path("tmux")
		w.Write("tmux.conf", tmuxConf+w.Content("more.conf"))
	}
	s := &Terminal{W: w, Name: "user" + strconv.FormatInt(Worlds.Add(1), 10)}
	require.NoError(w.T, os.MkdirAll(s.dir(), 0o700))
	s.Film = newFilm(filepath.Join(s.dir(), "film"), cols, rows)
	args := append([]string{
		"-u", "-S", w.Tmux, "-f", w.Path("tmux.conf"), "new-session", "-d", "-s", s.Name,
		"-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows),
	}, command...)
	args = append(args, ";", "pipe-pane", "-t", s.Name, "exec cat >> '"+s.Film.path+"'")
	out, err := w.Command("tmux", args...).CombinedOutput()
	require.NoError(w.T, err, "%s", out)
	return s
}

// dir is for the files of this window, beside the world's own.
func (s *Terminal) dir() string { return s.W.Dir + "." + s.Name }

// Tmux runs a tmux command on this window.
func (s *Terminal) Tmux(command string, args ...string) string {
	s.W.T.Helper()
	all := append([]string{"-S", s.W.Tmux, command, "-t", s.Name}, args...)
	out, err := s.W.Command("tmux", all...).CombinedOutput()
	require.NoError(s.W.T, err, "tmux %s: %s", strings.Join(all, " "), out)
	return string(out)
}

// Screen returns the window's text.
func (s *Terminal) Screen() string { return s.Tmux("capture-pane", "-p") }

// Colours returns the window's text with its attributes.
func (s *Terminal) Colours() string { return s.Tmux("capture-pane", "-e", "-p") }

// Bottom returns the last row of the window.
func (s *Terminal) Bottom() string {
	rows := strings.Split(strings.TrimSuffix(s.Screen(), "\n"), "\n")
	return rows[len(rows)-1]
}

// Format asks tmux for a fact of the window.
func (s *Terminal) Format(what string) string {
	return strings.TrimSpace(s.Tmux("display-message", "-p", what))
}

func (s *Terminal) Title() string { return s.Format("#{pane_title}") }

// Typed types text unchanged.
func (s *Terminal) Typed(text string) { s.keys("-l", text) }

// Press presses keys by their tmux names.
func (s *Terminal) Press(keys ...string) { s.keys(keys...) }

func (s *Terminal) keys(args ...string) {
	s.W.T.Helper()
	s.skipFilm()
	s.Tmux("send-keys", args...)
}

// Bytes sends the bytes of a key unchanged.
func (s *Terminal) Bytes(key string) {
	var hex []string
	for _, b := range []byte(key) {
		hex = append(hex, fmt.Sprintf("%02x", b))
	}
	s.keys(append([]string{"-H"}, hex...)...)
}

func (s *Terminal) Resize(cols, rows int) {
	s.skipFilm()
	s.Film.screen.Resize(cols, rows)
	s.Tmux("resize-window", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows))
}

// See waits until the screen is as wanted.
func (s *Terminal) See(what string, wanted func(screen string) bool) {
	s.W.T.Helper()
	var screen string
	s.W.Until(func() bool { screen = s.Screen(); return wanted(screen) }, func() string { return what + ":\n" + screen })
}

// Wait waits until text stands on the screen.
func (s *Terminal) Wait(text string) {
	s.W.T.Helper()
	s.See(text, func(screen string) bool { return strings.Contains(screen, text) })
}

// WaitBottom waits until text stands in the last row of the window.
func (s *Terminal) WaitBottom(text string) {
	s.W.T.Helper()
	s.See(text+" in the last row", func(string) bool { return strings.Contains(s.Bottom(), text) })
}

// WaitColours waits until the screen is as it was, with its attributes.
func (s *Terminal) WaitColours(before string) {
	s.W.T.Helper()
	s.See("the screen as before:\n"+before, func(string) bool { return s.Colours() == before })
}

// WaitGone waits until text no longer stands on the screen.
func (s *Terminal) WaitGone(text string) {
	s.W.T.Helper()
	s.See("not "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// Match waits until the screen matches, and returns the first group.
func (s *Terminal) Match(pattern string) string {
	s.W.T.Helper()
	compiled := regexp.MustCompile(pattern)
	var found []string
	s.See(pattern, func(screen string) bool { found = compiled.FindStringSubmatch(screen); return found != nil })
	return found[len(found)-1]
}

// WaitTitle waits until the window's title contains text.
func (s *Terminal) WaitTitle(text string) {
	s.W.T.Helper()
	title := ""
	s.W.Until(func() bool { title = s.Title(); return strings.Contains(title, text) }, func() string { return text + ": " + title })
}

// Run lets the shell run a command line, on an empty screen. The line is not typed, so all text on
// the screen comes from the program.
func (s *Terminal) Run(line string) {
	s.W.T.Helper()
	s.Marks++
	s.Marked = fmt.Sprintf("@%d", s.Marks)
	name := filepath.Join(s.dir(), strconv.Itoa(s.Marks))
	require.NoError(s.W.T, os.WriteFile(name, []byte("clear\n"+line+"\necho "+s.Marked+"=$?\n"), 0o600))
	s.Typed(". " + name + "\n")
}

// RunAnew is Run for a command line with the same output as the last one, which cannot be taken for
// the new output.
func (s *Terminal) RunAnew(line string) {
	s.W.T.Helper()
	s.Tmux("send-keys", "-R")
	s.Run(line)
}

// Status waits for the end of the command line, and returns its exit status.
func (s *Terminal) Status() int {
	s.W.T.Helper()
	n, err := strconv.Atoi(s.Match(s.Marked + `=(\d+)`))
	require.NoError(s.W.T, err)
	return n
}

// RunToEnd runs a command line to its end.
func (s *Terminal) RunToEnd(line string) (screen string, status int) {
	s.W.T.Helper()
	s.Run(line)
	status = s.Status()
	return s.Screen(), status
}

// RunListener runs the listener under proxy, and returns the proxy's process id. The listener
// writes its input to the file "heard".
func (s *Terminal) RunListener(flags string) (proxy string) {
	s.W.T.Helper()
	_ = os.Remove(s.W.Path("heard"))
	s.Run("proxy " + flags + " listener heard")
	return s.Match(`listening proxy=(\d+) `)
}

// RunBash runs a shell under proxy --agent with more flags, and returns the session's id.
func (s *Terminal) RunBash(flags string) (id string) {
	s.W.T.Helper()
	s.Run("proxy --agent " + flags + " bash --noprofile --rcfile bashrc -i")
	id = s.W.Session()
	s.Wait("$")
	return id
}

// StartListener runs a listener under proxy with flags, in a terminal of a new world, and returns
// its session's id.
func StartListener(t *testing.T, cols, rows int, flags string) (w *World, s *Terminal, id string) {
	t.Helper()
	w = New(t)
	s = w.Terminal(cols, rows)
	s.RunListener(flags)
	return w, s, w.Session()
}

// QuitProgram types what ends the program, which must end with status 0.
func (s *Terminal) QuitProgram(text string) {
	s.W.T.Helper()
	s.Typed(text)
	require.Zero(s.W.T, s.Status())
}

// GrantControl lets an agent ask for a session's keyboard, with more flags of gateway request, and
// the user grant it.
func (s *Terminal) GrantControl(id string, more ...string) {
	s.W.T.Helper()
	asking := s.W.Start(s.W.CLI, append([]string{"request", id}, more...)...)
	s.Answer("C-g")
	require.Zero(s.W.T, asking.Wait().Status)
}

// WaitQuestion waits for the question, which is over the bottom rows or, if the cursor is there,
// over the first rows.
func (s *Terminal) WaitQuestion() {
	s.W.T.Helper()
	s.See("the question", func(string) bool { return s.HasQuestion() })
}

func (s *Terminal) HasQuestion() bool { return strings.Contains(s.Screen(), "Ctrl+G allows") }

func (s *Terminal) Close() { s.Tmux("kill-session") }
