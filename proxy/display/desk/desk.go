// Package desk asks the user, who is at the session's own terminal, for the secrets that programs
// ask for: a sudo, git or ssh that an agent runs elsewhere. The typed answer reaches neither the
// session's program nor its recording, and leaves the proxy only sealed to the program that asked.
//
// words.go words a question, and keys.go handles the user's keys. The package must not depend on
// how anything is drawn, who may type in the session, or how messages travel.
package desk

import (
	"crypto/ecdh"
	"crypto/hpke"
	"fmt"
	"slices"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// Bounds of questions.
const (
	maxQuestions = 8
	// lostFor is how long a question stays when the gateway is lost: its program repeats it when it
	// reconnects.
	lostFor = 5 * time.Second
	// strayFor is how long keys are dropped after a press of the answer key that did not count, and
	// after each dropped key: a person who has not noticed types the password.
	strayFor = 2 * time.Second
)

// FirstNumber precedes the number of the first question, so that the numbers differ from those of
// control's questions.
const FirstNumber = uint64(1) << 63

// withdrawn is the fate of a question beside the verdicts of the wire.
const withdrawn = "withdrawn"

// Outcome is the end of a question, for the recording.
type Outcome struct {
	Agent, Program, Command, Prompt string
	Chain                           []string
	Fate                            string // a verdict of the protocol's, or withdrawn
	By                              string // the person elsewhere who answered, or ""
	Took                            time.Duration
}

// Config connects a [Desk]. Its functions return at once, and may be called on any goroutine.
type Config struct {
	SessionID string
	Send      func(protocol.Message)
	Repaint   func()
	// CanAsk reports whether a person can read a question here, and answer it.
	CanAsk func() bool
	// CanAskElsewhere reports whether a person who is not here may answer.
	CanAskElsewhere func() bool
	// Show shows the user a text for a moment.
	Show func(text string)
	// Ended receives the outcome of each question.
	Ended func(Outcome)
	// Home is the user's home directory, which texts write as ~.
	Home string
	// Answer and Refuse return the labels of the keys.
	Answer, Refuse func() string
}

// question is a program's question that waits for the user.
type question struct {
	ask  *protocol.SecretAsk
	to   hpke.PublicKey
	came time.Time
	lost time.Time // since when the gateway is, or zero
	// words is the question's text, "" before it is needed.
	words string
}

// Desk holds the questions. Its methods are safe for concurrent use.
type Desk struct {
	conf Config

	mu     sync.Mutex
	queue  []*question // the first one is shown
	number uint64      // of the first question; a new one each time that it is shown again
	shown  time.Time   // since when it can be read, or zero
	small  bool        // the line says only that the window has no room for it
	begun  time.Time   // when its turn came
	// ignored is the number of the question for which the last press of the answer's key did not
	// count.
	ignored uint64
	typed   time.Time // the user's last key for the program
	stray   time.Time // until when keys go nowhere
	swallow time.Time // until when further presses of the refuse key are dropped

	open bool   // the user types an answer
	text []byte // of that answer
	gone string // says why that answer goes nowhere, or ""
	lost *time.Timer
}

// New returns a desk without questions.
func New(conf Config) *Desk {
	return &Desk{conf: conf, number: FirstNumber}
}

// Ask adds a question. A question that cannot be asked is answered at once.
func (d *Desk) Ask(m *protocol.SecretAsk) {
	refuse := func(code protocol.Code, format string, args ...any) {
		d.conf.Send(&protocol.Error{
			RequestID: m.RequestID, Code: code, Message: fmt.Sprintf(format, args...),
		})
	}
	to, err := publicKey(m.PublicKeyB64)
	switch {
	case err != nil:
		refuse(protocol.CodeBadMessage, "publicKeyB64: %v", err)
		return
	case !d.conf.CanAsk() && !d.isForPages(m):
		refuse(protocol.CodeUnavailable, "no one is at this session's terminal")
		return
	}
	d.mu.Lock()
	defer d.conf.Repaint()
	defer d.mu.Unlock()
	switch q := d.findSameLocked(m); {
	case q != nil: // it came by another way: the user's text stays
		q.ask, q.to, q.lost, q.words = m, to, time.Time{}, ""
	case len(d.queue) >= maxQuestions:
		refuse(protocol.CodeBusy, "%d questions wait for the user already", len(d.queue))
	default:
		d.queue = append(d.queue, &question{ask: m, to: to, came: time.Now()})
		if len(d.queue) == 1 {
			d.beginLocked()
		}
	}
}

// isForPages reports whether a question can be answered without a person at the terminal.
func (d *Desk) isForPages(m *protocol.SecretAsk) bool {
	return m.Watched && d.conf.CanAskElsewhere()
}

func publicKey(b []byte) (hpke.PublicKey, error) {
	public, err := ecdh.P256().NewPublicKey(b)
	if err != nil {
		return nil, err
	}
	return hpke.NewDHKEMPublicKey(public)
}

// findSameLocked returns the question that m repeats: of the same process with the same words,
// under its id or while the gateway is lost. A question that the user has read must not become
// another program's.
func (d *Desk) findSameLocked(m *protocol.SecretAsk) *question {
	at := slices.IndexFunc(d.queue, func(q *question) bool {
		a, b := q.ask.Asker, m.Asker
		return (q.ask.RequestID == m.RequestID || !q.lost.IsZero()) &&
			a.Pid == b.Pid && a.Started == b.Started &&
			q.ask.Prompt == m.Prompt && q.ask.Kind == m.Kind
	})
	if at < 0 {
		return nil
	}
	return d.queue[at]
}

// beginLocked begins the turn of the first question.
func (d *Desk) beginLocked() {
	d.number++
	d.shown, d.small, d.begun = time.Time{}, false, time.Now()
}

// Withdraw removes a question whose program no longer waits.
func (d *Desk) Withdraw(requestID string) {
	d.dropWhere(func(q *question) bool { return q.ask.RequestID == requestID })
}

// LoseGateway notes that the gateway is lost. The questions wait for a moment, because the programs
// repeat them through the next gateway.
func (d *Desk) LoseGateway() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for _, q := range d.queue {
		if q.lost.IsZero() {
			q.lost = now
		}
	}
	if len(d.queue) == 0 {
		return
	}
	if d.lost != nil {
		d.lost.Stop()
	}
	d.lost = time.AfterFunc(lostFor, func() {
		d.dropWhere(func(q *question) bool { return !q.lost.IsZero() && time.Since(q.lost) >= lostFor })
	})
}

// Leave answers the questions because the user has left the terminal. Questions that an owner's
// page has stay.
func (d *Desk) Leave() {
	d.mu.Lock()
	for _, q := range d.queue {
		if d.isForPages(q.ask) {
			continue
		}
		d.conf.Send(&protocol.Error{
			RequestID: q.ask.RequestID, Code: protocol.CodeUnavailable,
			Message: "the user has left this session's terminal",
		})
	}
	d.mu.Unlock()
	d.dropWhere(func(q *question) bool { return !d.isForPages(q.ask) })
	d.mu.Lock()
	d.closeLineLocked()
	d.mu.Unlock()
}

// dropWhere drops questions without an answer. If the user types the answer to one of them, the
// line stays open and sends nothing: the rest of a password must not reach the session's program.
func (d *Desk) dropWhere(isMeant func(*question) bool) {
	d.mu.Lock()
	var dropped []*question
	for i := 0; i < len(d.queue); {
		q := d.queue[i]
		if !isMeant(q) {
			i++
			continue
		}
		dropped = append(dropped, q)
		d.queue = slices.Delete(d.queue, i, i+1)
		if i == 0 {
			d.passOnLocked(q.ask.Asker.Program + " no longer waits: nothing is sent")
		}
	}
	d.mu.Unlock()
	for _, q := range dropped {
		d.report(q, withdrawn, "")
	}
	if len(dropped) > 0 {
		d.conf.Repaint()
	}
}

// passOnLocked begins the turn of the next question. If the user is typing an answer to the
// previous one, the line stays open, shows why the answer will be dropped, and discards it.
func (d *Desk) passOnLocked(why string) {
	if d.open && d.gone == "" {
		d.gone = why
		d.wipeLocked()
	}
	d.beginLocked()
}

// finishLocked answers the first question and begins the next one.
func (d *Desk) finishLocked(verdict string, sealed []byte) {
	q := d.queue[0]
	d.queue = slices.Delete(d.queue, 0, 1)
	d.closeLineLocked()
	d.stray = time.Time{}
	d.beginLocked()
	d.conf.Send(&protocol.SecretAnswer{
		RequestID: q.ask.RequestID, SessionID: d.conf.SessionID, Verdict: verdict, SealedB64: sealed,
	})
	d.report(q, verdict, "")
}

func (d *Desk) report(q *question, fate, by string) {
	a := &q.ask.Asker
	d.conf.Ended(Outcome{
		Agent: agentName(a), Program: a.Program, Command: a.Command, Prompt: q.ask.Prompt,
		Chain: a.Chain, Fate: fate, By: by, Took: time.Since(q.came),
	})
}

// sendLocked seals the text to the first question's program.
func (d *Desk) sendLocked(text []byte) {
	q := d.queue[0]
	sealed, err := hpke.Seal(
		q.to, hpke.HKDFSHA256(), hpke.AES128GCM(), q.ask.SealInfo(), text)
	if err != nil { // a valid key cannot fail
		d.finishLocked(protocol.SecretRefused, nil)
		return
	}
	d.finishLocked(protocol.SecretGiven, sealed)
}

func (d *Desk) closeLineLocked() {
	d.wipeLocked()
	d.open, d.gone = false, ""
}

// wipeLocked erases the typed text.
func (d *Desk) wipeLocked() {
	clear(d.text[:cap(d.text)])
	d.text = d.text[:0]
}

// NoteShown notes that a question can be read on the screen since now.
func (d *Desk) NoteShown(now time.Time, number uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if number == d.number && len(d.queue) > 0 && d.shown.IsZero() {
		d.shown = now
	}
}

// NoteUnshown notes that no question can be read: something else covers it, or the window is too
// small.
func (d *Desk) NoteUnshown() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown, d.small = time.Time{}, false
}

// standsLocked reports whether the line is about the first question, and its keys are the desk's.
func (d *Desk) standsLocked() bool {
	return len(d.queue) > 0 && (!d.shown.IsZero() || d.small)
}

// isAnswerableLocked reports whether the question has been readable long enough for a key to be
// meant as its answer, by the rule for all questions.
func (d *Desk) isAnswerableLocked(now time.Time) bool {
	least := control.MinShown
	if d.begun.Sub(d.typed) < control.TypingFor { // also true if the key was later
		least = control.MinShownUnexpected
	}
	return !d.shown.IsZero() && now.Sub(d.shown) >= least
}
