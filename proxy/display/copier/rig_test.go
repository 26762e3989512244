package copier_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/display/copier"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/tty"
	"terminalproxy/proxy/terminal/vt"
)

// rig is everything around a copier: the program, the screen, the model, the overlay, the viewers
// and the watchdog. One ledger has what the copier does to them.
type rig struct {
	t  *testing.T
	c  *copier.Copier
	on bool // someone looks

	mu      sync.Mutex
	output  []string // of the program, not yet read
	ended   bool     // the program's terminal is closed
	room    int      // bytes that the screen takes; negative for all
	shut    bool     // the window is closed
	queued  int
	unseen  bool
	full    bool // the model is behind by too much
	ledger  []string
	seen    string // by the user
	exit    string // what the watchdog would write
	woken   bool
	reading func()        // called once, when the program is read
	writing func()        // called when the screen is written to
	alarm   bool          // the program has output, but a read returns none
	moved   chan struct{} // something that Wait waits for may be there

	strict bool
	shows  overlay
	looks  viewers
}

func newRig(t *testing.T, change func(*rig, *copier.Config)) *rig {
	r := &rig{t: t, on: true, room: -1, moved: make(chan struct{}, 1)}
	r.shows.rig, r.looks.rig = r, r
	conf := copier.Config{Program: program{r}, Screen: terminal{r}, Poll: r, Model: model{r}}
	if change != nil {
		change(r, &conf)
	}
	r.c = copier.New(conf)
	return r
}

// runCopier runs a copier in a bubble of fake time, and do beside it.
func runCopier(t *testing.T, change func(*rig, *copier.Config), do func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, change)
		go r.c.Run() // ends with the program's terminal, or with AbandonOutput
		defer func() {
			r.c.AbandonOutput()
			<-r.c.Done()
		}()
		synctest.Wait()
		do(t, r)
	})
}

// change changes what the copier waits for.
func (r *rig) change(do func()) {
	r.mu.Lock()
	do()
	r.mu.Unlock()
	select {
	case r.moved <- struct{}{}:
	default:
	}
}

// print lets the program write, and waits until the copier is idle.
func (r *rig) print(chunks ...string) {
	r.change(func() { r.output = append(r.output, chunks...) })
	synctest.Wait()
}

// setRoom sets how much the screen takes from now on.
func (r *rig) setRoom(room int) {
	r.change(func() { r.room = room })
	synctest.Wait()
}

func (r *rig) note(format string, args ...any) {
	r.ledger = append(r.ledger, fmt.Sprintf(format, args...))
}

// takeNotes returns what was noted since the last call.
func (r *rig) takeNotes() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := strings.Join(r.ledger, " | ")
	r.ledger = nil
	return all
}

// screen returns what the user has seen since the last call.
func (r *rig) screen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = ""
	return seen
}

func (r *rig) watchdog() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exit
}

func (r *rig) SetExit(line, modes []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exit = string(line) + string(modes)
}

func (r *rig) Wake() { r.change(func() { r.woken = true }) }

func (r *rig) Wait(want tty.Events, timeout time.Duration) (tty.Events, error) {
	var late <-chan time.Time
	if timeout >= 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	for {
		if got := r.ready(want); got != 0 {
			return got, nil
		}
		select {
		case <-r.moved:
		case <-late:
			return 0, nil
		}
	}
}

func (r *rig) ready(want tty.Events) (got tty.Events) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if want&tty.Readable != 0 && (len(r.output) > 0 || r.ended || r.alarm) {
		r.alarm = false
		got |= tty.Readable
	}
	if want&tty.Writable != 0 && (r.room != 0 || r.shut) {
		got |= tty.Writable
	}
	if r.woken {
		r.woken = false
		got |= tty.Woken
	}
	return got
}

type program struct{ *rig }

func (p program) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.output) == 0 && p.ended:
		return 0, io.EOF
	case len(p.output) == 0:
		return 0, child.ErrAgain
	}
	n := copy(b, p.output[0])
	if p.output[0] = p.output[0][n:]; p.output[0] == "" {
		p.output = p.output[1:]
	}
	if do := p.reading; do != nil {
		p.reading = nil
		p.mu.Unlock()
		do()
		p.mu.Lock()
	}
	return n, nil
}

func (p program) HasOutput() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.output) > 0
}

type terminal struct{ *rig }

func (s terminal) HasScreen() bool { return s.on }

func (s terminal) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return 0, io.ErrClosedPipe
	}
	if s.writing != nil {
		s.writing()
	}
	n := len(b)
	if s.room >= 0 {
		n = min(n, s.room)
		s.room -= n
	}
	if n == 0 {
		return 0, tty.ErrAgain
	}
	s.note("screen %q", b[:n])
	s.seen += string(b[:n])
	return n, nil
}

type model struct{ *rig }

func (m model) Feed(chunk []byte) (due, unseen, full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queued += len(chunk)
	m.note("model %q", chunk)
	return m.queued >= 32<<10, m.unseen, m.full
}

func (m model) HasRoom() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.full
}

func (m model) Wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queued = 0
	m.note("wake")
}

// overlay shows its text in brackets; taking it away is [-].
type overlay struct {
	*rig
	text    string // the text to show
	up      bool   // it is shown
	sign    bool
	asks    bool
	behind  bool // the model is
	cut     bool // the program's output has ended within a sequence
	touched bool // chunks do not miss what is shown
	again   time.Time
	title   string // gives the window its title back
	locates string // asks the terminal where its cursor is
}

func (o *overlay) draw() []byte {
	if o.up = o.text != ""; !o.up {
		return nil
	}
	return []byte("[" + o.text + "]")
}

func (o *overlay) erase(afresh bool) []byte {
	switch {
	case !o.up:
		return nil
	case afresh:
		return []byte("[all]")
	}
	return []byte("[-]")
}

func (o *overlay) IsBehind() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.behind
}

func (o *overlay) Paint(afresh bool) ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cut {
		o.note("cut")
		return nil, false
	}
	o.again = time.Time{}
	return append(o.erase(afresh), o.draw()...), true
}

func (o *overlay) DrawAround(chunk []byte, afresh bool) (before, after []byte, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note("model %q", chunk)
	before = o.erase(afresh)
	if o.cut {
		o.up = false
		return before, nil, false
	}
	return before, o.draw(), true
}

func (o *overlay) RemoveTexts(afresh bool) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	gone := o.erase(afresh)
	o.up = false
	return gone
}

func (o *overlay) RestoreProgram(alt bool) []byte { return fmt.Appendf(nil, "[resume %v]", alt) }
func (o *overlay) SparesTexts(vt.Chunk) bool      { return o.sign && !o.touched }
func (o *overlay) NoteTextsGone()                 { o.up = false }
func (o *overlay) IsUp() bool                     { return o.up }
func (o *overlay) IsSign() bool                   { return o.sign }
func (o *overlay) IsQuestion() bool               { return o.asks }
func (o *overlay) NextDraw() time.Time            { return o.again }
func (o *overlay) RestoreTitle() string           { return o.title }
func (o *overlay) NoteTitleRestored()             { o.title = "" }

func (o *overlay) NoteDrawn() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note("drawn")
}

func (o *overlay) RemoveAtExit() []byte {
	if !o.up {
		return nil
	}
	return []byte("[exit " + o.text + "]")
}

// viewers may be told to wait for the end of a sequence.
type viewers struct {
	*rig
	wait bool
}

func (v *viewers) Repaint() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.note("repaint")
	return !v.wait
}

func (v *viewers) NoteDrawn() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.note("viewers")
}

func (o *overlay) QueryCursor() []byte { return []byte(o.locates) }

// shown has an overlay show text from the start.
func shown(text string) func(*rig, *copier.Config) {
	return func(r *rig, conf *copier.Config) {
		r.shows.text = text
		conf.Overlay = &r.shows
		conf.Strict = func() bool { return r.strict }
	}
}

// watched is shown, and people look remotely.
func watched(text string) func(*rig, *copier.Config) {
	return func(r *rig, conf *copier.Config) {
		shown(text)(r, conf)
		conf.Viewers = &r.looks
	}
}

func (r *rig) equal(want, got string) {
	r.t.Helper()
	require.Equal(r.t, want, got)
}
