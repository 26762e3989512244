package overlay

import (
	"slices"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/tty"
	"terminalproxy/proxy/terminal/vt"
)

// PainterConfig connects a [Painter].
type PainterConfig struct {
	Loop   Loop
	Status *Status
	// Shown is called with the number of a question when it is on the screen, and with 0 when it
	// can no longer be read.
	Shown func(question uint64)
	// Ask announces a question to the terminal for its cursor, the first time also for how it
	// counts clusters. take gets the answer. nil if the terminal does not answer.
	Ask func(first bool, take func(row int))
	// KeepTitle means that the window's own title need not be saved: the window is elsewhere.
	KeepTitle bool
	// Plain means that the terminal takes no sequences: see [TakesSequences].
	Plain bool
	// CaughtUp is called on any goroutine when the model has caught up, after something was not
	// drawn because it was behind. May be nil.
	CaughtUp func()
}

// Painter makes the bytes that draw the texts of a [Status], and those that remove them. The
// goroutine that writes to the terminal owns it; only NoteResize and RedrawTitle belong to the
// model's.
type Painter struct {
	conf          PainterConfig
	title         string    // the title set last
	titleCount    uint64    // how many titles the program had set at that time
	neverAsked    bool      // the terminal was never asked for its cursor
	rowsUncertain bool      // its rows may differ from the model's: at first, and after a resize
	askedAt       time.Time // when the open question for the cursor went out
	// sizes counts the resizes, so that a late answer is ignored. The model's goroutine owns it.
	sizes int

	behind atomic.Bool // the model is behind: do not wait for it, and draw nothing
	lost   bool        // the terminal does not show the model with the picture

	picture       picture // on the terminal now
	place         place   // of the line
	question      uint64  // asked by the line, or 0
	shownQuestion uint64  // asked by the line or the title, or 0
	signBudget    bucket  // signs drawn
	follower      follower
	reset         []uint8   // palette entries that were reset for the picture
	nextDraw      time.Time // when to draw again, or zero
	exit          []byte
	plain         plainText // on a plain terminal
}

// picture is what the proxy shows over the program. The zero value shows nothing.
type picture struct {
	up, sign bool
	row      int
	text     string
	from     int    // column of a sign
	sgr      string // its look
	rev      uint64 // of the sign's row when the sign was drawn
	alt      bool
	cols     int
	rows     int
}

// NewPainter returns a painter that has drawn nothing.
func NewPainter(conf PainterConfig) *Painter {
	p := &Painter{
		conf:          conf,
		place:         place{preferTop: conf.Status.conf.Taste.LineOnTop},
		neverAsked:    conf.Ask != nil,
		rowsUncertain: conf.Ask != nil,
	}
	if conf.KeepTitle {
		p.title = " "
	}
	return p
}

// askCursor is DSR 6 (ECMA-48 8.3.35). The first one follows askClusters, which asks for the mode
// of grapheme clusters (DECRQM 2027): a terminal that answers only askCursor does not know the
// mode. Some print a letter of a sequence that they do not know. Therefore the cursor is put back
// and the rows below are erased in between; the model is not told.
const (
	askCursor   = "\x1b[6n"
	askClusters = "\x1b7\x1b[?2027$p\x1b8\x1b[J"
)

// QueryCursor returns the bytes that ask the terminal where its cursor is, before the first output:
// a program that does not clear the screen continues below the shell's prompt, and the model has to
// know that row. It waits for the model's goroutine, but not for the answer.
func (p *Painter) QueryCursor() (ask []byte) {
	p.tryOnLoop(func(now time.Time) {
		if p.neverAsked {
			ask = p.askCursorRow(now, nil)
		}
	})
	return ask
}

// NoteResize notes that the terminal has another size. The model's goroutine calls it.
func (p *Painter) NoteResize() {
	p.rowsUncertain = true
	p.sizes++
}

// askCursorRow appends the question for the cursor if the terminal may show the main screen on
// other rows than the model. The answer moves the model's rows. Otherwise the line could not be
// drawn and removed, and an agent would count rows differently from the user.
func (p *Painter) askCursorRow(now time.Time, dst []byte) []byte {
	m := p.conf.Loop.Model()
	if !p.rowsUncertain || m.Alt() || p.conf.Ask == nil {
		return dst
	}
	first := p.neverAsked
	p.neverAsked, p.rowsUncertain, p.askedAt = false, false, now
	at, size := m.Cursor().Row, p.sizes
	// Output for the new size must meet the rows where the terminal has them.
	patience := holdPatience
	if first { // the rows can be corrected only before the program draws
		patience = firstPatience
	}
	p.conf.Loop.HoldOutput(now.Add(patience))
	p.conf.Ask(first, func(row int) {
		p.conf.Loop.Post(func(now time.Time) {
			p.askedAt = time.Time{}
			if size == p.sizes {
				m.ShiftRows(row - at)
				p.conf.Loop.NoteScreenChange(now)
				p.conf.Loop.HoldOutput(time.Time{})
			}
			p.conf.Status.conf.Repaint()
		})
	})
	// A terminal that does not answer must not delay the line forever.
	time.AfterFunc(answerPatience, p.conf.Status.conf.Repaint)
	if first {
		dst = append(dst, askClusters...)
	}
	return append(dst, askCursor...)
}

const (
	// answerPatience is how long the terminal has to report its cursor before the line is drawn
	// without that.
	answerPatience = time.Second
	// holdPatience is how long the model's input is held back for that, and firstPatience for the
	// first answer.
	holdPatience  = 100 * time.Millisecond
	firstPatience = 200 * time.Millisecond
)

// Paint returns the bytes that replace the picture by the one due now. ok is false while no bytes
// may be inserted into the stream, or while the model, which drawing needs, is behind. afresh means
// that the terminal was resized, and may have moved the picture.
func (p *Painter) Paint(afresh bool) (bytes []byte, ok bool) {
	ran, _ := p.tryOnLoop(func(now time.Time) {
		m := p.conf.Loop.Model()
		p.nextDraw = time.Time{}
		if ok = m.IsAtGround(); !ok {
			return
		}
		before := p.erasePicture(nil, m, afresh)
		after, kept := p.drawNow(now, m, afresh)
		if kept {
			before = nil
		}
		bytes = append(before, after...)
	})
	p.reportShown(ran && ok)
	return bytes, ran && ok
}

// DrawAround feeds the model a chunk, and returns the bytes that go to the terminal before and
// after it, so that the chunk scrolls and erases only the program's own text. ok is false if the
// chunk ended within a sequence, or if the model is behind: nothing is shown then.
func (p *Painter) DrawAround(chunk []byte, afresh bool) (before, after []byte, ok bool) {
	m, erased := p.conf.Loop.Model(), false
	erase := func(time.Time) {
		before, erased = p.endPlainText(chunk, p.erasePicture(nil, m, afresh)), true
	}
	draw := func(now time.Time) {
		p.nextDraw = time.Time{}
		if ok = m.IsAtGround(); !ok {
			p.picture = picture{}
			return
		}
		kept := false
		if after, kept = p.drawNow(now, m, afresh); kept {
			before = nil
		}
	}
	ran, over := p.conf.Loop.TryAround(p.currentPatience(), erase, chunk, draw,
		p.onCaughtUp(time.Now()))
	if p.noteBehind(ran, over); !ran {
		p.lost = p.lost || !erased
		p.picture = picture{}
	}
	p.reportShown(ran && ok)
	return before, after, ran && ok
}

// SparesTexts reports whether a passed chunk surely leaves the picture alone, so that it can go to
// the terminal as it is. It does not ask the model.
func (p *Painter) SparesTexts(passed vt.Chunk) bool {
	return p.picture.sign && p.follower.followIfHarmless(passed)
}

// RemoveTexts returns the bytes that remove the picture; a sign is drawn again after a while. It
// may be called after the loop has ended.
func (p *Painter) RemoveTexts(afresh bool) (bytes []byte) {
	if p.conf.Plain {
		return p.noteFlood()
	}
	if !p.picture.up {
		return nil // avoid waiting for a loop that may be far behind
	}
	hide := func(now time.Time) {
		bytes = p.erasePicture(nil, p.conf.Loop.Model(), afresh)
		if p.picture.sign {
			p.nextDraw = now.Add(signEvery)
		}
		p.picture = picture{}
	}
	switch ran, over := p.tryOnLoop(hide); {
	case over:
		hide(time.Time{})
	case !ran:
		p.lost = p.lost || p.picture.up
		p.picture = picture{}
	}
	return bytes
}

// RestoreProgram returns the bytes that show the program again after another program used the
// terminal: all rows of the alternate screen. The main screen keeps the other program's text, and
// the terminal is asked for its cursor before the line is drawn.
func (p *Painter) RestoreProgram(alt bool) (all []byte) {
	if !alt {
		p.conf.Loop.Post(func(time.Time) { p.NoteResize() })
		return nil
	}
	ran, over := p.tryOnLoop(func(time.Time) { all = notice.Redraw(nil, p.conf.Loop.Model()) })
	p.lost = !ran && !over
	return all
}

// NoteTextsGone notes that the terminal shows the model, without the picture.
func (p *Painter) NoteTextsGone() { p.picture, p.lost = picture{}, false }

// NoteDrawn notes that the bytes returned last are on the terminal.
func (p *Painter) NoteDrawn() { p.conf.Status.noteDrawn() }

// IsUp reports whether something is shown.
func (p *Painter) IsUp() bool { return p.picture.up || p.plain.text != "" }

// IsSign reports whether the picture is the sign.
func (p *Painter) IsSign() bool { return p.picture.sign }

// IsQuestion reports whether a question is shown, or was when it was last drawn. The terminal's
// colours must stay as they are until it is gone.
func (p *Painter) IsQuestion() bool { return p.question != 0 }

// NextDraw returns when to draw again, or zero.
func (p *Painter) NextDraw() time.Time { return p.nextDraw }

// RemoveAtExit returns the bytes that remove the picture once the program is gone.
func (p *Painter) RemoveAtExit() []byte {
	if p.plain.open {
		return []byte("\r\n")
	}
	if !p.picture.up {
		return nil
	}
	return p.exit
}

// reportShown reports a question once the bytes that show it are made.
func (p *Painter) reportShown(drawn bool) {
	if drawn && (p.shownQuestion != 0 || p.conf.Status.isQuestionUnreadable()) {
		p.conf.Shown(p.shownQuestion)
	}
}

// drawNow appends the picture due now, the title and the bell. kept reports that the sign is drawn
// already, so that nothing must be removed. The model's goroutine calls it and the following
// methods.
func (p *Painter) drawNow(now time.Time, m *screen.Screen, afresh bool) (show []byte, kept bool) {
	s := p.conf.Status
	p.shownQuestion = 0
	cols, rows := m.Size()
	line, window, ring, asks := s.composeNow(now, cols, rows, m.Title())
	if p.conf.Plain {
		return p.printPlain(now, rows, line, ring, asks), false
	}
	if !p.neverAsked || line != "" || len(s.signForms(now)) > 0 {
		show = p.askCursorRow(now, show)
	}
	if s.takeBegun() {
		show = append(show, tty.Unlock...)
	}
	waiting := now.Sub(p.askedAt) < answerPatience // the rows are not known yet
	if waiting {
		line, asks = "", 0
		s.noteNotDrawn()
	}
	p.shownQuestion, p.question = asks, asks
	if line == "" {
		p.question = 0
	}
	show = p.appendTitle(show, m, window)
	if ring {
		show = append(show, '\a')
	}
	show = s.appendAlert(show)
	before := p.picture
	p.picture = picture{}
	switch {
	case line != "":
		show = p.drawLine(now, show, m, line, asks != 0)
	case !waiting:
		p.place = place{preferTop: p.conf.Status.conf.Taste.LineOnTop}
		if next, ok := p.nextSign(now, m, before, afresh); ok && next == before {
			p.picture = before
			p.follower = newFollower(m, before.row)
			return show, true
		} else if ok {
			show = p.drawSign(show, m, next)
		}
	}
	return show, false
}

// appendTitle appends the window's title if it changed.
func (p *Painter) appendTitle(show []byte, m *screen.Screen, window string) []byte {
	titles := m.TitleSets()
	if window == "" || window == p.title && titles == p.titleCount {
		return show
	}
	if p.title == "" {
		show = append(show, notice.PushTitle...)
	}
	p.title, p.titleCount = window, titles
	return notice.Title(show, window)
}

func (p *Painter) drawLine(
	now time.Time, show []byte, m *screen.Screen, line string, asks bool,
) []byte {
	row, again := p.place.chooseRow(now, m, line)
	if again > 0 {
		p.nextDraw = now.Add(again)
	}
	l := lookOn(m, &p.conf.Status.conf, asks)
	p.picture = p.newPicture(m, picture{row: row, text: line, sgr: l.sgr})
	show = p.resetColors(show, l)
	p.exit = notice.Erase(nil, m, row, line)
	return notice.Draw(show, m, row, l.sgr, line)
}

// nextSign returns the picture with the sign due now. A sign that would follow others too soon
// comes later.
func (p *Painter) nextSign(
	now time.Time, m *screen.Screen, before picture, afresh bool,
) (next picture, ok bool) {
	for _, text := range p.conf.Status.signForms(now) {
		at, fits := findSignSpot(m, text, p.conf.Status.conf.Taste.SignOnTop)
		if !fits {
			continue
		}
		if !p.conf.Status.maySignCover(now, at.coversText) {
			return picture{}, false
		}
		if at.wide {
			text = " " + text
		}
		l := lookOn(m, &p.conf.Status.conf, false)
		next = p.newPicture(m,
			picture{sign: true, row: at.row, from: at.from, text: text, sgr: l.sgr})
		if next == before && !afresh && !m.IsVeiled() {
			return next, true
		}
		later, ok := p.signBudget.spend(now)
		if ok {
			return next, true
		}
		p.nextDraw = later
		if before.sign && !afresh && !m.IsVeiled() && next.row == before.row &&
			next.rev == before.rev {
			return before, true // with its earlier text
		}
		return picture{}, false
	}
	return picture{}, false
}

func (p *Painter) newPicture(m *screen.Screen, pic picture) picture {
	pic.up, pic.alt, pic.rev = true, m.Alt(), m.RowRev(pic.row)
	pic.cols, pic.rows = m.Size()
	return pic
}

func (p *Painter) drawSign(show []byte, m *screen.Screen, pic picture) []byte {
	l := lookOn(m, &p.conf.Status.conf, false)
	show = p.resetColors(show, l)
	p.picture, p.follower = pic, newFollower(m, pic.row)
	if m.Alt() {
		p.exit = notice.Untag(nil, m, pic.row, pic.from)
	} else {
		p.exit = notice.UntagLast(nil, m, pic.row, pic.from)
	}
	return notice.Tag(show, m, pic.row, pic.from, l.sgr, pic.text)
}

// resetColors resets the entries of the palette that the look needs.
func (p *Painter) resetColors(show []byte, l look) []byte {
	for _, i := range l.reset {
		if !slices.Contains(p.reset, i) {
			p.reset = append(p.reset, i)
		}
	}
	return appendReset(show, l.reset)
}

func (p *Painter) erasePicture(dst []byte, m *screen.Screen, afresh bool) []byte {
	if !p.picture.up && !p.lost || p.conf.Plain {
		return dst
	}
	switch pic := p.picture; {
	case afresh, p.lost:
		p.lost = false
		dst = notice.Redraw(dst, m)
	case pic.sign:
		dst = notice.Untag(dst, m, pic.row, pic.from)
	default:
		dst = notice.Erase(dst, m, pic.row, pic.text)
	}
	dst = appendProgramColors(dst, m, p.reset)
	p.reset = p.reset[:0]
	return dst
}

// RedrawTitle sets the title again for a person whose window has no title yet. The model's
// goroutine calls it.
func (p *Painter) RedrawTitle() { p.titleCount = ^uint64(0) }

// NoteTitleRestored notes that the window has its own title back.
func (p *Painter) NoteTitleRestored() { p.title = "" }

// RestoreTitle makes the bytes that give the window its own title back.
func (p *Painter) RestoreTitle() string {
	if p.title == "" {
		return ""
	}
	return notice.PopTitle
}
