// Package guard decides whether a program is asking the user for a secret. It is pure: it is told what the line settings,
// the cursor's row and the foreground program are, and keeps no clock. One goroutine owns a [Guard].
//
// A hard prompt is one that the kernel shows: the line settings (termios(3)) have echo off while the line is edited by the
// kernel (ICANON), or while at least the newline is echoed (ECHONL). No program but one that reads a secret wants that. A
// soft prompt is a guess: a program that reads keys raw, as an editor does, but with the words of a password prompt left of
// the cursor, or known by its name or arguments to ask for passwords, or that answers each key of the user with a sign. Prompts of programs on another machine are always soft, since only
// their text is seen here. Soft prompts are found at best effort, and the user can dismiss them.
package guard

import "time"

// Linger is how long the guard stays on after its condition has ended: programs ask twice, and turn echo on in between.
const Linger = 300 * time.Millisecond

// Kind says how sure the guard is, from not at all to certain.
type Kind uint8

// The kinds.
const (
	Off Kind = iota
	Soft
	Hard
)

// String is the kind as the wire has it, "" for Off.
func (k Kind) String() string { return [...]string{Off: "", Soft: "soft", Hard: "hard"}[k] }

// Line is the part of the terminal's line settings that matters (termios(3)).
type Line struct {
	Canonical   bool // ICANON: the kernel edits the line, the program gets it whole
	Echo        bool // ECHO: what is typed is shown
	EchoNewline bool // ECHONL: the newline is shown, whatever ECHO says
}

// Raw reports whether the program reads keys one by one and shows itself what it wants to be seen.
func (l Line) Raw() bool { return !l.Canonical && !l.Echo && !l.EchoNewline }

// Place is a line of the terminal, to tell one prompt from the next.
type Place struct {
	Alt  bool
	Line uint64 // counted from the first line of all on the main screen, from the top on the alternate one
}

// Facts is what the guard judges by.
type Facts struct {
	// Known is false when the line settings cannot be read, as when the program has ended: nobody asks then.
	Known bool
	Line  Line
	// Mute says that the line had no echo from the start, so that its absence says nothing: nobody types there.
	Mute bool
	// Left and Right are the text of the cursor's row before the cursor, with its blanks, and from it on.
	Left, Right string
	Place       Place
	// Paste says that the program takes bracketed pastes: it edits a text or a command line.
	Paste bool
	// Foreground names the program in the foreground, then the one that it has started, and so on, as the kernel knows
	// them (at most 15 bytes each); empty for unknown. It is asked for only when the answer matters, since it takes a look
	// at /proc, and may be nil.
	Foreground func() []string
	// Arguments are those of the program that was started last of these, its own name first. They are asked for when that
	// program is one that draws forms, and may be nil.
	Arguments func() []string
	// Masked says that what the user types is answered by signs, see [Masks].
	Masked bool
}

// Guard keeps the decision from one look to the next. The zero Guard is off.
type Guard struct {
	kind      Kind
	since     time.Time
	ends      time.Time // when it goes off, zero while its condition holds
	dismissed bool
	place     Place // of the prompt that is dismissed
}

// See takes a look and reports the kind from now on. It is to be called before anything is shown to agents or typed by
// them, after output, and at [Guard.Next].
func (g *Guard) See(now time.Time, f Facts) Kind {
	kind := Judge(f)
	if g.dismissed && (kind == Off || f.Place != g.place) {
		g.dismissed = false
	}
	switch {
	case g.dismissed:
		g.kind = Off
	case kind != Off:
		g.begin(now, kind)
	case g.kind == Off:
	case g.ends.IsZero():
		g.ends = now.Add(Linger)
	case !now.Before(g.ends):
		g.kind = Off
	}
	return g.kind
}

// Spot says that somebody else saw a prompt of this kind, which may be over already.
func (g *Guard) Spot(now time.Time, kind Kind) {
	if g.dismissed || kind == Off {
		return
	}
	g.begin(now, max(kind, g.kind))
	g.ends = now.Add(Linger)
}

func (g *Guard) begin(now time.Time, kind Kind) {
	if g.kind == Off {
		g.since = now
	}
	g.kind, g.ends = kind, time.Time{}
}

// Dismiss turns the guard off for the prompt at place: the user says that it is none, or that an agent may answer it.
func (g *Guard) Dismiss(place Place) {
	if g.kind != Off {
		g.kind, g.dismissed, g.place = Off, true, place
	}
}

// Dismissed reports whether there is a prompt that the user dismissed.
func (g *Guard) Dismissed() bool { return g.dismissed }

// Kind is the present decision.
func (g *Guard) Kind() Kind { return g.kind }

// Holds reports whether the guard is on and its condition held at the last look.
func (g *Guard) Holds() bool { return g.kind != Off && g.ends.IsZero() }

// Since is when the guard went on.
func (g *Guard) Since() time.Time { return g.since }

// Next is when the guard goes off by itself unless something happens; false when only another look can say.
func (g *Guard) Next() (time.Time, bool) { return g.ends, g.kind != Off && !g.ends.IsZero() }
