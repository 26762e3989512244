// Package secretprompt decides whether a program is asking the user for a secret. One goroutine
// owns a [Detector].
//
// A hard prompt is one that the kernel shows: the line settings (termios(3)) have echo off while
// the line is edited by the kernel (ICANON), or while at least the newline is echoed (ECHONL). No
// program but one that reads a secret wants that. A soft prompt is a guess: a program that reads
// keys raw, as an editor does, but with the words of a password prompt left of the cursor, or known
// by its name or arguments to ask for passwords, or that answers each key of the user with a sign.
// Prompts of programs on another machine are always soft, since only their text is seen here. Soft
// prompts are found at best effort, and the user can dismiss them.
//
// It is pure: it is told what the line settings, the cursor's row and the foreground program are,
// and must not know the terminal, the processes or the clock.
package secretprompt

import (
	"time"

	"terminalproxy/protocol"
)

// Linger is how long a prompt counts after its condition has ended: programs ask twice, and turn
// echo on in between.
const Linger = 300 * time.Millisecond

// Line is the part of the terminal's line settings that matters (termios(3)).
type Line struct {
	Canonical   bool // ICANON: the kernel edits the line, the program gets it whole
	Echo        bool // ECHO: typed characters are shown
	EchoNewline bool // ECHONL: the newline is shown, even without ECHO
}

// IsRaw reports whether the program reads keys one by one and shows itself what it wants to be
// seen.
func (l Line) IsRaw() bool { return !l.Canonical && !l.Echo && !l.EchoNewline }

// Place is a line of the terminal, to tell one prompt from the next.
type Place struct {
	Alt  bool
	Line uint64 // from the first line of all on the main screen, from the top on the alternate one
}

// Facts is what the detector judges by.
type Facts struct {
	// Known is false when the line settings cannot be read, as when the program has ended: then
	// there is no prompt.
	Known bool
	Line  Line
	// Left and Right are the text of the cursor's row before the cursor, with its blanks, and from
	// it on.
	Left, Right string
	Place       Place
	// Paste says that the program takes bracketed pastes: it edits a text or a command line.
	Paste bool
	// Foreground names the program in the foreground, then the one that it has started, and so on,
	// as the kernel knows them (at most 15 bytes each); empty for unknown. It is asked for only
	// when the answer matters, since it takes a look at /proc, and may be nil.
	Foreground func() []string
	// Arguments are those of the program that was started last of these, its own name first. They
	// are asked for when that program is one that draws forms, and may be nil.
	Arguments func() []string
	// Masked says that what the user types is answered by signs, see [Masks].
	Masked bool
}

// Detector keeps the decision from one look to the next. The zero Detector is off.
type Detector struct {
	kind      protocol.SecretPrompt
	since     time.Time
	ends      time.Time // when it goes off, zero while its condition holds
	dismissed bool
	place     Place // of the dismissed prompt
}

// UpdateKind takes a look and reports the kind from now on. Call it before anything is shown to
// agents or typed by them, after output, and at [Detector.Next].
func (d *Detector) UpdateKind(now time.Time, f Facts) protocol.SecretPrompt {
	kind := Judge(f)
	if d.dismissed && (kind == protocol.SecretNone || f.Place != d.place) {
		d.dismissed = false
	}
	switch {
	case d.dismissed:
		d.kind = protocol.SecretNone
	case kind != protocol.SecretNone:
		d.beginPrompt(now, kind)
	case d.kind == protocol.SecretNone:
	case d.ends.IsZero():
		d.ends = now.Add(Linger)
	case !now.Before(d.ends):
		d.kind = protocol.SecretNone
	}
	return d.kind
}

// NoteHardPrompt says that another part of the proxy saw a hard prompt, which may be over already.
func (d *Detector) NoteHardPrompt(now time.Time) {
	if d.dismissed {
		return
	}
	d.beginPrompt(now, protocol.SecretHard)
	d.ends = now.Add(Linger)
}

func (d *Detector) beginPrompt(now time.Time, kind protocol.SecretPrompt) {
	if d.kind == protocol.SecretNone {
		d.since = now
	}
	d.kind, d.ends = kind, time.Time{}
}

// DismissPrompt turns the detector off for the prompt at place: the user says that it asks for no
// secret, or that an agent may answer it.
func (d *Detector) DismissPrompt(place Place) {
	if d.kind != protocol.SecretNone {
		d.kind, d.dismissed, d.place = protocol.SecretNone, true, place
	}
}

// IsDismissed reports whether there is a prompt that the user dismissed.
func (d *Detector) IsDismissed() bool { return d.dismissed }

// Kind is the present decision.
func (d *Detector) Kind() protocol.SecretPrompt { return d.kind }

// IsPromptPresent reports whether a prompt counts and its condition held at the last look.
func (d *Detector) IsPromptPresent() bool {
	return d.kind != protocol.SecretNone && d.ends.IsZero()
}

// PromptSince is when the present prompt was found.
func (d *Detector) PromptSince() time.Time { return d.since }

// Next is when the prompt stops counting by itself unless something happens; false when only
// another look can say.
func (d *Detector) Next() (time.Time, bool) {
	return d.ends, d.kind != protocol.SecretNone && !d.ends.IsZero()
}
