package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// Known holds the facts that one reader already knows about one terminal: answers repeat only those
// that changed. A new one is empty, and so is a nil *Known. Two goroutines must not use it at once.
type Known struct {
	// Rev is the newest revision whose rows the reader has seen, 0 without one.
	Rev uint64

	program, modes, keyboard, guess, hidden, notes, highlights, title, progress fact
}

// fact is one fact as the reader last read it.
type fact string

// update records the present state, and reports whether it is new to the reader.
func (t *fact) update(now string) bool {
	last := *t
	*t = fact(now)
	return string(last) != now
}

// Header is the first line of an answer about a screen:
//
//	vim-k3f9 rev 412 cursor 5,12 waiting "vim notes.txt" 80x24 alt-screen mouse keyboard: user
//
// It leaves out the program, the size, the modes and the keyboard that the reader already knows.
// The word mouse means that the program listens to it. A second line describes a hidden screen.
// self is the reader's own agent id, "" before it has one. The window's title is not in the header:
// the program chooses it, and readers must be able to trust a header.
func Header(
	s protocol.SessionInfo, f *protocol.Frame, self string, now time.Time, known *Known,
) string {
	if known == nil {
		known = new(Known)
	}
	words := []string{s.SessionID, "rev " + strconv.FormatUint(f.Seq, 10)}
	if !f.Blackout.ByUser() {
		cursor := f.Screen.Cursor
		words = append(words, "cursor "+Place(protocol.Cell{Row: cursor.Row, Col: cursor.Col}))
		if !cursor.Visible {
			words = append(words, "(hidden)")
		}
	}
	words = append(words, known.programState(s, f)+repaintWords(f.Repainting))
	program := fmt.Sprintf("%q %dx%d", Command(s), f.Screen.Cols, f.Screen.Rows)
	if known.program.update(program) {
		words = append(words, program)
	}
	if s.State == protocol.StateExited || s.State == protocol.StateLost || IsLastFrame(f) {
		// An ended program has no modes and no keyboard.
		return strings.Join(words, " ")
	}
	first, modes := known.modes == "", describeModes(f.Screen)
	if known.modes.update(modes) && (!first || modes != mainScreen) {
		words = append(words, modes)
	}
	if known.keyboard.update(keyboardFact(f.Keyboard, self, now)) {
		words = append(words, "keyboard: "+Keyboard(f.Keyboard, self, now))
	}
	out := strings.Join(words, " ")
	if note := Hidden(f.Blackout); known.hidden.update(note) && note != "" {
		out += "\n" + note
	}
	return out
}

// mainScreen describes a program that has left the alternate screen.
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

// keyboardFact describes the holder of the keyboard, without the remaining time of a grant until
// its last minute.
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

// programState describes the program's state: "waiting", "running, idle 12s", "exited 1". It gives
// a guess in full once.
func (t *Known) programState(s protocol.SessionInfo, f *protocol.Frame) string {
	a, guess := f.Activity, ""
	if a != nil && a.State == "busy" {
		guess = Waiting(a)
	}
	news := t.guess.update(guess)
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
