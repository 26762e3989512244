package pump

import (
	"bytes"
	"errors"
	"time"
)

// handleUnit handles one unit of the user's input, while the read that brought it is processed.
func (p *Pump) handleUnit(u Unit) {
	now := p.lastKey
	if u.Kind == ConfirmRepeat && p.confirm.took {
		return
	}
	if p.confirm.open && (u.Kind == Report || u.Kind == ConfirmRepeat) {
		p.confirm.behind = append(p.confirm.behind, u.Bytes...)
		return
	}
	p.endConfirm(now, false)
	if u.Kind != Report && u.Kind != Release {
		p.confirm.took = false
		defer p.confirm.notePress(now)
	}
	switch u.Kind {
	case Reclaim:
		p.handleReclaimKey(now, u.Bytes)
	case Release:
		// The program never received the press of this key.
	case Confirm:
		p.confirm.holdKey(u.Bytes)
	case Report:
		p.user = append(p.user, u.Bytes...)
	case PasteStart, Paste, PasteEnd:
		p.handlePaste(now, u)
	case Key, ConfirmRepeat:
		p.queueTyped(u.Bytes)
		p.Control.NoteKey(now)
		p.syncControl(now)
	}
}

// handleReclaimKey handles the reclaim key. When Control.ReclaimKey returns, an agent that drove or
// asked has lost the keyboard, and syncControl drops its queue in the next statement.
func (p *Pump) handleReclaimKey(now time.Time, key []byte) {
	sought := p.isSought()
	if !sought && p.Scan.IsInPaste() {
		p.user = append(p.user, key...) // a byte of a pasted text, and there is no agent to stop
		return
	}
	took := p.Control.ReclaimKey(now)
	p.syncControl(now)
	if !took {
		p.user = append(p.user, key...)
	}
	if sought && p.Scan.IsInPaste() {
		p.paste, p.holding = p.paste[:0], false
		p.discard, p.since = true, now
	}
}

// handlePaste passes a paste on. While an agent has control it holds the paste back until its end,
// so that a reclaim key in it keeps all of it from the program.
func (p *Pump) handlePaste(now time.Time, u Unit) {
	switch {
	case p.discard:
		if u.Kind == PasteEnd {
			p.discard = false
		}
		return
	case u.Kind == PasteStart && p.isDriven():
		p.holding, p.since = true, now
	}
	if !p.holding {
		p.queueTyped(u.Bytes)
	} else {
		p.paste = append(p.paste, u.Bytes...)
	}
	p.Control.NoteKey(now)
	p.syncControl(now)
	if u.Kind == PasteEnd || len(p.paste) > maxHeldPaste {
		p.releasePaste()
	}
}

// queueTyped queues the user's input for the program.
func (p *Pump) queueTyped(b []byte) {
	if len(b) == 0 {
		return // a paste that became empty
	}
	p.user = append(p.user, b...)
	p.line.noteTyped(b)
	if p.Line != nil {
		p.Line.NoteUserKeys(b)
	}
	if len(p.queue) > 0 {
		p.advance(p.queue[0], UserTyped)
		p.queue[0].fits = 0
	}
}

func (p *Pump) releasePaste() {
	p.queueTyped(p.paste)
	p.paste, p.holding, p.discard = nil, false, false
}

// writeUser writes what the user typed. The rest of an agent's half-written key goes first, and the
// end of its paste: otherwise the user's next key would complete the key to another one, or be
// pasted.
func (p *Pump) writeUser(now time.Time) {
	if !p.hasUserInput() || !p.finishPiece(now) {
		return
	}
	for p.hasUserInput() {
		from, of := &p.own, span{own: true}
		if !p.endAgentPaste() {
			from, of = &p.user, span{}
		}
		n, err := p.writeProgram(of, *from)
		if n > 0 {
			p.awaitProgram(now)
		}
		*from = (*from)[:copy(*from, (*from)[n:])]
		if !p.noteWrite(now, err) {
			return
		}
	}
	if cap(p.user) > userInputHold {
		p.user = nil // a large paste is over
	}
}

// noteWrite notes how a write ended. It reports whether to continue writing.
func (p *Pump) noteWrite(now time.Time, err error) bool {
	switch {
	case err == nil:
		p.blocked = time.Time{}
		return true
	case errors.Is(err, ErrAgain):
		if p.blocked.IsZero() {
			p.blocked = now
		}
		return false
	}
	// The program is gone, and its end is reported by another part.
	p.user, p.own, p.blocked = p.user[:0], nil, time.Time{}
	p.dropQueue(Exited)
	return false
}

// lastSubmit returns the index of the last byte of b that ends a line or interrupts, or -1: what
// was typed before it is no longer unsent.
func lastSubmit(b []byte) int {
	return bytes.LastIndexAny(b, lineEnds)
}

// lineEnds are the bytes that end a line or interrupt.
const lineEnds = "\r\n\x03\x04\x15"
