package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"terminalproxy/proxy/terminal/screen"
)

// The size of the user's terminal: as wide as the README's picture, if the frame fits into the
// window that shows the demo.
const (
	mostCols, leastCols, lines = 100, 60, 14
	frameCols                  = 5 // of the margin and the frame around a screen
)

// chooseCols returns the width of the user's terminal for the width of the window, in columns. The
// window's is 0 if it is unknown.
func chooseCols(window int) int {
	if window == 0 {
		return mostCols
	}
	return max(leastCols, min(mostCols, window-frameCols))
}

// windowCols returns the width of the window that shows the demo, or 0 if it goes elsewhere.
func windowCols() int {
	cols, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return cols
}

// terminal is the scripted user's terminal: a PTY with a terminal model as its screen.
type terminal struct {
	cmd   *exec.Cmd
	pty   *os.File
	ended chan struct{}
	cols  int
	slow  bool // a person watches

	mu      sync.Mutex
	model   *screen.Screen
	changed chan struct{} // closed and replaced at every change
}

func openTerminal(ctx context.Context, dir string, cols int, args []string) (*terminal, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"TERM=xterm-256color", "LANG=C.UTF-8", "TERM_PROGRAM=", "ZELLIJ=")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: lines})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	t := &terminal{
		cmd: cmd, pty: f, cols: cols, ended: make(chan struct{}), changed: make(chan struct{}),
		model: screen.New(screen.Config{Cols: cols, Rows: lines}),
	}
	go t.read() // ends with the program's terminal
	return t, nil
}

// read shows the program's output and answers its queries, as a terminal does.
func (t *terminal) read() {
	defer close(t.ended)
	buf := make([]byte, 32<<10)
	for {
		n, err := t.pty.Read(buf)
		if err != nil {
			return
		}
		t.mu.Lock()
		t.model.Feed(buf[:n])
		answer := t.model.TakeReplies()
		close(t.changed)
		t.changed = make(chan struct{})
		t.mu.Unlock()
		if len(answer) > 0 {
			_, _ = t.pty.Write(answer)
		}
	}
}

// screenRows returns the screen as text, and a channel that closes at its next change.
func (t *terminal) screenRows() ([]string, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, n := t.model.Size()
	rows := make([]string, n)
	for i := range rows {
		rows[i] = t.model.RowText(i)
	}
	return rows, t.changed
}

// waitFor waits until text is on the screen.
func (t *terminal) waitFor(ctx context.Context, text string) error {
	for {
		rows, changed := t.screenRows()
		if strings.Contains(strings.Join(rows, "\n"), text) {
			return nil
		}
		select {
		case <-changed:
		case <-t.ended:
			return fmt.Errorf("the program ended before %q was on the screen:\n%s",
				text, strings.Join(rows, "\n"))
		case <-ctx.Done():
			return fmt.Errorf("%q did not come on the screen:\n%s", text, strings.Join(rows, "\n"))
		}
	}
}

// answerQuestion presses a key until the question at the bottom is gone: the proxy ignores a key
// that comes too soon after the question.
func (t *terminal) answerQuestion(ctx context.Context, key string) {
	pause := time.NewTicker(400 * time.Millisecond)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
		rows, _ := t.screenRows()
		if !strings.Contains(rows[len(rows)-1], "Ctrl+G") {
			return
		}
		t.pressKeys(key)
	}
}

// pauseToRead gives a person who watches time to read.
func (t *terminal) pauseToRead(ctx context.Context, d time.Duration) {
	if !t.slow {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (t *terminal) pressKeys(keys string) { _, _ = t.pty.WriteString(keys) }

// printScreen prints the screen in a frame.
func (t *terminal) printScreen(caption string) {
	rows, _ := t.screenRows()
	t.mu.Lock()
	title := t.model.Title()
	t.mu.Unlock()
	printStep("screen", "%s (title: %s)", caption, title)
	fmt.Println("   ┌" + strings.Repeat("─", t.cols) + "┐")
	for _, row := range rows {
		fmt.Printf("   │%-*s│\n", t.cols, row)
	}
	fmt.Println("   └" + strings.Repeat("─", t.cols) + "┘")
}

// waitForEnd waits until the program ends, and returns its failure.
func (t *terminal) waitForEnd(ctx context.Context) error {
	select {
	case <-t.ended:
		return t.cmd.Wait()
	case <-ctx.Done():
		rows, _ := t.screenRows()
		return fmt.Errorf("the program did not end:\n%s", strings.Join(rows, "\n"))
	}
}

func (t *terminal) close() {
	_ = t.pty.Close()
	if t.cmd.ProcessState == nil {
		_ = t.cmd.Process.Kill()
	}
}
