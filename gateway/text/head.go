package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// Told is what one reader was told of one terminal: an answer repeats none of it while it stays the same. A new one knows of
// nothing, and so does a nil *Told. Two goroutines must not use it at once.
type Told struct {
	// Rev is the newest revision whose rows it was shown, 0 for none.
	Rev uint64

	program, modes, keyboard, guess, hidden, notes, highlights, title, progress fact
}

// fact is what was said last of something.
type fact string

// is keeps what is so now, and reports whether that is news.
func (t *fact) is(now string) bool {
	was := *t
	*t = fact(now)
	return string(was) != now
}

// Header is the line that comes first in an answer about a screen:
//
//	vim-k3f9 rev 412 cursor 5,12 waiting "vim notes.txt" 80x24 alt-screen mouse keyboard: user
//
// It leaves out what told says of the program, the size, the modes and the keyboard. The word mouse says that the program
// listens to it. A second line says what is hidden from the screen, if something is. self is the reader's own agent id, ""
// when it has none yet. The window's title is no part of it: the program chooses that, and a header must be believed.
func Header(s protocol.SessionInfo, f *protocol.Frame, self string, now time.Time, told *Told) string {
	if told == nil {
		told = new(Told)
	}
	words := []string{s.SessionID, "rev " + strconv.FormatUint(f.Seq, 10)}
	if !f.Blackout.ByUser() {
		words = append(words, "cursor "+Place(protocol.Cell{Row: f.Screen.Cursor.Row, Col: f.Screen.Cursor.Col}))
		if !f.Screen.Cursor.Visible {
			words = append(words, "(hidden)")
		}
	}
	words = append(words, told.state(s, f))
	if program := fmt.Sprintf("%q %dx%d", Command(s), f.Screen.Cols, f.Screen.Rows); told.program.is(program) {
		words = append(words, program)
	}
	if s.State == protocol.StateExited || s.State == protocol.StateLost { // it has neither
		return strings.Join(words, " ")
	}
	if first, modes := told.modes == "", modes(f.Screen); told.modes.is(modes) && (!first || modes != mainScreen) {
		words = append(words, modes)
	}
	if told.keyboard.is(keyboardFact(f.Keyboard, self, now)) {
		words = append(words, "keyboard: "+Keyboard(f.Keyboard, self, now))
	}
	out := strings.Join(words, " ")
	if note := Hidden(f.Blackout); told.hidden.is(note) && note != "" {
		out += "\n" + note
	}
	return out
}

// mainScreen is said of a program that has left the alternate screen.
const mainScreen = "main-screen"

func modes(s protocol.Screen) string {
	words := mainScreen
	if s.Alt {
		words = "alt-screen"
	}
	if s.Modes.Mouse {
		words += " mouse"
	}
	return words
}

// keyboardFact is who has the keyboard, but for the time that is left of a grant until its last minute.
func keyboardFact(k protocol.Keyboard, self string, now time.Time) string {
	if k.ExpiresAt == 0 {
		return Keyboard(k, self, now)
	}
	soon := time.UnixMilli(k.ExpiresAt).Sub(now) < time.Minute
	k.ExpiresAt = 0
	return fmt.Sprint(Keyboard(k, self, now), soon)
}

// state is what the program does: "waiting", "running, idle 12s", "exited 1". A guess is said in full once.
func (t *Told) state(s protocol.SessionInfo, f *protocol.Frame) string {
	a, guess := f.Activity, ""
	if a != nil && a.State == "busy" {
		guess = Waiting(a)
	}
	news := t.guess.is(guess)
	s.Blackout = f.Blackout // newer than the list's
	switch {
	case s.State == protocol.StateExited || s.State == protocol.StateLost || s.Blackout != nil:
		return state(s, nil)
	case a != nil && a.State == protocol.StateExited:
		return exited(a)
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
