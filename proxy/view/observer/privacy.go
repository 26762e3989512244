package observer

import (
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/secretprompt"
	"terminalproxy/proxy/terminal/screen"
)

// checkEvery is how often the line settings are checked while an agent drives, or during a secret
// prompt that someone may see: no event announces their change.
const checkEvery = 50 * time.Millisecond

// nameFor is how long the name of the foreground program stays valid while output flows: finding it
// takes several system calls. It is checked again before anything is shown or typed.
const nameFor = 20 * time.Millisecond

// privacy keeps from agents what they must not see: the output while a secret is typed, and the
// whole screen while the user hides it. It stands between the output and the model, and marks the
// model's cells, so that what was kept back does not appear later in the history either. The
// observer's goroutine owns it.
type privacy struct {
	o       *Observer
	text    *textGate
	reached atomic.Bool // a gateway is connected, through which agents look

	// lasting are the facts that stay the same. They are made once, since each piece of output is
	// checked.
	lasting secretprompt.Facts

	secret secretprompt.Detector
	masks  secretprompt.Masks
	told   prompt // the state last sent to the pump and the agents
	looked time.Time
	named  time.Time // when name was found
	name   []string
	field  field
	hidden time.Time // since when the user hides the screen, or zero
	one    [1]byte
}

func newPrivacy(o *Observer, text *textGate) *privacy {
	p := &privacy{o: o, text: text}
	p.lasting = secretprompt.Facts{Foreground: p.foregroundChain, Arguments: o.program.Arguments}
	return p
}

// prompt is the state of a secret prompt for the pump and the agents.
type prompt struct {
	kind    protocol.SecretPrompt
	allowed bool // the user dismissed it
}

// field is the place in which a secret is typed: from a column to the end of the line, over several
// rows if it wraps.
type field struct {
	set         bool
	alt         bool
	first, last uint64 // lines, see [secretprompt.Place]
	col         int
	cursor      int    // column in which agents see the cursor
	question    []byte // first byte of each cell before the field, 0 for an empty one
	typed       uint64 // how many writes the program had got when it was found
}

// isQuestionByte reports whether b, printed before the field, may belong to the question, drawn
// again.
func (f *field) isQuestionByte(col int, b byte) bool {
	return b <= ' ' || b == 0x7f || col < len(f.question) && f.question[col] == b
}

// cursorLine returns the line of the cursor.
func (p *privacy) cursorLine() secretprompt.Place {
	m := p.o.model
	row := uint64(m.Cursor().Row)
	if m.Alt() {
		return secretprompt.Place{Alt: true, Line: row}
	}
	return secretprompt.Place{Line: m.HistoryBase() + uint64(m.HistoryLen()) + row}
}

// locateCursor reports whether the cursor is on a line of the field, and whether it is inside the
// field.
func (p *privacy) locateCursor() (on, inside bool) {
	f := &p.field
	if !f.set {
		return false, false
	}
	at := p.cursorLine()
	on = at.Alt == f.alt && f.first <= at.Line && at.Line <= f.last
	return on, on && (at.Line > f.first || p.o.model.Cursor().Col >= f.col)
}

// feedModel hands output to the model. While a secret is typed it goes byte by byte, to know where
// each byte is shown: a password's prompt is short.
func (p *privacy) feedModel(now time.Time, out []byte) {
	secret := p.o.inputWait.countWrites() != p.field.typed || secretprompt.IsOnlyDots(out)
	for len(out) > 0 && p.field.set {
		if on, _ := p.locateCursor(); !on && !p.secret.IsPromptPresent() {
			p.field = field{}
			break
		}
		p.feedByte(out[0], secret)
		out = out[1:]
	}
	p.coverNext(false)
	if len(out) > 0 {
		p.o.model.Feed(out)
	}
	p.checkAfterOutput(now)
}

// feedByte feeds one byte. secret is false until something is typed after the field was found:
// until then the program continues its question.
func (p *privacy) feedByte(b byte, secret bool) {
	on, inside := p.locateCursor()
	if cursor := p.o.model.Cursor(); on && !inside && secret && p.o.model.IsAtGround() &&
		!p.field.isQuestionByte(cursor.Col, b) {
		p.field.col, inside = cursor.Col, true // the answer replaces a remark
		p.o.model.VeilCells(cursor.Row, cursor.Col, true)
	}
	p.coverNext(inside && secret && !endsLine(b))
	if on && !inside {
		p.text.alignColumn(p.o.model.Cursor().Col)
	}
	p.one[0] = b
	p.o.model.Feed(p.one[:])
	if at := p.cursorLine(); inside && !endsLine(b) && at.Line == p.field.last+1 &&
		p.o.model.RowWrapped(p.o.model.Cursor().Row-1) {
		p.field.last = at.Line
	}
}

// endsLine reports whether b is a control that moves the cursor out of the typed text: CR, LF, VT
// or FF.
func endsLine(b byte) bool { return '\n' <= b && b <= '\r' }

// coverNext notes whether the next output belongs to a secret, and veils its cells if so.
func (p *privacy) coverNext(secret bool) {
	p.text.secret = secret
	p.o.model.Veil(secret, !p.hidden.IsZero())
}

// checkPrompt asks the kernel and the screen whether a secret is asked for. Everything shown to an
// agent comes after such a check.
func (p *privacy) checkPrompt(now time.Time) {
	p.named = time.Time{}
	p.checkAfterOutput(now)
}

// checkAfterOutput is a cheaper check, which may run often: the name of the foreground program may
// be a little old.
func (p *privacy) checkAfterOutput(now time.Time) {
	p.looked = now
	f := p.gatherFacts()
	if p.o.exit != nil {
		p.secret = secretprompt.Detector{} // the program has ended
	}
	p.secret.UpdateKind(now, f)
	p.moveField(f)
	p.notifyPrompt(now)
}

func (p *privacy) gatherFacts() secretprompt.Facts {
	f := p.lasting
	f.Place, f.Paste = p.cursorLine(), p.o.model.Modes().BracketedPaste
	if p.o.exit != nil {
		return f
	}
	line, err := p.o.program.Line()
	f.Known, f.Line = err == nil, secretprompt.Line(line)
	if f.Known && !f.Line.Echo && !f.Line.Canonical {
		f.Left, f.Right = p.o.model.CursorText()
	}
	// A shell's read -s -n 1 has echo off only while it waits for the next key: the line settings
	// do not help here.
	f.Masked = p.echoesMarks(f.Place)
	return f
}

// echoesMarks reports whether the program echoes signs, such as dots, for what the user types.
func (p *privacy) echoesMarks(place secretprompt.Place) bool {
	m := p.o.model
	c := m.Cursor()
	if c.Pending {
		c.Col++
	}
	_, within := p.locateCursor()
	return p.masks.UpdateMasks(secretprompt.Spot{
		Place: place, Col: c.Col, Typed: p.o.agents.Session.TypedByUser(),
		Sign: func(col int) bool { return secretprompt.IsSign(m.Cell(c.Row, col).Content) },
		Asked: func(col int) bool {
			for col--; col >= 0; col-- {
				if text := m.Cell(c.Row, col).Content; strings.TrimSpace(text) != "" {
					return secretprompt.EndsQuestion(text)
				}
			}
			return false
		},
	}, within)
}

func (p *privacy) foregroundChain() []string {
	if p.looked.Sub(p.named) >= nameFor {
		p.name, p.named = p.o.program.ForegroundChain(), p.looked
	}
	return p.name
}

// moveField keeps the field where the secret is typed. A program that reads whole lines shows
// nothing of them, so it has no field. The field begins at the cursor, and may move until something
// is typed: the question comes in pieces.
func (p *privacy) moveField(f secretprompt.Facts) {
	shows := p.secret.IsPromptPresent() && !f.Line.Canonical
	on, _ := p.locateCursor()
	switch {
	case shows && strings.TrimSpace(f.Left) != "" &&
		(!on || p.o.inputWait.countWrites() == p.field.typed):
		cursor, answer := p.o.model.Cursor(), f.Left[secretprompt.SecretStart(f.Left):]
		col := max(0, cursor.Col-utf8.RuneCountInString(answer))
		first, masked := p.masks.SecretColumn()
		if masked {
			col = min(col, first)
		}
		p.setField(cursor.Row, col, on)
		if answer != "" || masked {
			p.text.dropRight(p.field.col)
		}
	case !shows && p.field.set && !on:
		p.field = field{}
	}
}

// relocateField finds the field again after a resize, when the rows have other numbers.
func (p *privacy) relocateField(now time.Time) {
	p.field = field{}
	p.checkPrompt(now)
}

// setField puts the field on the cursor's row. moved means that it was there already.
func (p *privacy) setField(row, col int, moved bool) {
	if moved {
		if p.field.col == col {
			return
		}
		p.o.model.VeilCells(row, p.field.col, false)
	}
	at := p.cursorLine()
	p.field = field{
		set:    true,
		alt:    at.Alt,
		first:  at.Line,
		last:   at.Line,
		col:    col,
		cursor: col,
		typed:  p.o.inputWait.countWrites(),
	}
	for x := range col {
		text := p.o.model.Cell(row, x).Content
		p.field.question = append(p.field.question, append([]byte(text), 0)[0])
	}
	p.o.model.VeilCells(row, col, true)
}

// notifyPrompt informs the pump and the agents of changes.
func (p *privacy) notifyPrompt(now time.Time) {
	current := prompt{p.secret.Kind(), p.secret.IsDismissed()}
	if current == p.told {
		return
	}
	before := p.told
	p.told = current
	p.o.agents.Session.NoteSecretPrompt(current.kind, current.allowed)
	if current.kind != before.kind {
		p.pauseRecording()
		isOpen := current.kind != protocol.SecretNone
		p.o.waits.NoteSecretPrompt(isOpen, p.secret.PromptSince(), p.o.model.Rev())
		p.o.agents.Session.SendBlackout(current.kind != protocol.SecretNone,
			protocol.BlackoutPassword, current.kind)
		p.o.markChanged(now)
	}
}

// pauseRecording pauses the recording while something is kept from agents.
func (p *privacy) pauseRecording() {
	reason := ""
	switch {
	case p.isHidden():
		reason = "the user hides the screen"
	case p.secret.Kind() != protocol.SecretNone:
		reason = "a password is being asked for"
	}
	if p.o.conf.Recorder != nil {
		p.o.conf.Recorder.RecordBlackout(reason != "", reason)
	}
}

// noteHardPrompt notes that the pump saw a hard prompt, which may be over already.
func (p *privacy) noteHardPrompt(now time.Time) {
	p.checkPrompt(now)
	p.secret.NoteHardPrompt(now)
	p.notifyPrompt(now)
	// The pump must learn of the end, even if the state is unchanged.
	p.o.agents.Session.NoteSecretPrompt(p.told.kind, p.told.allowed)
}

// allowPrompt lets agents see the present prompt, and lets the one that drives answer it, as the
// user decided.
func (p *privacy) allowPrompt(now time.Time) {
	p.secret.DismissPrompt(p.cursorLine())
	if on, _ := p.locateCursor(); on {
		p.o.model.VeilCells(p.fieldRow(), p.field.col, false)
	}
	p.field = field{}
	p.notifyPrompt(now)
}

// setHidden hides the screen from agents or shows it again. Then they see its text, but nothing
// else that was printed meanwhile.
func (p *privacy) setHidden(now time.Time, on bool) {
	if on == p.isHidden() {
		return
	}
	p.text.setHidden(on)
	p.o.waits.SetBlind(on)
	if on {
		p.hidden = now
		p.coverNext(false)
	} else {
		p.hidden = time.Time{}
		p.coverNext(false)
		p.o.model.Unveil()
	}
	p.pauseRecording()
	p.o.agents.Session.SendBlackout(on, protocol.BlackoutUser, "")
	p.o.markChanged(now)
	p.o.NoteScreenChange(now)
}

func (p *privacy) isHidden() bool { return !p.hidden.IsZero() }

// showsAll reports whether nothing is kept from agents.
func (p *privacy) showsAll() bool {
	return !p.isHidden() && !p.field.set && p.secret.Kind() == protocol.SecretNone
}

// currentBlackout describes what is hidden from a frame of now; nil means that it shows everything.
func (p *privacy) currentBlackout(now time.Time) *protocol.Hidden {
	switch {
	case !p.hidden.IsZero():
		return &protocol.Hidden{
			Why:     protocol.BlackoutUser,
			SinceMs: now.Sub(p.hidden).Milliseconds(),
		}
	case p.secret.Kind() != protocol.SecretNone:
		since := now.Sub(p.secret.PromptSince())
		return &protocol.Hidden{
			Why:        protocol.BlackoutPassword,
			Secret:     p.secret.Kind(),
			SinceMs:    since.Milliseconds(),
			Unattended: p.o.agents.Session.IsUnattended(),
		}
	}
	return nil
}

// shownCursor returns the cursor as agents see it. While a secret is typed it stands still, or they
// could count the characters.
func (p *privacy) shownCursor(c screen.Cursor) screen.Cursor {
	if _, inside := p.locateCursor(); inside {
		// If the question has left the screen, the cursor is shown at its top.
		if c.Row, c.Col = p.fieldRow(), p.field.cursor; c.Row < 0 {
			c.Row, c.Col = 0, 0
		}
	}
	return c
}

// fieldRow returns the row in which the field begins, while the cursor is on a line of it.
func (p *privacy) fieldRow() int {
	return p.o.model.Cursor().Row - int(p.cursorLine().Line-p.field.first)
}

// inGracePeriod reports whether a prompt is over, but agents may not type yet: the program may ask
// again.
func (p *privacy) inGracePeriod(now time.Time) bool {
	if p.secret.Kind() == protocol.SecretNone {
		return false
	}
	p.checkPrompt(now)
	return p.secret.Kind() != protocol.SecretNone && !p.secret.IsPromptPresent()
}

// nextCheck returns when the next check is due although nothing happens. A session that no agent
// drives and no one can look at needs no check.
func (p *privacy) nextCheck() (at time.Time, ok bool) {
	off := p.secret.Kind() == protocol.SecretNone
	if !p.o.agents.Session.IsDriven() && (!p.reached.Load() || off) ||
		off && p.o.agents.Session.IsResting() {
		return time.Time{}, false
	}
	at = p.looked.Add(checkEvery)
	if end, ends := p.secret.Next(); ends && end.Before(at) {
		at = end
	}
	return at, true
}
