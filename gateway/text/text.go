// Package text describes terminals in words: the header over a screen, who has the keyboard, what
// became of an input, which rows changed. The MCP server and the command line use the same words.
// The package is pure: it does no I/O, has no clock, and every function may be called from any
// goroutine.
//
// Rows and columns count from 1 in these texts, as editors show them; on the wire they count from
// 0.
package text

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// Bounds of foreign texts, in characters.
const (
	maxCommand = 60
	maxName    = 32
)

// Line describes a session in a list. For an ended one, only its state matters.
func Line(s protocol.SessionInfo, self string, now time.Time) string {
	if hasExited(s) {
		return s.SessionID + " " + State(s)
	}
	in, used := "", ""
	if program := Foreground(s); program != "" {
		in = " runs " + strconv.Quote(program)
	}
	if dir := Directory(s); dir != "" {
		in += " in " + strconv.Quote(dir)
	}
	if ago := LastUse(s, now); ago != "" {
		used = " used " + ago + " ago"
	}
	return fmt.Sprintf("%s %q%s %dx%d %s%s idle %s keyboard: %s",
		s.SessionID, Command(s), in, s.Cols, s.Rows, State(s), used,
		Span(time.Duration(s.IdleMs)*time.Millisecond), Keyboard(s.Keyboard, self, now))
}

// Foreground names the foreground program if it is not the session's own; "" if it is, or is
// unknown.
func Foreground(s protocol.SessionInfo) string {
	program := Name(s.Foreground)
	if s.State != protocol.StateRunning || program == Name(path.Base(s.Command)) {
		return ""
	}
	return program
}

// Directory is the foreground program's directory, or the one in which the session was started.
func Directory(s protocol.SessionInfo) string {
	return shorten(cmp.Or(s.Directory, s.Cwd), maxCommand)
}

// LastUse says how long ago the user typed there last, "" for never.
func LastUse(s protocol.SessionInfo, now time.Time) string {
	if s.UsedAt == 0 || s.State != protocol.StateRunning {
		return ""
	}
	return Span(max(time.Second, now.Sub(time.UnixMilli(s.UsedAt))))
}

// State describes the state of a session: "running", "lost", "exited 1", "exited by SIGKILL";
// "running headless" for one that an agent started, with no user's terminal; "running kept" and
// "kept, detached since 2 Jan 15:04" for one that outlives its user's window.
func State(s protocol.SessionInfo) string {
	switch {
	case s.State != protocol.StateRunning:
	case s.Headless:
		return s.State + " headless"
	case s.DetachedAt != 0:
		return "kept, detached since " + time.UnixMilli(s.DetachedAt).Format("2 Jan 15:04")
	case s.Kept && s.Blackout == nil:
		return s.State + " kept"
	}
	return stateWords(s, nil)
}

func stateWords(s protocol.SessionInfo, a *protocol.Activity) string {
	switch {
	case s.State == protocol.StateExited && s.Signal != "":
		return "exited by " + Name(s.Signal)
	case s.State == protocol.StateExited:
		return "exited " + strconv.Itoa(s.ExitCode)
	case s.State == protocol.StateLost && s.Moving:
		return "moving to another gateway"
	case s.State == protocol.StateLost:
		return "lost"
	case s.Blackout != nil:
		return hiddenState(s.Blackout)
	case a != nil && a.State == protocol.StateExited:
		return exitedWords(a)
	}
	if how := Waiting(a); how != "" {
		return "waiting for input (" + how + ")"
	}
	return protocol.StateRunning
}

// ExitStatus describes how a program ended: "exit status 2", "exit status 137: SIGKILL", "exit
// status 137: signal 9" if only the number is known.
func ExitStatus(code int, signal string) string {
	how := "exit status " + strconv.Itoa(code)
	switch {
	case signal != "":
		how += ": " + Name(signal)
	case code > 128: // a shell's code for a signal
		how += ": signal " + strconv.Itoa(code-128)
	}
	return how
}

// exitedWords describes how a program ended, as far as the activity says.
func exitedWords(a *protocol.Activity) string {
	switch {
	case a.Signal != "":
		return "exited by " + Name(a.Signal)
	case a.ExitCode != nil:
		return "exited " + strconv.Itoa(*a.ExitCode)
	}
	return "exited"
}

// Command is the program and its arguments on one line, cut to fit a header.
func Command(s protocol.SessionInfo) string {
	words := append([]string{path.Base(s.Command)}, s.Args...)
	return shorten(strings.Join(words, " "), maxCommand)
}

// Name makes a foreign name (of an agent, a signal, an MCP client) fit for a sentence: one line, no
// invisible characters, at most 32 in all.
func Name(s string) string { return shorten(s, maxName) }

func shorten(s string, limit int) string {
	s = OneLine(s)
	if r := []rune(s); len(r) > limit {
		return strings.TrimSpace(string(r[:limit-1])) + "…"
	}
	return s
}

// Keyboard names the holder of the keyboard, as the agent self reads it: "user", "user (claude
// asks)", "you (drive, 4m left)", "you, paused: the user is typing", "you (type), held: the user
// has to let it through", "claude (drive)".
func Keyboard(k protocol.Keyboard, self string, now time.Time) string {
	if k.Holder != protocol.HolderAgent {
		if k.Asking != "" {
			return "user (" + Name(k.Asking) + " asks)"
		}
		return "user"
	}
	holder := "you"
	if self == "" || k.AgentID != self {
		if holder = Name(k.AgentName); holder == "" {
			holder = "an agent"
		}
	}
	switch {
	case k.Away && k.Program == "":
		return holder +
			", paused: a user's rule keeps agents out of the program that has the terminal"
	case k.Away:
		return holder + ", paused: the grant is for " + strconv.Quote(Name(k.Program)) +
			", and another program has the terminal"
	case k.Paused:
		return holder + ", paused: the user is typing"
	}
	if grant := Grant(k.Level, k.ExpiresAt, now); grant != "" {
		holder += " (" + grant + ")"
	}
	if k.Program != "" {
		holder += ", for " + strconv.Quote(Name(k.Program)) + " only"
	}
	switch {
	case k.HeldWhy == protocol.HeldLine:
		holder += ", held: the user has not submitted the line " + strconv.Quote(Clean(k.HeldLine))
	case k.Held:
		holder += ", held: the user has to let it through"
	}
	return holder
}

// Grant describes the level of a grant and its remaining time: "drive, 4m left". expiresAt is in
// Unix milliseconds, 0 for a grant without an end.
func Grant(level protocol.Level, expiresAt int64, now time.Time) string {
	words := string(level)
	if expiresAt == 0 {
		return words
	}
	if words != "" {
		words += ", "
	}
	left := max(0, time.UnixMilli(expiresAt).Sub(now))
	if left >= time.Minute-answerDelay {
		left += answerDelay
	}
	return words + Span(left) + " left"
}

// answerDelay is the longest that a grant's answer takes to its reader: ten minutes that were just
// granted must not read as nine.
const answerDelay = 5 * time.Second

// Span formats a duration in one unit, rounded down: 340ms, 12s, 4m, 3h.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < time.Minute:
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	case d < time.Hour:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	}
	return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
}
