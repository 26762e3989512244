package chat

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/proxy/terminal/tty"
)

// youPrompt stands before the user's line, also in the echo of a line that was sent.
const (
	youPrompt = "→ You: "
	// newline and tabulator represent pasted ones on the line: golang.org/x/term edits a single
	// line.
	newline   = "⏎"
	tabulator = "⇥"
)

// Control keys that are never passed on from the keyboard. The editing goroutine acts on them, so
// other goroutines send them to change the line.
const (
	keyEnd      = 0x1a // Ctrl+D, which the library does not remove from its input
	keyAskDraft = 0x1c // asks whether the line is empty
	keyStash    = 0x1d // saves the line, for a question
	keyRestore  = 0x1e // restores the saved line
	keyClear    = 0x1f // clears the line
)

// typed is a line that the user entered.
type typed struct {
	text string
	// question is the one that the line answers, or 0.
	question int
	ended    bool // no line: the user pressed Ctrl+D on an empty one
	lost     bool // no line: the terminal is gone
}

// editor is the line at the bottom of the screen: what is written to it appears above. While it
// runs, only its methods may be used.
type editor struct {
	screen  *tty.Terminal
	poll    *tty.Poller
	term    *term.Terminal
	lines   chan typed
	stops   chan struct{} // Ctrl+C
	keys    chan []byte
	marks   chan byte
	handled chan struct{} // an answer was handled
	drafts  chan bool     // answers keyAskDraft
	over    chan struct{}
	parts   sync.WaitGroup
	begun   time.Time

	mu      sync.Mutex
	lastKey time.Time
	cols    int
	choices []string // of the open question, or nil
	past    []string // lines that were sent, newest first

	asking  bool
	opening int // the open question

	// The fields below belong to the editing goroutine.
	rest     []byte // read but not passed on yet
	held     []byte // the beginning of a sequence
	redraw   bool
	pasting  bool
	returned bool   // the last of a paste was a carriage return
	question int    // the one that lines answer, or 0
	stashed  string // the half-typed line, while a question is open
}

// breaks restores line ends and tabs in a line.
var breaks = strings.NewReplacer(newline, "\n", tabulator, "\t")

// newEditor takes over the terminal until close is called.
func newEditor(in, out *os.File) (*editor, error) {
	screen, err := tty.Open(in, out)
	if err != nil {
		return nil, err
	}
	keyboard, show := screen.Descriptors()
	poll, err := tty.NewPoller(keyboard, show)
	if err != nil {
		screen.Close()
		return nil, err
	}
	if err := screen.EnterRawMode(); err != nil {
		poll.Close()
		screen.Close()
		return nil, err
	}
	e := &editor{
		screen:  screen,
		poll:    poll,
		lines:   make(chan typed, 64),
		stops:   make(chan struct{}, 8),
		handled: make(chan struct{}, 1),
		drafts:  make(chan bool, 8),
		keys:    make(chan []byte),
		marks:   make(chan byte, 8),
		over:    make(chan struct{}),
		begun:   time.Now(),
		cols:    80,
	}
	e.term = term.NewTerminal(e, youPrompt)
	e.term.History, e.term.AutoCompleteCallback = e, e.applyControlKey
	e.term.SetBracketedPasteMode(true)
	e.updateSize()
	windows := make(chan os.Signal, 1)
	signal.Notify(windows, syscall.SIGWINCH)
	e.parts.Go(e.readKeys)                       // ends with over and a wake
	e.parts.Go(e.readLines)                      // ends with over
	e.parts.Go(func() { e.followSize(windows) }) // ends with over
	return e, nil
}

// followSize applies changes of the window's size.
func (e *editor) followSize(windows chan os.Signal) {
	defer signal.Stop(windows)
	for {
		select {
		case <-windows:
			e.updateSize()
		case <-e.over:
			return
		}
	}
}

// close releases the terminal, with the cursor on an empty row.
func (e *editor) close() {
	close(e.over)
	e.poll.Wake()
	e.parts.Wait()
	e.term.SetPrompt("")
	_, _ = e.term.Write(nil)
	e.term.SetBracketedPasteMode(false)
	_ = e.screen.Restore()
	e.poll.Close()
	e.screen.Close()
}

func (e *editor) updateSize() {
	cols, rows, err := e.screen.Size()
	if err != nil || cols < 1 {
		return
	}
	e.mu.Lock()
	e.cols = cols
	e.mu.Unlock()
	_ = e.term.SetSize(cols, rows)
}

func (e *editor) columns() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cols
}

// idleTime returns the time since the last key.
func (e *editor) idleTime() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lastKey.IsZero() {
		return time.Since(e.begun)
	}
	return time.Since(e.lastKey)
}

// readKeys reads the keyboard.
func (e *editor) readKeys() {
	defer close(e.keys)
	var buf [4096]byte
	for {
		got, err := e.poll.Wait(tty.Readable, -1)
		select {
		case <-e.over:
			return
		default:
		}
		if err != nil {
			return
		}
		if got&tty.Readable == 0 {
			continue
		}
		n, err := e.screen.Read(buf[:])
		if errors.Is(err, tty.ErrAgain) {
			continue
		}
		if err != nil || n == 0 {
			return // the terminal is closed
		}
		e.mu.Lock()
		e.lastKey = time.Now()
		e.mu.Unlock()
		select {
		case e.keys <- bytes.Clone(buf[:n]):
		case <-e.over:
			return
		}
	}
}

// readLines delivers the entered lines. After the answer to a question it waits until the answer
// was handled, because the next line may be for another question.
func (e *editor) readLines() {
	for {
		line, err := e.term.ReadLine()
		t := typed{text: strings.TrimSpace(breaks.Replace(line)), question: e.question}
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			t.lost = true
		}
		select {
		case e.lines <- t:
		case <-e.over:
			return
		}
		if t.lost {
			return
		}
		if t.question == 0 {
			continue
		}
		select {
		case <-e.handled:
		case <-e.over:
			return
		}
	}
}

// promptFor lets the next lines answer a question, under the question's prompt. It saves the
// half-typed line.
func (e *editor) promptFor(question int, prompt string, choices []string) {
	e.mu.Lock()
	e.opening, e.choices, e.asking = question, choices, true
	e.mu.Unlock()
	e.setPrompt(prompt, keyStash)
}

// restoreDraft restores the half-typed line.
func (e *editor) restoreDraft() {
	e.mu.Lock()
	e.asking = false
	e.mu.Unlock()
	e.setPrompt(youPrompt, keyRestore)
}

// hasDraft reports whether there is text on the line.
func (e *editor) hasDraft() bool {
	for len(e.drafts) > 0 {
		<-e.drafts // answered too late
	}
	e.marks <- keyAskDraft
	select {
	case half := <-e.drafts:
		return half
	case <-time.After(questionDelay): // a paste goes on, or a line was just entered
		return true
	}
}

// clearLine empties the line.
func (e *editor) clearLine() { e.marks <- keyClear }

func (e *editor) setPrompt(prompt string, mark byte) {
	e.term.SetPrompt(prompt)
	e.marks <- mark
}

// applyControlKey handles one of this package's control keys. It is called by the editing
// goroutine.
func (e *editor) applyControlKey(line string, at int, key rune) (changed string, pos int, ok bool) {
	if key == keyEnd {
		return e.handleCtrlD(line, at)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch key {
	case keyStash:
		if e.question == 0 {
			e.stashed = line
		}
		e.question = e.opening
	case keyRestore:
		if e.question != 0 {
			changed, e.stashed = e.stashed, ""
		} else {
			changed = line
		}
		e.question = 0
	case keyClear:
	case keyAskDraft:
		e.drafts <- line != ""
		changed = line
	default:
		return "", 0, false
	}
	return changed, len(changed), true
}

// handleCtrlD ends the input on an empty line, and else deletes the character at the cursor.
func (e *editor) handleCtrlD(line string, at int) (changed string, pos int, ok bool) {
	if line != "" {
		_, n := utf8.DecodeRuneInString(line[at:])
		return line[:at] + line[at+n:], at, true
	}
	select {
	case e.lines <- typed{ended: true}:
	case <-e.over:
	}
	return "", 0, true
}

// Add, Len and At provide the lines for the arrow keys, in a circle: the sent lines, or the answers
// that a question offers.
func (e *editor) Add(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.question == 0 && line != "" {
		e.past = append([]string{line}, e.past[:min(len(e.past), 99)]...)
	}
}

// Len implements [term.History].
func (e *editor) Len() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !e.asking:
		return len(e.past)
	case len(e.choices) == 0:
		return 0
	}
	return 1 << 20
}

// At implements [term.History].
func (e *editor) At(i int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asking {
		return e.choices[i%len(e.choices)]
	}
	return e.past[i]
}

// Read provides golang.org/x/term with the user's keys and, outside of pastes, the package's
// control keys.
//
// The library counts one column for every character. After wide or zero-width characters, and after
// a change by a control key, Read makes it draw the line again.
func (e *editor) Read(p []byte) (int, error) {
	if e.redraw {
		_, _ = e.term.Write(nil)
	}
	for len(e.rest) == 0 {
		marks := e.marks
		if e.pasting || len(e.held) > 0 {
			marks = nil
		}
		select {
		case b, ok := <-e.keys:
			if !ok {
				return 0, io.EOF
			}
			e.rest = e.filterKeys(append(e.held, b...))
			e.redraw = bytes.IndexFunc(e.rest, func(r rune) bool { return r > '~' }) >= 0 ||
				e.redraw && bytes.IndexByte(e.rest, '\r') < 0
		case m := <-marks:
			e.rest, e.redraw = []byte{m}, true
		case <-e.over:
			return 0, io.EOF
		}
	}
	n := copy(p, e.rest)
	if e.rest = e.rest[n:]; n == 0 {
		return 0, io.EOF // a sequence without an end
	}
	return n, nil
}

// Write writes the library's output to the terminal. It erases a line from the true beginning of
// its row.
func (e *editor) Write(p []byte) (int, error) {
	q := p
	if bytes.Contains(p, []byte("\x1b[K")) {
		q = append([]byte("\r"), p...)
	}
	if err := e.screen.WriteAll(q, cli.TerminalPatience); err != nil {
		return 0, err
	}
	return len(p), nil
}
