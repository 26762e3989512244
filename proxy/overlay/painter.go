package overlay

import (
	"slices"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/tty"
	"terminalproxy/proxy/vt"
)

// PainterConfig plugs a [Painter].
type PainterConfig struct {
	Loop   Loop
	Status *Status
	// Shown is told that a question stands on the screen, 0 that the present one can no longer be read.
	Shown func(question uint64)
	// Ask says that the terminal is asked for its cursor, the first time also how it counts clusters, and who takes the answer; nil
	// where nobody answers.
	Ask func(first bool, take func(row int))
	// Untitled says that the window's own title need not be kept: it is not here.
	Untitled bool
	// CaughtUp is told that the model has caught up after something was not drawn because it was behind; it may be called on
	// any goroutine. nil where nobody draws then.
	CaughtUp func()
}

// Painter makes the bytes that show what a [Status] has to say, and those that take it away. Its methods belong to the
// goroutine that writes to the terminal, but for Resized and Retitle.
type Painter struct {
	conf   PainterConfig
	title  string    // as it was set last, "" for not yet
	titles uint64    // of the program's, when it was set
	fresh  bool      // the terminal was never asked
	unsure bool      // it may show the main screen's rows elsewhere than the model: at first, and when it was resized
	asked  time.Time // when the question went out that has no answer yet
	sizes  int       // counts the resizes, to tell an answer that is out of date; these belong to the goroutine of the model

	behind atomic.Bool // the model is, and nothing is drawn: nobody waits for it until it has caught up
	lost   bool        // the terminal shows something else than the model and the picture

	picture  picture // stands on the terminal
	place    place   // of the line
	question uint64  // that the line puts, 0 for none
	shows    uint64  // the same, or that the title puts
	stood    bool    // some question was shown
	bought   bucket  // signs drawn
	follower follower
	reset    []uint8   // entries of the palette that have their own colours again for the picture
	again    time.Time // when there is to be drawn more, zero for nothing
	exit     []byte
}

// picture is what the proxy shows over the program; the zero value is nothing.
type picture struct {
	up, sign bool
	row      int
	text     string
	from     int    // column of a sign
	sgr      string // its look
	rev      uint64 // of the row of a sign, when it was drawn
	alt      bool
	cols     int
	rows     int
}

// NewPainter makes a painter that has drawn nothing.
func NewPainter(conf PainterConfig) *Painter {
	p := &Painter{conf: conf, place: place{high: conf.Status.conf.Taste.LineOnTop}, fresh: conf.Ask != nil, unsure: conf.Ask != nil}
	if conf.Untitled {
		p.title = " "
	}
	return p
}

// askCursor is DSR 6 (ECMA-48 8.3.35). Before the first one askClusters asks for the mode of grapheme clusters (DECRQM 2027): a
// terminal that does not know the mode is known by its answer to the other. Some print a letter of what they do not know, which is why
// the cursor is put back and what stands below it is erased in between; the model knows nothing of that anyway.
const (
	askCursor   = "\x1b[6n"
	askClusters = "\x1b7\x1b[?2027$p\x1b8\x1b[J"
)

// Locate makes the bytes that ask the terminal where its cursor is, before the first output: a program that does not clear the screen
// goes on below the shell's prompt, and the model has to know where that is. It waits for the goroutine of the model, and for no answer.
func (p *Painter) Locate() (ask []byte) {
	p.try(func(now time.Time) {
		if p.fresh {
			ask = p.align(now, nil)
		}
	})
	return ask
}

// Resized says that the terminal has another size. It belongs to the goroutine of the model.
func (p *Painter) Resized() {
	p.unsure = true
	p.sizes++
}

// align appends the question for the cursor when the terminal may show the main screen elsewhere than the model does, and
// moves the model's rows when the answer comes: the line could not be drawn and taken away otherwise, and an agent would
// count rows differently from the user.
func (p *Painter) align(now time.Time, dst []byte) []byte {
	m := p.conf.Loop.Model()
	if !p.unsure || m.Alt() || p.conf.Ask == nil {
		return dst
	}
	first := p.fresh
	p.fresh, p.unsure, p.asked = false, false, now
	at, size := m.Cursor().Row, p.sizes
	// What the program draws for the new size meets the rows where the terminal has them.
	patience := holdPatience
	if first { // the rows of a program that has not drawn yet can be put right only before it does
		patience = firstPatience
	}
	p.conf.Loop.Hold(now.Add(patience))
	p.conf.Ask(first, func(row int) {
		p.conf.Loop.Post(func(now time.Time) {
			p.asked = time.Time{}
			if size == p.sizes {
				m.Align(row - at)
				p.conf.Loop.Moved(now)
				p.conf.Loop.Hold(time.Time{})
			}
			p.conf.Status.conf.Repaint()
		})
	})
	time.AfterFunc(answerPatience, p.conf.Status.conf.Repaint) // for a terminal that does not answer
	if first {
		dst = append(dst, askClusters...)
	}
	return append(dst, askCursor...)
}

const (
	// answerPatience is how long the terminal gets to say where its cursor is before the line is drawn without that.
	answerPatience = time.Second
	// holdPatience is how long the model waits for that with what the program writes, and firstPatience for the first answer.
	holdPatience  = 100 * time.Millisecond
	firstPatience = 200 * time.Millisecond
)

// A sign is drawn at most signsMost times at once, and then once in every signEvery.
const (
	signsMost = 4
	signEvery = 250 * time.Millisecond
)

// bucket bounds how often something may happen.
type bucket struct {
	left int
	at   time.Time // when one was added last
}

// take reports whether it may happen now, or when.
func (b *bucket) take(now time.Time) (at time.Time, ok bool) {
	if n := int(now.Sub(b.at) / signEvery); b.at.IsZero() || n >= signsMost {
		b.left, b.at = signsMost, now
	} else if n > 0 {
		b.left, b.at = min(signsMost, b.left+n), b.at.Add(time.Duration(n)*signEvery)
	}
	if b.left == 0 {
		return b.at.Add(signEvery), false
	}
	b.left--
	return now, true
}

// Paint makes the bytes that show what there is to say now, in place of what is shown; ok is false while nothing may be
// inserted into the stream, or the model is behind: everything is drawn with its help. afresh says that the terminal was
// resized, and nobody knows where it moved what is shown.
func (p *Painter) Paint(afresh bool) (bytes []byte, ok bool) {
	ran, _ := p.try(func(now time.Time) {
		m := p.conf.Loop.Model()
		p.again = time.Time{}
		if ok = m.Ground(); !ok {
			return
		}
		before := p.erase(nil, m, afresh)
		after, kept := p.draw(now, m, afresh)
		if kept {
			before = nil
		}
		bytes = append(before, after...)
	})
	p.tell(ran && ok)
	return bytes, ran && ok
}

// Around feeds the model a chunk, and makes the bytes that go to the terminal before and after it, so that what the chunk
// scrolls or erases is the program's alone. ok is false when the chunk ended within a sequence, or the model is behind: nothing
// is shown then.
func (p *Painter) Around(chunk []byte, afresh bool) (before, after []byte, ok bool) {
	m, erased := p.conf.Loop.Model(), false
	erase := func(time.Time) {
		before, erased = p.erase(nil, m, afresh), true
	}
	draw := func(now time.Time) {
		p.again = time.Time{}
		if ok = m.Ground(); !ok {
			p.picture = picture{}
			return
		}
		kept := false
		if after, kept = p.draw(now, m, afresh); kept {
			before = nil
		}
	}
	ran, over := p.conf.Loop.TryAround(p.patience(), erase, chunk, draw, p.catchUp(time.Now()))
	if p.note(ran, over); !ran {
		p.lost = p.lost || !erased
		p.picture = picture{}
	}
	p.tell(ran && ok)
	return before, after, ran && ok
}

// Misses reports whether what of a chunk goes to the terminal leaves alone for sure what is shown, without asking the model: it
// may go there as it is.
func (p *Painter) Misses(passed vt.Chunk) bool { return p.picture.sign && p.follower.misses(passed) }

// Hide makes the bytes that take away what is shown; a sign is to come again after a while. It may be called when the loop
// has ended.
func (p *Painter) Hide(afresh bool) (bytes []byte) {
	if !p.picture.up {
		return nil // the loop, which may be far behind, is not waited for
	}
	hide := func(now time.Time) {
		bytes = p.erase(nil, p.conf.Loop.Model(), afresh)
		if p.picture.sign {
			p.again = now.Add(signEvery)
		}
		p.picture = picture{}
	}
	switch ran, over := p.try(hide); {
	case over:
		hide(time.Time{})
	case !ran:
		p.lost = p.lost || p.picture.up
		p.picture = picture{}
	}
	return bytes
}

// Resume makes the bytes that show the program again after the terminal was another's: every row of the alternate screen, alt.
// The main one shows what the other program left there, and the terminal is asked where its cursor is before the line is drawn.
func (p *Painter) Resume(alt bool) (all []byte) {
	if !alt {
		p.conf.Loop.Post(func(time.Time) { p.Resized() })
		return nil
	}
	ran, over := p.try(func(time.Time) { all = notice.Redraw(nil, p.conf.Loop.Model()) })
	p.lost = !ran && !over
	return all
}

// Forget says that what was shown is no longer on the terminal, which shows what the model does.
func (p *Painter) Forget() { p.picture, p.lost = picture{}, false }

// Drawn says that what was made last is on the terminal.
func (p *Painter) Drawn() { p.conf.Status.stands() }

// Up reports whether something is shown.
func (p *Painter) Up() bool { return p.picture.up }

// Lasting reports whether what is shown is the sign.
func (p *Painter) Lasting() bool { return p.picture.sign }

// Asks reports whether a question is shown, or was when it was last drawn: until it is gone the terminal's colours stay
// what they are.
func (p *Painter) Asks() bool { return p.question != 0 }

// Again is when more is to be drawn, zero for nothing.
func (p *Painter) Again() time.Time { return p.again }

// Exit takes away what is shown once the program is gone, nil for nothing.
func (p *Painter) Exit() []byte {
	if !p.picture.up {
		return nil
	}
	return p.exit
}

// tell says that a question is on the screen, as soon as what was made is.
func (p *Painter) tell(drawn bool) {
	switch {
	case drawn && p.shows != 0:
		p.conf.Shown(p.shows)
		p.stood = true
	case drawn && p.stood && p.conf.Status.unreadable(): // the window was made smaller
		p.conf.Shown(0)
		p.stood = false
	}
}

// draw appends what there is to show now, and title and bell. kept says that the sign stands already, so that nothing is to
// be taken away. It and the following belong to the goroutine of the model.
func (p *Painter) draw(now time.Time, m *screen.Screen, afresh bool) (show []byte, kept bool) {
	s := p.conf.Status
	p.shows = 0
	cols, rows := m.Size()
	line, window, ring, asks := s.compose(now, cols, rows, m.Title())
	if !p.fresh || line != "" || len(s.signs(now)) > 0 {
		show = p.align(now, show)
	}
	if s.takeBegun() {
		show = append(show, tty.Unlock...)
	}
	waits := now.Sub(p.asked) < answerPatience // until it is known where
	if waits {
		line, asks = "", 0
		s.unsaid()
	}
	p.shows, p.question = asks, asks
	if line == "" {
		p.question = 0
	}
	show = p.entitle(show, m, window)
	if ring {
		show = append(show, '\a')
	}
	show = s.appendAlert(show)
	was := p.picture
	p.picture = picture{}
	switch {
	case line != "":
		show = p.drawLine(now, show, m, line, asks != 0)
	case !waits:
		p.place = place{high: p.conf.Status.conf.Taste.LineOnTop}
		if next, ok := p.wanted(now, m, was, afresh); ok && next == was {
			p.picture = was
			p.follower = follow(m, was.row)
			return show, true
		} else if ok {
			show = p.drawSign(show, m, next)
		}
	}
	return show, false
}

// entitle appends the window's title, where it is not what it should be.
func (p *Painter) entitle(show []byte, m *screen.Screen, window string) []byte {
	titles := m.TitleSets()
	if window == "" || window == p.title && titles == p.titles {
		return show
	}
	if p.title == "" {
		show = append(show, notice.PushTitle...)
	}
	p.title, p.titles = window, titles
	return notice.Title(show, window)
}

// drawLine appends the line.
func (p *Painter) drawLine(now time.Time, show []byte, m *screen.Screen, line string, asks bool) []byte {
	row, again := p.place.put(now, m, line)
	if again > 0 {
		p.again = now.Add(again)
	}
	l := lookOn(m, &p.conf.Status.conf, asks)
	p.picture = p.newPicture(m, picture{row: row, text: line, sgr: l.sgr})
	show = p.unset(show, l)
	p.exit = notice.Erase(nil, m, row, line)
	return notice.Draw(show, m, row, l.sgr, line)
}

// wanted is the picture with the sign that there should be now; ok is false for none. A sign that would have to be drawn too
// soon after others comes later.
func (p *Painter) wanted(now time.Time, m *screen.Screen, was picture, afresh bool) (next picture, ok bool) {
	for _, text := range p.conf.Status.signs(now) {
		at, fits := signSpot(m, text, p.conf.Status.conf.Taste.SignOnTop)
		if !fits {
			continue
		}
		if !p.conf.Status.covers(now, at.over) {
			return picture{}, false
		}
		if at.wide {
			text = " " + text
		}
		l := lookOn(m, &p.conf.Status.conf, false)
		next = p.newPicture(m, picture{sign: true, row: at.row, from: at.from, text: text, sgr: l.sgr})
		if next == was && !afresh && !m.Veiled() {
			return next, true
		}
		later, ok := p.bought.take(now)
		if ok {
			return next, true
		}
		p.again = later
		if stands := was; was.sign && !afresh && !m.Veiled() && next.row == was.row && next.rev == was.rev {
			return stands, true // with the words of before
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

// drawSign appends the sign.
func (p *Painter) drawSign(show []byte, m *screen.Screen, pic picture) []byte {
	l := lookOn(m, &p.conf.Status.conf, false)
	show = p.unset(show, l)
	p.picture, p.follower = pic, follow(m, pic.row)
	if m.Alt() {
		p.exit = notice.Untag(nil, m, pic.row, pic.from)
	} else {
		p.exit = notice.UntagLast(nil, m, pic.row, pic.from)
	}
	return notice.Tag(show, m, pic.row, pic.from, l.sgr, pic.text)
}

// unset appends what gives entries of the palette their own colours back, which the look needs.
func (p *Painter) unset(show []byte, l look) []byte {
	for _, i := range l.reset {
		if !slices.Contains(p.reset, i) {
			p.reset = append(p.reset, i)
		}
	}
	return appendReset(show, l.reset)
}

// erase appends what takes the picture away.
func (p *Painter) erase(dst []byte, m *screen.Screen, afresh bool) []byte {
	if !p.picture.up && !p.lost {
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
	dst = appendPalette(dst, m, p.reset)
	p.reset = p.reset[:0]
	return dst
}

// Retitle has the title set anew: somebody looks whose window has none yet. It belongs to the goroutine of the model.
func (p *Painter) Retitle() { p.titles = ^uint64(0) }

// Untitled says that the window has its own title back.
func (p *Painter) Untitled() { p.title = "" }

// Untitle makes the bytes that give the window its own title back.
func (p *Painter) Untitle() string {
	if p.title == "" {
		return ""
	}
	return notice.PopTitle
}
