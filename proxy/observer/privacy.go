package observer

import (
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/secretprompt"
)

// lookEvery is how often the line settings are looked at while an agent drives, or while a prompt for a secret stands and
// somebody may look: nothing announces their change.
const lookEvery = 50 * time.Millisecond

// nameFor is how long the name of the foreground program is good enough while output flows: finding it out costs several
// system calls, and whoever shows or types something asks anew.
const nameFor = 20 * time.Millisecond

// privacy keeps from agents what they shall not see: what is shown where a secret is typed, and the whole screen while the
// user hides it. It is between the output and the model, and marks the model's cells, so that what was kept back once
// does not come later with history either. It belongs to the
// observer's goroutine.
type privacy struct {
	o       *Observer
	text    *textGate
	reached atomic.Bool // a gateway is reached, through which agents look

	lasting secretprompt.Facts // what is the same in every look: made once, since looks come with every piece of output

	secret secretprompt.Detector
	masks  secretprompt.Masks
	told   prompt // what the others know
	looked time.Time
	named  time.Time // when name was found out
	name   []string
	field  field
	hidden time.Time // since when the user hides the screen, zero while he does not
	one    [1]byte
}

func newPrivacy(o *Observer, text *textGate) *privacy {
	p := &privacy{o: o, text: text}
	p.lasting = secretprompt.Facts{Foreground: p.foreground, Arguments: o.program.Arguments}
	return p
}

// prompt is what the pump and the agents know of a prompt for a secret.
type prompt struct {
	kind    protocol.SecretPrompt
	allowed bool // the user dismissed it
}

// field is where a secret is typed: from a column on, to the end of the line, over several rows where it wraps.
type field struct {
	set         bool
	alt         bool
	first, last uint64 // lines, see [secretprompt.Place]
	col         int
	cursor      int    // column in which agents see the cursor
	question    []byte // first byte of each cell before the field, 0 for an empty one
	typed       uint64 // when it was found
}

// asks reports whether b, which is printed before the field, may be the question's, drawn anew.
func (f *field) asks(col int, b byte) bool {
	return b <= ' ' || b == 0x7f || col < len(f.question) && f.question[col] == b
}

// place is the line of the cursor.
func (p *privacy) place() secretprompt.Place {
	m := p.o.model
	row := uint64(m.Cursor().Row)
	if m.Alt() {
		return secretprompt.Place{Alt: true, Line: row}
	}
	return secretprompt.Place{Line: m.HistoryBase() + uint64(m.HistoryLen()) + row}
}

// onLine reports whether the cursor is on a line of the field, and inside whether it stands in the field itself.
func (p *privacy) onLine() (on, inside bool) {
	f := &p.field
	if !f.set {
		return false, false
	}
	at := p.place()
	on = at.Alt == f.alt && f.first <= at.Line && at.Line <= f.last
	return on, on && (at.Line > f.first || p.o.model.Cursor().Col >= f.col)
}

// feed hands output to the model. Where a secret is typed it goes byte by byte, to know of each where it is shown: a
// password's prompt is no flood.
func (p *privacy) feed(now time.Time, out []byte) {
	secret := p.o.inputWait.writes() != p.field.typed || secretprompt.Dots(out)
	for len(out) > 0 && p.field.set {
		if on, _ := p.onLine(); !on && !p.secret.Holds() {
			p.field = field{}
			break
		}
		p.feedByte(out[0], secret)
		out = out[1:]
	}
	p.cover(false)
	if len(out) > 0 {
		p.o.model.Feed(out)
	}
	p.scan(now)
}

// feedByte feeds one byte; secret is false as long as nobody has typed since the field was found, and so the program goes
// on with its question.
func (p *privacy) feedByte(b byte, secret bool) {
	on, inside := p.onLine()
	if cursor := p.o.model.Cursor(); on && !inside && secret && p.o.model.Ground() && !p.field.asks(cursor.Col, b) {
		p.field.col, inside = cursor.Col, true // a remark has made way for the answer
		p.o.model.VeilCells(cursor.Row, cursor.Col, true)
	}
	p.cover(inside && secret && !endsLine(b))
	if on && !inside {
		p.text.align(p.o.model.Cursor().Col)
	}
	p.one[0] = b
	p.o.model.Feed(p.one[:])
	if at := p.place(); inside && !endsLine(b) && at.Line == p.field.last+1 && p.o.model.RowWrapped(p.o.model.Cursor().Row-1) {
		p.field.last = at.Line
	}
}

// endsLine reports whether b is a control that brings the cursor out of what is typed: CR, LF, VT or FF.
func endsLine(b byte) bool { return '\n' <= b && b <= '\r' }

// cover says whether what is printed next is a secret's.
func (p *privacy) cover(secret bool) {
	p.text.secret = secret
	p.o.model.Veil(secret, !p.hidden.IsZero())
}

// look asks the kernel and the screen whether a secret is asked for. Whatever is shown to an agent comes after a look.
func (p *privacy) look(now time.Time) {
	p.named = time.Time{}
	p.scan(now)
}

// scan is a look of which there may be many: after output. The name of the foreground program may be a little old.
func (p *privacy) scan(now time.Time) {
	p.looked = now
	f := p.facts()
	if p.o.exit != nil {
		p.secret = secretprompt.Detector{} // nobody asks any more
	}
	p.secret.See(now, f)
	p.follow(f)
	p.tell(now)
}

func (p *privacy) facts() secretprompt.Facts {
	f := p.lasting
	f.Place, f.Paste = p.place(), p.o.model.Modes().BracketedPaste
	if p.o.exit != nil {
		return f
	}
	line, err := p.o.program.Line()
	f.Known, f.Line = err == nil, secretprompt.Line(line)
	if f.Known && !f.Line.Echo && !f.Line.Canonical {
		f.Left, f.Right = p.o.model.CursorText()
	}
	// A shell's read -s -n 1 has echo off only while it waits for the next key: the line settings say nothing here.
	f.Masked = p.masked(f.Place)
	return f
}

// masked reports whether what the user types is answered by signs.
func (p *privacy) masked(place secretprompt.Place) bool {
	m := p.o.model
	c := m.Cursor()
	if c.Pending {
		c.Col++
	}
	_, within := p.onLine()
	return p.masks.See(secretprompt.Spot{
		Place: place, Col: c.Col, Typed: p.o.agents.Session.Typed(),
		Sign: func(col int) bool { return secretprompt.Sign(m.Cell(c.Row, col).Content) },
		Asked: func(col int) bool {
			for col--; col >= 0; col-- {
				if text := m.Cell(c.Row, col).Content; strings.TrimSpace(text) != "" {
					return secretprompt.Asks(text)
				}
			}
			return false
		},
	}, within)
}

// foreground is the program in the foreground.
func (p *privacy) foreground() []string {
	if p.looked.Sub(p.named) >= nameFor {
		p.name, p.named = p.o.program.Chain(), p.looked
	}
	return p.name
}

// follow keeps the field where the secret is typed. A program that reads whole lines shows nothing of them, so there is
// no field then. It begins at the cursor, and may still move as long as nobody has typed: the question comes in pieces.
func (p *privacy) follow(f secretprompt.Facts) {
	shows := p.secret.Holds() && !f.Line.Canonical
	on, _ := p.onLine()
	switch {
	case shows && strings.TrimSpace(f.Left) != "" && (!on || p.o.inputWait.writes() == p.field.typed):
		cursor, answer := p.o.model.Cursor(), f.Left[secretprompt.Field(f.Left):]
		col := max(0, cursor.Col-utf8.RuneCountInString(answer))
		first, masked := p.masks.First()
		if masked {
			col = min(col, first)
		}
		p.setField(cursor.Row, col, on)
		if answer != "" || masked {
			p.text.forget(p.field.col)
		}
	case !shows && p.field.set && !on:
		p.field = field{}
	}
}

// resized finds the field again: the rows have other numbers.
func (p *privacy) resized(now time.Time) {
	p.field = field{}
	p.look(now)
}

// setField puts the field on the cursor's row; moved says that it was there already.
func (p *privacy) setField(row, col int, moved bool) {
	if moved {
		if p.field.col == col {
			return
		}
		p.o.model.VeilCells(row, p.field.col, false)
	}
	at := p.place()
	p.field = field{set: true, alt: at.Alt, first: at.Line, last: at.Line, col: col, cursor: col, typed: p.o.inputWait.writes()}
	for x := range col {
		text := p.o.model.Cell(row, x).Content
		p.field.question = append(p.field.question, append([]byte(text), 0)[0])
	}
	p.o.model.VeilCells(row, col, true)
}

// tell has the others know what has changed.
func (p *privacy) tell(now time.Time) {
	is := prompt{p.secret.Kind(), p.secret.Dismissed()}
	if is == p.told {
		return
	}
	was := p.told
	p.told = is
	p.o.agents.Session.SecretPrompt(is.kind, is.allowed)
	if is.kind != was.kind {
		p.darken()
		p.o.waits.Asks(is.kind != protocol.SecretNone, p.secret.Since(), p.o.model.Rev())
		p.o.agents.Session.Blackout(is.kind != protocol.SecretNone, protocol.BlackoutPassword, is.kind)
		p.o.changed(now)
	}
}

// darken has the recording go dark while something is kept from agents.
func (p *privacy) darken() {
	why := ""
	switch {
	case p.isHidden():
		why = "the user hides the screen"
	case p.secret.Kind() != protocol.SecretNone:
		why = "a password is being asked for"
	}
	if p.o.conf.Recorder != nil {
		p.o.conf.Recorder.Blackout(why != "", why)
	}
}

// spot says that the pump saw a hard prompt, which may be over already.
func (p *privacy) spot(now time.Time) {
	p.look(now)
	p.secret.Spot(now)
	p.tell(now)
	p.o.agents.Session.SecretPrompt(p.told.kind, p.told.allowed) // whatever we thought: the pump is to hear of the end
}

// dismiss lets agents see the present prompt, and the one that drives answer it: the user said so.
func (p *privacy) dismiss(now time.Time) {
	p.secret.Dismiss(p.place())
	if on, _ := p.onLine(); on {
		p.o.model.VeilCells(p.fieldRow(), p.field.col, false)
	}
	p.field = field{}
	p.tell(now)
}

// hide hides the screen from agents, or shows it again: then what stands on it now is theirs to see, and nothing else of
// what was printed meanwhile.
func (p *privacy) hide(now time.Time, on bool) {
	if on == p.isHidden() {
		return
	}
	p.text.hide(on)
	p.o.waits.Blind(on)
	if on {
		p.hidden = now
		p.cover(false)
	} else {
		p.hidden = time.Time{}
		p.cover(false)
		p.o.model.Unveil()
	}
	p.darken()
	p.o.agents.Session.Blackout(on, protocol.BlackoutUser, "")
	p.o.changed(now)
	p.o.Moved(now)
}

func (p *privacy) isHidden() bool { return !p.hidden.IsZero() }

// rests reports whether nothing is kept from anybody.
func (p *privacy) rests() bool {
	return !p.isHidden() && !p.field.set && p.secret.Kind() == protocol.SecretNone
}

// blackout is what a frame of now does not show, nil for nothing.
func (p *privacy) blackout(now time.Time) *protocol.Hidden {
	switch {
	case !p.hidden.IsZero():
		return &protocol.Hidden{Why: protocol.BlackoutUser, SinceMs: now.Sub(p.hidden).Milliseconds()}
	case p.secret.Kind() != protocol.SecretNone:
		return &protocol.Hidden{
			Why: protocol.BlackoutPassword, Secret: p.secret.Kind(),
			SinceMs: now.Sub(p.secret.Since()).Milliseconds(), Unattended: p.o.agents.Session.Unattended(),
		}
	}
	return nil
}

// cursor is the cursor as agents see it: where a secret is typed it stands still, or they could count.
func (p *privacy) cursor(c screen.Cursor) screen.Cursor {
	if _, inside := p.onLine(); inside {
		if c.Row, c.Col = p.fieldRow(), p.field.cursor; c.Row < 0 { // the question has left the screen
			c.Row, c.Col = 0, 0
		}
	}
	return c
}

// fieldRow is the row in which the field begins, as long as the cursor is on a line of it.
func (p *privacy) fieldRow() int {
	return p.o.model.Cursor().Row - int(p.place().Line-p.field.first)
}

// lingers reports whether a prompt is over, but agents may not type yet: the program may ask again.
func (p *privacy) lingers(now time.Time) bool {
	if p.secret.Kind() == protocol.SecretNone {
		return false
	}
	p.look(now)
	return p.secret.Kind() != protocol.SecretNone && !p.secret.Holds()
}

// next is when the next look is due though nothing happens. A session that nobody drives and nobody can look at has none.
func (p *privacy) next() (at time.Time, ok bool) {
	off := p.secret.Kind() == protocol.SecretNone
	if !p.o.agents.Session.Driven() && (!p.reached.Load() || off) || off && p.o.agents.Session.Resting() {
		return time.Time{}, false
	}
	at = p.looked.Add(lookEvery)
	if end, ends := p.secret.Next(); ends && end.Before(at) {
		at = end
	}
	return at, true
}
