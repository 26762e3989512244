package input

import (
	"bytes"
	"errors"
	"time"
)

// unit decides about one unit of the user's. It is called from within a read, before anything else happens.
func (p *Pump) unit(u Unit) {
	now := p.lastKey
	if p.confirm.open && (u.Kind == Report || u.Idle) {
		p.confirm.behind = append(p.confirm.behind, u.Bytes...)
		return
	}
	p.endConfirm(now, false)
	if u.Kind != Report && u.Kind != Release && !u.Idle {
		defer p.confirm.press(now)
	}
	switch u.Kind {
	case Reclaim:
		p.reclaimKey(now, u.Bytes)
	case Release:
		// The program never saw the key go down.
	case Confirm:
		p.confirm.begin(u.Bytes)
	case Report:
		p.user = append(p.user, u.Bytes...)
	case PasteStart, Paste, PasteEnd:
		p.pasted(now, u)
	case Key:
		p.typed(u.Bytes)
		p.Control.Key(now)
		p.guard(now)
	}
}

// reclaimKey is the reclaim key. When Control.ReclaimKey returns, an agent that drove or asked has lost the keyboard, and guard has
// dropped its queue before the next statement.
func (p *Pump) reclaimKey(now time.Time, key []byte) {
	sought := p.sought()
	if !sought && p.Scan.InPaste() {
		p.user = append(p.user, key...) // a byte of somebody's text: nobody is to be stopped
		return
	}
	took := p.Control.ReclaimKey(now)
	p.guard(now)
	if !took {
		p.user = append(p.user, key...)
	}
	if sought && p.Scan.InPaste() {
		p.paste, p.holding = p.paste[:0], false
		p.discard, p.since = true, now
	}
}

// pasted passes a paste on. While an agent has control it is held back to its end, so that the reclaim key in the middle
// of it leaves none of it to the program.
func (p *Pump) pasted(now time.Time, u Unit) {
	switch {
	case p.discard:
		if u.Kind == PasteEnd {
			p.discard = false
		}
		return
	case u.Kind == PasteStart && p.driven():
		p.holding, p.since = true, now
	}
	if !p.holding {
		p.typed(u.Bytes)
	} else {
		p.paste = append(p.paste, u.Bytes...)
	}
	p.Control.Key(now)
	p.guard(now)
	if u.Kind == PasteEnd || len(p.paste) > pasteMax {
		p.letPasteGo()
	}
}

// typed queues what the user did for the program.
func (p *Pump) typed(b []byte) {
	p.user = append(p.user, b...)
	p.line.typed(b)
	if p.Line != nil {
		p.Line.User(b)
	}
	if len(p.queue) > 0 {
		p.queue[0].stale, p.queue[0].fits = p.queue[0].stale || p.queue[0].asked, 0
	}
}

func (p *Pump) letPasteGo() {
	p.typed(p.paste)
	p.paste, p.holding, p.discard = nil, false, false
}

// writeUser writes what the user typed. The rest of an agent's key that is half written goes first: a sequence stands
// whole, or the user's next key would complete it to something else.
func (p *Pump) writeUser(now time.Time) {
	if len(p.user) == 0 {
		return
	}
	if !p.finishPiece(now) {
		return
	}
	for len(p.user) > 0 {
		n, err := p.give(nil, p.user, false)
		if n > 0 {
			p.acted(now)
		}
		p.user = p.user[:copy(p.user, p.user[n:])]
		if !p.took(now, err) {
			return
		}
	}
	if cap(p.user) > userHold {
		p.user = nil // a large paste is over
	}
}

// took notes how a write ended; it reports whether to go on writing.
func (p *Pump) took(now time.Time, err error) bool {
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
	// The program is gone; its end is somebody else's news.
	p.user, p.blocked = p.user[:0], time.Time{}
	p.drop(Receipt{Fate: Gone})
	return false
}

// submits reports whether b ends a line or interrupts: what was typed before is no longer unsent.
func submits(b []byte) int {
	return bytes.LastIndexAny(b, lineEnds)
}

// lineEnds are the bytes that end a line or interrupt.
const lineEnds = "\r\n\x03\x04\x15"
