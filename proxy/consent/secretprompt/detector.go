// Package secretprompt decides whether a program is asking the user for a secret. One goroutine
// owns a [Detector].
//
// A hard prompt is visible in the kernel: the line settings (termios(3)) have echo off while the
// kernel edits the line (ICANON), or while at least the newline is echoed (ECHONL). Only programs
// that read a secret set that. A soft prompt is a guess about a program that reads raw keys, as an
// editor does: the words of a password prompt stand left of the cursor, or the program is known by
// its name or arguments to ask for passwords, or it answers each key of the user with a sign.
// Prompts of programs on another machine are always soft, since only their text is visible here.
// Soft prompts are found on a best-effort basis, and the user can dismiss them.
//
// It is pure: its caller passes the line settings, the cursor's row and the foreground program. It
// must not access the terminal, processes or the clock.
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

// IsRaw reports whether the program reads keys one by one and draws its own echo.
func (l Line) IsRaw() bool { return !l.Canonical && !l.Echo && !l.EchoNewline }

// Place identifies a line of the terminal, to tell prompts apart.
type Place struct {
	Alt bool
	// counted from the first line ever on the main screen, from the top on the alternate one
	Line uint64
}

// Facts is the detector's input.
type Facts struct {
	// Known is false if the line settings cannot be read, for example because the program has
	// ended. Then there is no prompt.
	Known bool
	Line  Line
	// Left and Right are the text of the cursor's row before the cursor, including blanks, and from
	// the cursor on.
	Left, Right string
	Place       Place
	// Paste is set if the program accepts bracketed pastes: it edits a text or a command line.
	Paste bool
	// Foreground returns the name of the foreground program, of the one that it started, and so on,
	// as the kernel reports them (at most 15 bytes each); empty if unknown. It reads /proc, so it
	// is called only when the answer matters. It may be nil.
	Foreground func() []string
	// Arguments returns the arguments of the last of these programs, beginning with its own name.
	// It is called only if that program draws forms, and may be nil.
	Arguments func() []string
	// Masked is set if the program shows signs for the user's keys, see [Masks].
	Masked bool
}

// Detector keeps the decision between updates. The zero Detector reports no prompt.
type Detector struct {
	kind      protocol.SecretPrompt
	since     time.Time
	ends      time.Time // when the prompt stops counting, zero while its condition holds
	dismissed bool
	place     Place // of the dismissed prompt
}

// UpdateKind updates the decision from f and returns it. Call it before anything is shown to agents
// or typed by them, after output, and at [Detector.Next].
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

// NoteHardPrompt notes that another part of the proxy saw a hard prompt, which may be over already.
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

// DismissPrompt ignores the prompt at place: the user decided that it asks for no secret, or that
// an agent may answer it.
func (d *Detector) DismissPrompt(place Place) {
	if d.kind != protocol.SecretNone {
		d.kind, d.dismissed, d.place = protocol.SecretNone, true, place
	}
}

// IsDismissed reports whether there is a prompt that the user dismissed.
func (d *Detector) IsDismissed() bool { return d.dismissed }

// Kind returns the present decision.
func (d *Detector) Kind() protocol.SecretPrompt { return d.kind }

// IsPromptPresent reports whether a prompt counts, and its condition was true at the last update.
func (d *Detector) IsPromptPresent() bool {
	return d.kind != protocol.SecretNone && d.ends.IsZero()
}

// PromptSince returns when the present prompt was found.
func (d *Detector) PromptSince() time.Time { return d.since }

// Next returns when the prompt stops counting without a further event; false if only the next
// update can tell.
func (d *Detector) Next() (time.Time, bool) {
	return d.ends, d.kind != protocol.SecretNone && !d.ends.IsZero()
}
