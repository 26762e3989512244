package proxy

import (
	"errors"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/child"
	"terminalproxy/proxy/overlay"
	"terminalproxy/proxy/tty"
)

// Times and sizes of the output path.
const (
	chunkSize = 32 << 10
	// repaintEvery is how often the proxy's line is drawn anew while output floods.
	repaintEvery = 100 * time.Millisecond
	// paintsMost is how often it is drawn with a chunk in that time before the output counts as a flood.
	paintsMost = 16
	// drainQuiet and drainMost: how long the output of a program that has ended may pause, and take in all.
	drainQuiet = 100 * time.Millisecond
	drainMost  = 2 * time.Second
	// A chunk of at least bulk bytes has more behind it as a rule: the copier looks for it for bulkPause before it wakes
	// the screen loop, and wakes it anyway when kickAt bytes wait. Waking it for each chunk would cost as much as all the
	// rest of the copying. A key's echo is not bulk.
	bulk      = 256
	bulkPause = 100 * time.Microsecond
	kickAt    = 32 << 10
	// catchUpMost is what the kernel keeps of a program's output, generously.
	catchUpMost = 256 << 10
	// A read of a PTY gives no more than wholeRead bytes. After such a one the program is in the middle of a write, as a rule
	// of a screen: observers would see half of it, and the rest when it has settled. So the look for more is a longer one.
	wholeRead  = 4095
	wholePause = 2 * time.Millisecond
	tailPause  = 400 * time.Microsecond // after a lesser one that follows: the kernel cuts a write where it likes
)

// output is the copier: it alone reads the program and writes to the user's screen. The user's bytes go out first, in the
// goroutine that read them; the terminal model gets them afterwards.
type output struct {
	child *child.Child
	term  *tty.Terminal
	poll  *tty.Poller
	// filter takes out of a chunk what must not reach the user's terminal; nil passes everything. The model gets what the
	// program wrote: nothing that is filtered shows on a screen, but for titles, which the painter sets in its own words.
	filter *escapes
	// feed hands bytes to the screen loop, which copies them; waiting is what it has not taken yet. It is nil when nobody
	// needs a model: without agents the user's terminal answers the program, and nothing else looks.
	feed func([]byte) (waiting int)
	kick func() // makes the screen loop take them
	// overlay makes the bytes that show what the proxy has to say and take it away again; nil without agents.
	overlay *overlay.Painter
	// last is what gives the terminal back.
	last testament
	// fresh sends whoever looks from elsewhere the whole screen; it reports false while that cannot be inserted into the
	// stream. It is nil where nobody can.
	fresh func() bool
	// painted is called after each time that what the proxy shows was brought up to date; it may be nil.
	painted func()

	buf    [chunkSize]byte
	drawn  time.Time // last repaint
	window time.Time // begin of the time in which paints are counted
	paints int
	inHand atomic.Bool   // output was read, or is being read, that the model was not fed yet
	fed    bool          // the screen loop has not been woken for the last chunk
	flow   time.Duration // how long to look for more after the last chunk, 0 where none is likely
	dead   bool          // the screen takes nothing any more
	dirty  atomic.Bool
	moved  atomic.Bool // the terminal changed size
	alt    atomic.Bool // the program is on the alternate screen, as far as was written
	asked  atomic.Pointer[func()]
	behind atomic.Bool // the terminal is the shell's: nothing of ours is drawn
	anew   atomic.Bool // somebody needs the whole screen
	ending atomic.Bool // the program has ended: drain and return
	abort  atomic.Bool // give up at once

	heldOpen bool // somebody still had the program's terminal open at the end
}

// repaint asks for the proxy's own line to be drawn anew. It may be called from any goroutine.
func (o *output) repaint() {
	if !o.dirty.Swap(true) {
		o.poll.Wake()
	}
}

// resized says that the user's terminal has another size.
func (o *output) resized() {
	o.moved.Store(true)
	o.repaint()
}

// renew asks for the whole screen to be sent to whoever looks from elsewhere.
func (o *output) renew() {
	if o.fresh != nil {
		o.anew.Store(true)
		o.repaint()
	}
}

// end lets run return once the output of the ended program is through; abandon does not wait for that.
func (o *output) end()     { o.ending.Store(true); o.poll.Wake() }
func (o *output) abandon() { o.abort.Store(true); o.poll.Wake() }

// ask has the copier call do, between two chunks; withdraw takes that back and reports whether it was not too late.
func (o *output) ask(do func())  { o.asked.Store(&do); o.poll.Wake() }
func (o *output) withdraw() bool { return o.asked.Swap(nil) != nil }

// run copies until the program's terminal is closed, or the program has ended and its output pauses.
func (o *output) run() {
	defer func() { o.write(o.filter.flush()) }()
	var end drain
	for !o.abort.Load() {
		timeout, over := o.pause(&end)
		if over {
			o.heldOpen = true
			return
		}
		got, err := o.poll.Wait(tty.Readable, timeout)
		if err != nil {
			return
		}
		if do := o.asked.Swap(nil); do != nil {
			(*do)()
			continue
		}
		if got&tty.Readable == 0 {
			if o.fed {
				o.wake()
			}
			continue
		}
		o.inHand.Store(true)
		n, err := o.child.Read(o.buf[:])
		switch {
		case errors.Is(err, child.ErrAgain):
			o.inHand.Store(false)
			continue
		case err != nil:
			return
		}
		o.pass(o.buf[:n])
		end.last = time.Time{}
	}
}

// catchUp copies what a program that has stopped wrote before: with that it gave its terminal back. Another one may write
// on, so there is an end to it.
func (o *output) catchUp() {
	for left := catchUpMost; left > 0 && !o.abort.Load() && o.child.HasOutput(); {
		o.inHand.Store(true)
		n, err := o.child.Read(o.buf[:])
		if err != nil {
			o.inHand.Store(false)
			return // run meets it again
		}
		o.pass(o.buf[:n])
		left -= n
	}
}

// pause does what there is time for before the next chunk, and says how long to wait for that: a moment after a large
// chunk, for ever after a small one; over says that the output of a program that has ended is through.
func (o *output) pause(end *drain) (timeout time.Duration, over bool) {
	timeout = -1
	if o.ending.Load() {
		if timeout, over = end.left(time.Now()); over {
			return 0, true
		}
	}
	if o.fed && o.flow > 0 {
		if o.dirty.Load() && time.Since(o.drawn) >= repaintEvery {
			o.draw() // what is only late would not be seen between two chunks of a flood
		}
		return o.flow, false
	}
	if o.fed {
		o.wake()
	}
	if o.dirty.Load() || o.late() == 0 {
		o.draw()
	}
	if wait := o.late(); wait >= 0 && (timeout < 0 || wait < timeout) {
		timeout = wait
	}
	return timeout, false
}

// late is how long it is until what could not be drawn yet may be, negative where there is nothing.
func (o *output) late() time.Duration {
	if o.overlay == nil || o.overlay.Again().IsZero() {
		return -1
	}
	return max(0, time.Until(o.overlay.Again()))
}

// drain measures the end of a program's output: until drainQuiet without any, at most drainMost.
type drain struct{ began, last time.Time }

func (d *drain) left(now time.Time) (wait time.Duration, over bool) {
	if d.began.IsZero() {
		d.began = now
	}
	if d.last.IsZero() {
		d.last = now
	}
	if now.Sub(d.last) >= drainQuiet || now.Sub(d.began) >= drainMost {
		return 0, true
	}
	return drainQuiet - now.Sub(d.last), false
}

// pass sends one chunk to the user and then to the model. What the proxy shows over the program is taken away before.
func (o *output) pass(chunk []byte) {
	if o.shown() && (o.moved.Load() || !o.overlay.Misses(chunk)) {
		sign := o.overlay.Lasting()
		if (!sign || len(chunk) < wholeRead) && o.calm(time.Now()) {
			o.passUnder(chunk)
			return
		}
		o.unshow()
		if !sign { // that comes back late, by itself
			o.dirty.Store(true)
		}
	}
	out := o.filter.pass(chunk)
	o.follow(out)
	rest := o.try(out)
	o.last.written(out[:len(out)-len(rest)], len(rest) == 0)
	if o.feed == nil {
		o.writeOn(rest)
		return
	}
	o.fed, o.flow = true, lookFor(len(chunk), o.flow)
	waiting := o.feed(chunk)
	o.inHand.Store(false)
	if waiting >= kickAt || len(rest) > 0 {
		o.wake()
	}
	o.writeOn(rest)
}

// lookFor is how long to look for more after a chunk of n bytes, which came after a look for before.
func lookFor(n int, before time.Duration) time.Duration {
	switch {
	case n >= wholeRead:
		return wholePause
	case before >= tailPause:
		return tailPause
	case n >= bulk:
		return bulkPause
	}
	return 0
}

// writeOn writes the rest of a chunk. The will follows each piece: a screen that is full may take the next one only after
// our end.
func (o *output) writeOn(p []byte) {
	for len(p) > 0 && !o.abort.Load() {
		rest := o.try(p)
		o.last.written(p[:len(p)-len(rest)], len(rest) == 0)
		if p = rest; len(p) > 0 {
			o.waitScreen()
		}
	}
}

// follow keeps the will up to date with what the program's screen is about to be sent.
func (o *output) follow(chunk []byte) {
	o.last.begin(chunk)
	if alt := o.last.modes.Alt(); alt != o.alt.Load() {
		o.alt.Store(alt)
	}
}

// passUnder sends one chunk to the user while the proxy shows something over the program: that goes away, the chunk comes,
// and it is back, in one write, so that it does not flicker. For that the model has to be first.
func (o *output) passUnder(chunk []byte) {
	passed := o.filter.pass(chunk)
	o.dirty.Store(false)
	before, after, ok := o.overlay.Around(chunk, o.moved.Swap(false))
	o.inHand.Store(false)
	if !ok || o.anew.Load() { // the chunk ended within a sequence, or somebody waits for the whole screen: the next draw will do
		o.dirty.Store(true)
	}
	o.drawn = time.Now()
	o.follow(passed)
	o.last.shows(o.overlay.Will())
	out := passed
	if len(before)+len(after) > 0 {
		out = append(append(before, passed...), after...)
	}
	o.write(out)
	o.last.written(passed, true)
	if ok {
		o.settle()
	}
}

// settle is what follows each time that what the proxy shows was brought up to date: while that is a question the terminal's
// colours stay what they are.
func (o *output) settle() {
	o.release(o.filter.keepColors(o.overlay.Asks()))
	if o.painted != nil {
		o.painted()
	}
}

// release sends the user what was kept back of the program's.
func (o *output) release(kept []byte) {
	if len(kept) > 0 {
		o.follow(kept)
		o.write(kept)
		o.last.written(kept, true)
	}
}

// shown reports whether the proxy shows something over the program.
func (o *output) shown() bool { return o.overlay != nil && o.overlay.Up() }

// calm reports whether the program writes little enough for what the proxy shows to be drawn with each chunk.
func (o *output) calm(now time.Time) bool {
	if now.Sub(o.window) >= repaintEvery {
		o.window, o.paints = now, 0
	}
	o.paints++
	return o.paints <= paintsMost
}

// wake has the screen loop take what it was fed.
func (o *output) wake() {
	o.kick()
	o.fed, o.flow = false, 0
}

// unshow takes away what the proxy shows.
func (o *output) unshow() {
	if o.shown() {
		o.write(o.overlay.Hide(o.moved.Swap(false)))
		o.last.shows(nil)
	}
}

// try writes what the screen takes at once and returns the rest.
func (o *output) try(p []byte) []byte {
	if o.dead {
		return nil
	}
	n, err := o.term.Write(p)
	if err != nil && !errors.Is(err, tty.ErrAgain) {
		o.dead = true // the window is closed: the program and its observers go on until the hangup ends them
		return nil
	}
	return p[n:]
}

// write writes all of p, waiting for a screen that does not take output. Neither the model nor the keyboard waits with it.
func (o *output) write(p []byte) {
	for p = o.try(p); len(p) > 0 && !o.abort.Load(); p = o.try(p) {
		o.waitScreen()
	}
}

// waitScreen waits until the screen takes output, or somebody wants something else.
func (o *output) waitScreen() {
	if _, err := o.poll.Wait(tty.Writable, -1); err != nil {
		o.dead = true
	}
}

// draw shows what the proxy has to say now, or leaves that to the next chunk if the program's last one ended within a
// sequence.
func (o *output) draw() {
	o.dirty.Store(false)
	if !o.term.HasScreen() || o.overlay == nil || o.behind.Load() {
		return
	}
	if o.anew.Swap(false) {
		if !o.fresh() {
			o.anew.Store(true)
			o.dirty.Store(true)
			return
		}
		o.overlay.Forget() // the whole screen came without it
	}
	moved := o.moved.Swap(false)
	show, ok := o.overlay.Paint(moved)
	if !ok {
		o.moved.Store(moved || o.moved.Load())
		o.dirty.Store(true)
		return
	}
	o.last.shows(o.overlay.Will())
	o.write(show)
	o.drawn = time.Now()
	o.settle()
}
