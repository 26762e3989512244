package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// Told remembers the facts that one reader has about one terminal: answers repeat only those that
// changed. A new one is empty, and so is a nil *Told. Two goroutines must not use it at once.
type Told struct {
	// Rev is the newest revision whose rows the reader has seen, 0 without one.
	Rev uint64

	program, modes, keyboard, guess, hidden, notes, highlights, title, progress fact
}

// fact is the last word on one matter.
type fact string

// recordNews records the present state, and reports whether it is news.
func (t *fact) recordNews(now string) bool {
	last := *t
	*t = fact(now)
	return string(last) != now
}

// Header is the first line of an answer about a screen:
//
//	vim-k3f9 rev 412 cursor 5,12 waiting "vim notes.txt" 80x24 alt-screen mouse keyboard: user
//
// It leaves out the program, the size, the modes and the keyboard that the reader knows by told.
// The word mouse says that the program listens to it. A second line tells of a hidden screen. self
// is the reader's own agent id, "" when it has none yet. The window's title has no place here: the
// program chooses it, and a header must be believed.
func Header(
	s protocol.SessionInfo, f *protocol.Frame, self string, now time.Time, told *Told,
) string {
	if told == nil {
		told = new(Told)
	}
	words := []string{s.SessionID, "rev " + strconv.FormatUint(f.Seq, 10)}
	if !f.Blackout.ByUser() {
		cursor := f.Screen.Cursor
		words = append(words, "cursor "+Place(protocol.Cell{Row: cursor.Row, Col: cursor.Col}))
		if !cursor.Visible {
			words = append(words, "(hidden)")
		}
	}
	words = append(words, told.programState(s, f)+repaintWords(f.Repainting))
	program := fmt.Sprintf("%q %dx%d", Command(s), f.Screen.Cols, f.Screen.Rows)
	if told.program.recordNews(program) {
		words = append(words, program)
	}
	if s.State == protocol.StateExited || s.State == protocol.StateLost || IsLastFrame(f) {
		// It has no modes, and no one types.
		return strings.Join(words, " ")
	}
	first, modes := told.modes == "", describeModes(f.Screen)
	if told.modes.recordNews(modes) && (!first || modes != mainScreen) {
		words = append(words, modes)
	}
	if told.keyboard.recordNews(keyboardFact(f.Keyboard, self, now)) {
		words = append(words, "keyboard: "+Keyboard(f.Keyboard, self, now))
	}
	out := strings.Join(words, " ")
	if note := Hidden(f.Blackout); told.hidden.recordNews(note) && note != "" {
		out += "\n" + note
	}
	return out
}

// mainScreen is the word for a program that has left the alternate screen.
const mainScreen = "main-screen"

func describeModes(s protocol.Screen) string {
	words := mainScreen
	if s.Alt {
		words = "alt-screen"
	}
	if s.Modes.Mouse {
		words += " mouse"
	}
	return words
}

// keyboardFact words the holder of the keyboard, without the remaining time of a grant until its
// last minute.
func keyboardFact(k protocol.Keyboard, self string, now time.Time) string {
	if k.ExpiresAt == 0 {
		return Keyboard(k, self, now)
	}
	soon := time.UnixMilli(k.ExpiresAt).Sub(now) < time.Minute
	k.ExpiresAt = 0
	return fmt.Sprint(Keyboard(k, self, now), soon)
}

// repaintWords names the rows that the program keeps repainting: " (rows 1-3, 7 keep changing)".
func repaintWords(rows []int) string {
	if len(rows) == 0 {
		return ""
	}
	var spans []string
	for i := 0; i < len(rows); {
		last := i
		for last+1 < len(rows) && rows[last+1] == rows[last]+1 {
			last++
		}
		span := strconv.Itoa(rows[i] + 1)
		if last > i {
			span += "-" + strconv.Itoa(rows[last]+1)
		}
		spans, i = append(spans, span), last+1
	}
	if len(rows) == 1 {
		return " (row " + spans[0] + " keeps changing)"
	}
	return " (rows " + strings.Join(spans, ", ") + " keep changing)"
}

// programState words the program's state: "waiting", "running, idle 12s", "exited 1". It gives a
// guess in full once.
func (t *Told) programState(s protocol.SessionInfo, f *protocol.Frame) string {
	a, guess := f.Activity, ""
	if a != nil && a.State == "busy" {
		guess = Waiting(a)
	}
	news := t.guess.recordNews(guess)
	s.Blackout = f.Blackout // newer than the list's
	switch {
	case s.State == protocol.StateExited || s.State == protocol.StateLost || s.Blackout != nil:
		return stateWords(s, nil)
	case a != nil && a.State == protocol.StateExited:
		return exitedWords(a)
	case f.Starting:
		return protocol.StateRunning + " (still empty: the program is starting)"
	case a != nil && a.OutputStopped:
		return outputStopped
	case guess != "" && news:
		return "waiting (" + guess + ")"
	case guess != "":
		return "waiting (guess)"
	case a != nil && a.State == "waiting" && a.LastExit != nil:
		return fmt.Sprintf("waiting (last exit %d)", *a.LastExit)
	case a != nil && a.State == "waiting":
		return "waiting"
	}
	if quiet := time.Duration(f.IdleMs) * time.Millisecond; quiet >= time.Second {
		return protocol.StateRunning + ", idle " + Span(quiet)
	}
	return protocol.StateRunning
}
