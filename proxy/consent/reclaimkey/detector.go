// Package reclaimkey separates the user's keys, the reclaim key among them, from the reports of
// their terminal. It cuts the keyboard's bytes into units, removes the answers to the proxy's own
// questions, and counts the typed characters without storing them. It must not depend on what keys
// mean to control.
package reclaimkey

import (
	"slices"
	"sync/atomic"

	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/consent/secretprompt"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/screen"
)

// Detector adapts the scanner of package keys to the pump. It also removes the answers to the
// questions that the proxy itself asks the terminal, such as the cursor's position: they must not
// be typed into the program. Terminals answer questions in order, so it keeps that order. Owned by
// the pump's goroutine, except CountTyped and TypedByUser.
type Detector struct {
	*keys.Scanner
	// expected holds an entry for each unanswered question for the cursor, oldest first: the
	// proxy's callback for the answer, or nil for a question of the program.
	expected []func(row int)
	// clusters receives the answer to the question for the terminal's clusters; nil if no answer is
	// expected.
	clusters func(screen.Clusters)
	// hasAnswered: the terminal has answered a question of the proxy for its cursor.
	hasAnswered bool
	// onAllAnswered is called when the terminal has answered all of the proxy's questions; it may
	// be nil.
	onAllAnswered func()
	proxy         KeyHandler
	// dropAnswers drops the answers of a terminal that was not asked: that of a person who watches
	// from elsewhere.
	dropAnswers bool
	// typed counts the characters that the user types, without storing them.
	typed tally
}

// KeyHandler receives the keys that may be for the proxy itself. Its methods run on the pump's
// goroutine.
type KeyHandler interface {
	// NoteActivity notes that a person pressed a key or pasted.
	NoteActivity()
	// AddKey reports whether a unit belongs to what the user writes for the proxy, and returns the
	// part that does not.
	AddKey(u keys.Unit, inPaste bool) (rest []byte, took bool)
	// ChooseInMenu reports whether a letter was for the proxy.
	ChooseInMenu(letter byte) bool
}

// New returns a detector. With mute it drops the answers of a terminal that was not asked.
func New(with keys.Bindings, proxy KeyHandler, mute bool) *Detector {
	return &Detector{Scanner: keys.NewScanner(with), proxy: proxy, dropAnswers: mute}
}

// maxExpected bounds the questions that a terminal may leave unanswered.
const maxExpected = 64

var kinds = [...]pump.Kind{
	keys.Key: pump.Key, keys.Reclaim: pump.Reclaim,
	keys.Release: pump.Release, keys.Confirm: pump.Confirm,
	keys.ConfirmRepeat: pump.ConfirmRepeat, keys.Idle: pump.Report,
	keys.Reply: pump.Report, keys.Focus: pump.Report,
	keys.Motion: pump.Report, keys.Mouse: pump.Key,
	keys.PasteStart: pump.PasteStart, keys.Paste: pump.Paste, keys.PasteEnd: pump.PasteEnd,
}

// Scan implements [pump.Scanner].
func (d *Detector) Scan(p []byte, emit func(pump.Unit)) {
	d.Scanner.Scan(p, func(u keys.Unit) { d.passUnit(u, emit) })
}

// Flush implements [pump.Scanner].
func (d *Detector) Flush(emit func(pump.Unit)) {
	d.Scanner.Flush(func(u keys.Unit) { d.passUnit(u, emit) })
}

func (d *Detector) passUnit(u keys.Unit, emit func(pump.Unit)) {
	switch u.Kind {
	case keys.Key, keys.Reclaim, keys.Confirm, keys.PasteStart:
		d.proxy.NoteActivity()
	default:
	}
	if u.Kind == keys.Reply && (d.passAnswer(u.Bytes) || d.dropAnswers) {
		return
	}
	if rest, took := d.proxy.AddKey(u, d.IsInPaste()); took {
		if len(rest) == 0 {
			return
		}
		u.Bytes = rest
	}
	if u.Kind == keys.Key {
		if letter, ok := keys.Letter(u.Bytes); ok && d.proxy.ChooseInMenu(letter) {
			return
		}
	}
	if u.Kind == keys.Key || u.Kind == keys.Paste {
		d.typed.addTyped(u.Bytes)
	}
	emit(pump.Unit{Kind: kinds[u.Kind], Bytes: u.Bytes})
}

// passAnswer passes a terminal's reply to the proxy if it answers a question of the proxy, and
// reports whether it does.
func (d *Detector) passAnswer(reply []byte) bool {
	if len(d.expected) > 0 {
		if row, ok := keys.CursorReport(reply); ok {
			take := d.expected[0]
			d.expected = d.expected[1:]
			if take != nil {
				d.hasAnswered = true
				d.clusters = nil // the terminal left the question for clusters unanswered
				take(row)
				d.WhenAnswered(d.onAllAnswered)
				return true
			}
		}
	}
	if d.clusters == nil {
		return false
	}
	mode, state, ok := keys.ModeReport(reply)
	if !ok || mode != 2027 {
		return false
	}
	d.clusters(screen.ReportedClusters(state))
	d.clusters = nil
	return true
}

// ExpectCursor notes that the terminal was asked for its cursor: by the proxy if take receives the
// answer, otherwise by the program.
func (d *Detector) ExpectCursor(take func(row int)) {
	if len(d.expected) == maxExpected {
		return
	}
	d.expected = append(d.expected, take)
	d.ExpectCPR(1)
}

// ExpectClusters notes that the terminal was asked how it counts clusters, and will be asked for
// its cursor next. If it answers only the latter, the former stays unanswered.
func (d *Detector) ExpectClusters(take func(screen.Clusters)) { d.clusters = take }

// WhenAnswered calls do when all questions of the proxy are answered, possibly at once. It replaces
// the function of an earlier call.
func (d *Detector) WhenAnswered(do func()) {
	d.onAllAnswered = do
	isOurs := func(take func(row int)) bool { return take != nil }
	if do == nil || slices.ContainsFunc(d.expected, isOurs) {
		return
	}
	d.onAllAnswered = nil
	do()
}

// HasAnswered reports whether the terminal has answered the proxy's question for its cursor: it
// will answer the next one, too.
func (d *Detector) HasAnswered() bool { return d.hasAnswered }

// Reset forgets all questions and incomplete replies, because another terminal takes over.
func (d *Detector) Reset() {
	d.Scanner.Reset()
	d.expected, d.clusters, d.hasAnswered = nil, nil, false
	d.WhenAnswered(d.onAllAnswered)
}

// CountTyped counts a key or a part of a paste that did not come from the keyboard. Any goroutine
// may call it.
func (d *Detector) CountTyped(b []byte) { d.typed.addTyped(b) }

// TypedByUser returns how much the user has typed so far. Any goroutine may call it.
func (d *Detector) TypedByUser() secretprompt.Typed { return d.typed.current() }

// tally counts what the user types, so that the observer can compare it with the program's output.
// Only the pump adds to it.
type tally struct{ text, signs atomic.Uint64 }

// addTyped counts a key or a part of a paste. A key in one of the newer encodings is a sequence,
// and counts if it is a letter.
func (t *tally) addTyped(b []byte) {
	var added secretprompt.Typed
	if len(b) > 0 && b[0] == 0x1b {
		if _, ok := keys.Letter(b); ok {
			added.Text = 1
		}
	} else {
		added.AddText(b)
	}
	t.signs.Add(added.Signs)
	t.text.Add(added.Text)
}

func (t *tally) current() secretprompt.Typed {
	return secretprompt.Typed{Text: t.text.Load(), Signs: t.signs.Load()}
}
