package proxy

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/secretprompt"
)

// lookEvery is how often the line settings are looked at while an agent drives, or while a prompt for a secret stands and
// somebody may look: nothing announces their change.
const lookEvery = 50 * time.Millisecond

// nameFor is how long the name of the foreground program is good enough while output flows: finding it out costs several
// system calls, and whoever shows or types something asks anew.
const nameFor = 20 * time.Millisecond

// veil keeps from agents what they shall not see: what is shown where a secret is typed, and the whole screen while the
// user hides it. It is between the output and the model, and marks the model's cells, so that what was kept back once
// does not come later with history either. It belongs to the screen loop.
type veil struct {
	l         *screenLoop
	text      *gate
	mute      bool // the program's line had no echo from the start
	line      func() (child.Line, error)
	program   func() []string
	arguments func() []string
	typed     func() uint64                            // how often something was written to the program
	keyed     func() secretprompt.Typed                // how much the user has typed; nil for nobody
	driven    func() bool                              // an agent has control
	asked     func(kind secretprompt.Kind, allow bool) // the pump is to know
	announce  func(*protocol.Blackout)
	record    func(on bool, why string) // nothing is to be recorded for now, or again
	reached   atomic.Bool               // a gateway is reached, through which agents look
	alone     func() bool               // nobody is there to answer; nil for somebody
	resting   func() bool               // nothing has happened for a while; nil where that makes no difference

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

// prompt is what the pump and the agents know of a prompt for a secret.
type prompt struct {
	kind    secretprompt.Kind
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
func (v *veil) place() secretprompt.Place {
	m := v.l.model
	row := uint64(m.Cursor().Row)
	if m.Alt() {
		return secretprompt.Place{Alt: true, Line: row}
	}
	return secretprompt.Place{Line: m.HistoryBase() + uint64(m.HistoryLen()) + row}
}

// onLine reports whether the cursor is on a line of the field, and inside whether it stands in the field itself.
func (v *veil) onLine() (on, inside bool) {
	f := &v.field
	if !f.set {
		return false, false
	}
	at := v.place()
	on = at.Alt == f.alt && f.first <= at.Line && at.Line <= f.last
	return on, on && (at.Line > f.first || v.l.model.Cursor().Col >= f.col)
}

// feed hands output to the model. Where a secret is typed it goes byte by byte, to know of each where it is shown: a
// password's prompt is no flood.
func (v *veil) feed(now time.Time, p []byte) {
	secret := v.typed() != v.field.typed || secretprompt.Dots(p)
	for len(p) > 0 && v.field.set {
		if on, _ := v.onLine(); !on && !v.secret.Holds() {
			v.field = field{}
			break
		}
		v.feedByte(p[0], secret)
		p = p[1:]
	}
	v.cover(false)
	if len(p) > 0 {
		v.l.model.Feed(p)
	}
	v.glance(now)
}

// feedByte feeds one byte; secret is false as long as nobody has typed since the field was found, and so the program goes
// on with its question.
func (v *veil) feedByte(b byte, secret bool) {
	on, inside := v.onLine()
	if cursor := v.l.model.Cursor(); on && !inside && secret && v.l.model.Ground() && !v.field.asks(cursor.Col, b) {
		v.field.col, inside = cursor.Col, true // a remark has made way for the answer
		v.l.model.VeilCells(cursor.Row, cursor.Col, true)
	}
	v.cover(inside && secret && !endsLine(b))
	if on && !inside {
		v.text.align(v.l.model.Cursor().Col)
	}
	v.one[0] = b
	v.l.model.Feed(v.one[:])
	if at := v.place(); inside && !endsLine(b) && at.Line == v.field.last+1 && v.l.model.RowWrapped(v.l.model.Cursor().Row-1) {
		v.field.last = at.Line
	}
}

// endsLine reports whether b is a control that brings the cursor out of what is typed: CR, LF, VT or FF.
func endsLine(b byte) bool { return '\n' <= b && b <= '\r' }

// cover says whether what is printed next is a secret's.
func (v *veil) cover(secret bool) {
	v.text.secret = secret
	v.l.model.Veil(secret, !v.hidden.IsZero())
}

// look asks the kernel and the screen whether a secret is asked for. Whatever is shown to an agent comes after a look.
func (v *veil) look(now time.Time) {
	if v == nil {
		return // nobody looks on
	}
	v.named = time.Time{}
	v.glance(now)
}

// glance is a look of which there may be many: after output.
func (v *veil) glance(now time.Time) {
	v.looked = now
	f := v.facts()
	if v.l.exit != nil {
		v.secret = secretprompt.Detector{} // nobody asks any more
	}
	v.secret.See(now, f)
	v.follow(f)
	v.tell(now)
}

func (v *veil) facts() secretprompt.Facts {
	f := secretprompt.Facts{Mute: v.mute, Place: v.place(), Paste: v.l.model.Modes().BracketedPaste, Foreground: v.foreground, Arguments: v.arguments}
	if v.l.exit != nil {
		return f
	}
	line, err := v.line()
	f.Known, f.Line = err == nil, secretprompt.Line(line)
	if f.Known && !f.Line.Echo && (!f.Line.Canonical || f.Mute) {
		f.Left, f.Right = v.l.model.CursorText()
	}
	// A shell's read -s -n 1 has echo off only while it waits for the next key: the line settings say nothing here.
	f.Masked = v.masked(f.Place)
	return f
}

// masked reports whether what the user types is answered by signs.
func (v *veil) masked(place secretprompt.Place) bool {
	if v.keyed == nil {
		return false
	}
	m := v.l.model
	c := m.Cursor()
	if c.Pending {
		c.Col++
	}
	_, within := v.onLine()
	return v.masks.See(secretprompt.Spot{
		Place: place, Col: c.Col, Typed: v.keyed(),
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
func (v *veil) foreground() []string {
	if v.looked.Sub(v.named) >= nameFor {
		v.name, v.named = v.program(), v.looked
	}
	return v.name
}

// follow keeps the field where the secret is typed. A program that reads whole lines shows nothing of them, so there is
// no field then. It begins at the cursor, and may still move as long as nobody has typed: the question comes in pieces.
func (v *veil) follow(f secretprompt.Facts) {
	shows := v.secret.Holds() && (!f.Line.Canonical || f.Mute)
	on, _ := v.onLine()
	switch {
	case shows && strings.TrimSpace(f.Left) != "" && (!on || v.typed() == v.field.typed):
		cursor, answer := v.l.model.Cursor(), f.Left[secretprompt.Field(f.Left):]
		col := max(0, cursor.Col-utf8.RuneCountInString(answer))
		first, masked := v.masks.First()
		if masked {
			col = min(col, first)
		}
		v.setField(cursor.Row, col, on)
		if answer != "" || masked {
			v.text.forget(v.field.col)
		}
	case !shows && v.field.set && !on:
		v.field = field{}
	}
}

// resized finds the field again: the rows have other numbers.
func (v *veil) resized(now time.Time) {
	v.field = field{}
	v.look(now)
}

// setField puts the field on the cursor's row; moved says that it was there already.
func (v *veil) setField(row, col int, moved bool) {
	if moved {
		if v.field.col == col {
			return
		}
		v.l.model.VeilCells(row, v.field.col, false)
	}
	at := v.place()
	v.field = field{set: true, alt: at.Alt, first: at.Line, last: at.Line, col: col, cursor: col, typed: v.typed()}
	for x := range col {
		text := v.l.model.Cell(row, x).Content
		v.field.question = append(v.field.question, append([]byte(text), 0)[0])
	}
	v.l.model.VeilCells(row, col, true)
}

// tell has the others know what has changed.
func (v *veil) tell(now time.Time) {
	p := prompt{v.secret.Kind(), v.secret.Dismissed()}
	if p == v.told {
		return
	}
	was := v.told
	v.told = p
	v.asked(p.kind, p.allowed)
	if p.kind != was.kind {
		v.darken()
		v.l.waits.Asks(p.kind != secretprompt.Off, v.secret.Since(), v.l.model.Rev())
		v.say(p.kind != secretprompt.Off, protocol.BlackoutPassword, protocol.SecretPrompt(p.kind.String()))
		v.l.touch(now)
	}
}

// darken has the recording go dark while something is kept from agents.
func (v *veil) darken() {
	switch {
	case v.isHidden():
		v.record(true, "the user hides the screen")
	case v.secret.Kind() != secretprompt.Off:
		v.record(true, "a password is being asked for")
	default:
		v.record(false, "")
	}
}

func (v *veil) say(on bool, why string, secret protocol.SecretPrompt) {
	v.announce(&protocol.Blackout{ID: newID(), On: on, Why: why, Secret: secret})
}

// spot says that the pump saw a hard prompt, which may be over already.
func (v *veil) spot(now time.Time) {
	v.look(now)
	v.secret.Spot(now, secretprompt.Hard)
	v.tell(now)
	v.asked(v.told.kind, v.told.allowed) // whatever we thought: the pump is to hear of the end
}

// dismiss lets agents see the present prompt, and the one that drives answer it: the user said so.
func (v *veil) dismiss(now time.Time) {
	v.secret.Dismiss(v.place())
	if on, _ := v.onLine(); on {
		v.l.model.VeilCells(v.fieldRow(), v.field.col, false)
	}
	v.field = field{}
	v.tell(now)
}

// hide hides the screen from agents, or shows it again: then what stands on it now is theirs to see, and nothing else of
// what was printed meanwhile.
func (v *veil) hide(now time.Time, on bool) {
	if on == v.isHidden() {
		return
	}
	v.text.hide(on)
	v.l.waits.Blind(on)
	if on {
		v.hidden = now
		v.cover(false)
	} else {
		v.hidden = time.Time{}
		v.cover(false)
		v.l.model.Unveil()
	}
	v.darken()
	v.say(on, protocol.BlackoutUser, "")
	v.l.touch(now)
	v.l.noticeChange(now)
}

func (v *veil) isHidden() bool { return v != nil && !v.hidden.IsZero() }

// withheld is what a frame of now does not show, nil for nothing.
func (v *veil) withheld(now time.Time) *protocol.Withheld {
	switch {
	case v == nil:
		return nil
	case !v.hidden.IsZero():
		return &protocol.Withheld{Why: protocol.BlackoutUser, SinceMs: now.Sub(v.hidden).Milliseconds()}
	case v.secret.Kind() != secretprompt.Off:
		return &protocol.Withheld{
			Why: protocol.BlackoutPassword, Secret: protocol.SecretPrompt(v.secret.Kind().String()),
			SinceMs: now.Sub(v.secret.Since()).Milliseconds(), Unattended: v.alone != nil && v.alone(),
		}
	}
	return nil
}

// cursor is the cursor as agents see it: where a secret is typed it stands still, or they could count.
func (v *veil) cursor(c screen.Cursor) screen.Cursor {
	if v == nil {
		return c
	}
	if _, inside := v.onLine(); inside {
		if c.Row, c.Col = v.fieldRow(), v.field.cursor; c.Row < 0 { // the question has left the screen
			c.Row, c.Col = 0, 0
		}
	}
	return c
}

// fieldRow is the row in which the field begins, as long as the cursor is on a line of it.
func (v *veil) fieldRow() int {
	return v.l.model.Cursor().Row - int(v.place().Line-v.field.first)
}

// lingers reports whether a prompt is over, but agents may not type yet: the program may ask again.
func (v *veil) lingers(now time.Time) bool {
	if v == nil || v.secret.Kind() == secretprompt.Off {
		return false
	}
	v.look(now)
	return v.secret.Kind() != secretprompt.Off && !v.secret.Holds()
}

// bars says why an agent's input is not to be typed now, nil if it may be.
func (v *veil) bars(now time.Time) error {
	v.look(now)
	switch {
	case v.isHidden():
		return barred(control.ErrHidden)
	case v.secret.Kind() != secretprompt.Off:
		return barred(control.ErrSecret)
	}
	return nil
}

// barred words why a grant pauses.
func barred(why error) *refusal {
	if errors.Is(why, control.ErrHidden) {
		return &refusal{protocol.CodeBlackout, "the user hides the screen; your grant goes on when it is shown again"}
	}
	return &refusal{protocol.CodeSecretPrompt, "the program asks the user for a password, which the user types; your grant goes on afterwards"}
}

// next is when the next look is due though nothing happens. A session that nobody drives and nobody can look at has none.
func (v *veil) next() (at time.Time, ok bool) {
	off := v.secret.Kind() == secretprompt.Off
	if !v.driven() && (!v.reached.Load() || off) || off && v.resting != nil && v.resting() {
		return time.Time{}, false
	}
	at = v.looked.Add(lookEvery)
	if end, ends := v.secret.Next(); ends && end.Before(at) {
		at = end
	}
	return at, true
}
