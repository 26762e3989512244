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

// copier alone reads the program and writes to the user's screen. The user's bytes go out first, in the goroutine that read
// them; the terminal model gets them afterwards.
type copier struct {
	child *child.Child
	term  *tty.Terminal
	poll  *tty.Poller
	// filter takes out of a chunk what must not reach the user's terminal; nil passes everything. The model gets what the
	// program wrote: nothing that is filtered shows on a screen, but for titles, which the painter sets in its own words.
	filter *escapes
	// feed hands bytes to the observer's goroutine, which copies them; waiting is what it has not taken yet. It is nil when nobody
	// needs a model: without agents the user's terminal answers the program, and nothing else looks.
	feed func([]byte) (waiting int)
	kick func() // makes the screen loop take them
	// overlay makes the bytes that show what the proxy has to say and take it away again; nil without agents.
	overlay *overlay.Painter
	// exit is what gives the terminal back.
	exit exitSequence
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
func (c *copier) repaint() {
	if !c.dirty.Swap(true) {
		c.poll.Wake()
	}
}

// resized says that the user's terminal has another size.
func (c *copier) resized() {
	c.moved.Store(true)
	c.repaint()
}

// renew asks for the whole screen to be sent to whoever looks from elsewhere.
func (c *copier) renew() {
	if c.fresh != nil {
		c.anew.Store(true)
		c.repaint()
	}
}

// end lets run return once the output of the ended program is through; abandon does not wait for that.
func (c *copier) end()     { c.ending.Store(true); c.poll.Wake() }
func (c *copier) abandon() { c.abort.Store(true); c.poll.Wake() }

// ask has the copier call do, between two chunks; withdraw takes that back and reports whether it was not too late.
func (c *copier) ask(do func())  { c.asked.Store(&do); c.poll.Wake() }
func (c *copier) withdraw() bool { return c.asked.Swap(nil) != nil }

// run copies until the program's terminal is closed, or the program has ended and its output pauses.
func (c *copier) run() {
	defer func() { c.write(c.filter.flush()) }()
	var end drain
	for !c.abort.Load() {
		timeout, over := c.pause(&end)
		if over {
			c.heldOpen = true
			return
		}
		got, err := c.poll.Wait(tty.Readable, timeout)
		if err != nil {
			return
		}
		if do := c.asked.Swap(nil); do != nil {
			(*do)()
			continue
		}
		if got&tty.Readable == 0 {
			if c.fed {
				c.wake()
			}
			continue
		}
		c.inHand.Store(true)
		n, err := c.child.Read(c.buf[:])
		switch {
		case errors.Is(err, child.ErrAgain):
			c.inHand.Store(false)
			continue
		case err != nil:
			return
		}
		c.pass(c.buf[:n])
		end.last = time.Time{}
	}
}

// catchUp copies what a program that has stopped wrote before: with that it gave its terminal back. Another one may write
// on, so there is an end to it.
func (c *copier) catchUp() {
	for left := catchUpMost; left > 0 && !c.abort.Load() && c.child.HasOutput(); {
		c.inHand.Store(true)
		n, err := c.child.Read(c.buf[:])
		if err != nil {
			c.inHand.Store(false)
			return // run meets it again
		}
		c.pass(c.buf[:n])
		left -= n
	}
}

// pause does what there is time for before the next chunk, and says how long to wait for that: a moment after a large
// chunk, for ever after a small one; over says that the output of a program that has ended is through.
func (c *copier) pause(end *drain) (timeout time.Duration, over bool) {
	timeout = -1
	if c.ending.Load() {
		if timeout, over = end.left(time.Now()); over {
			return 0, true
		}
	}
	if c.fed && c.flow > 0 {
		if c.dirty.Load() && time.Since(c.drawn) >= repaintEvery {
			c.draw() // what is only late would not be seen between two chunks of a flood
		}
		return c.flow, false
	}
	if c.fed {
		c.wake()
	}
	if c.dirty.Load() || c.late() == 0 {
		c.draw()
	}
	if wait := c.late(); wait >= 0 && (timeout < 0 || wait < timeout) {
		timeout = wait
	}
	return timeout, false
}

// late is how long it is until what could not be drawn yet may be, negative where there is nothing.
func (c *copier) late() time.Duration {
	if c.overlay == nil || c.overlay.Again().IsZero() {
		return -1
	}
	return max(0, time.Until(c.overlay.Again()))
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
func (c *copier) pass(chunk []byte) {
	if c.shown() && (c.moved.Load() || !c.overlay.Misses(chunk)) {
		sign := c.overlay.Lasting()
		if (!sign || len(chunk) < wholeRead) && c.calm(time.Now()) {
			c.passUnder(chunk)
			return
		}
		c.unshow()
		if !sign { // that comes back late, by itself
			c.dirty.Store(true)
		}
	}
	out := c.filter.pass(chunk)
	c.follow(out)
	rest := c.try(out)
	c.exit.written(out[:len(out)-len(rest)], len(rest) == 0)
	if c.feed == nil {
		c.writeOn(rest)
		return
	}
	c.fed, c.flow = true, lookFor(len(chunk), c.flow)
	waiting := c.feed(chunk)
	c.inHand.Store(false)
	if waiting >= kickAt || len(rest) > 0 {
		c.wake()
	}
	c.writeOn(rest)
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

// writeOn writes the rest of a chunk. The exit sequence follows each piece: a screen that is full may take the next one only
// after our end.
func (c *copier) writeOn(p []byte) {
	for len(p) > 0 && !c.abort.Load() {
		rest := c.try(p)
		c.exit.written(p[:len(p)-len(rest)], len(rest) == 0)
		if p = rest; len(p) > 0 {
			c.waitScreen()
		}
	}
}

// follow keeps the exit sequence up to date with what the program's screen is about to be sent.
func (c *copier) follow(chunk []byte) {
	c.exit.begin(chunk)
	if alt := c.exit.modes.Alt(); alt != c.alt.Load() {
		c.alt.Store(alt)
	}
}

// passUnder sends one chunk to the user while the proxy shows something over the program: that goes away, the chunk comes,
// and it is back, in one write, so that it does not flicker. For that the model has to be first.
func (c *copier) passUnder(chunk []byte) {
	passed := c.filter.pass(chunk)
	c.dirty.Store(false)
	before, after, ok := c.overlay.Around(chunk, c.moved.Swap(false))
	c.inHand.Store(false)
	if !ok || c.anew.Load() { // the chunk ended within a sequence, or somebody waits for the whole screen: the next draw will do
		c.dirty.Store(true)
	}
	c.drawn = time.Now()
	c.follow(passed)
	c.exit.shows(c.overlay.Exit())
	out := passed
	if len(before)+len(after) > 0 {
		out = append(append(before, passed...), after...)
	}
	c.write(out)
	c.exit.written(passed, true)
	if ok {
		c.settle()
	}
}

// settle is what follows each time that what the proxy shows was brought up to date: while that is a question the terminal's
// colours stay what they are.
func (c *copier) settle() {
	c.release(c.filter.keepColors(c.overlay.Asks()))
	if c.painted != nil {
		c.painted()
	}
}

// release sends the user what was kept back of the program's.
func (c *copier) release(kept []byte) {
	if len(kept) > 0 {
		c.follow(kept)
		c.write(kept)
		c.exit.written(kept, true)
	}
}

// shown reports whether the proxy shows something over the program.
func (c *copier) shown() bool { return c.overlay != nil && c.overlay.Up() }

// calm reports whether the program writes little enough for what the proxy shows to be drawn with each chunk.
func (c *copier) calm(now time.Time) bool {
	if now.Sub(c.window) >= repaintEvery {
		c.window, c.paints = now, 0
	}
	c.paints++
	return c.paints <= paintsMost
}

// wake has the screen loop take what it was fed.
func (c *copier) wake() {
	c.kick()
	c.fed, c.flow = false, 0
}

// unshow takes away what the proxy shows.
func (c *copier) unshow() {
	if c.shown() {
		c.write(c.overlay.Hide(c.moved.Swap(false)))
		c.exit.shows(nil)
	}
}

// try writes what the screen takes at once and returns the rest.
func (c *copier) try(p []byte) []byte {
	if c.dead {
		return nil
	}
	n, err := c.term.Write(p)
	if err != nil && !errors.Is(err, tty.ErrAgain) {
		c.dead = true // the window is closed: the program and its observers go on until the hangup ends them
		return nil
	}
	return p[n:]
}

// write writes all of p, waiting for a screen that does not take output. Neither the model nor the keyboard waits with it.
func (c *copier) write(p []byte) {
	for p = c.try(p); len(p) > 0 && !c.abort.Load(); p = c.try(p) {
		c.waitScreen()
	}
}

// waitScreen waits until the screen takes output, or somebody wants something else.
func (c *copier) waitScreen() {
	if _, err := c.poll.Wait(tty.Writable, -1); err != nil {
		c.dead = true
	}
}

// draw shows what the proxy has to say now, or leaves that to the next chunk if the program's last one ended within a
// sequence.
func (c *copier) draw() {
	c.dirty.Store(false)
	if !c.term.HasScreen() || c.overlay == nil || c.behind.Load() {
		return
	}
	if c.anew.Swap(false) {
		if !c.fresh() {
			c.anew.Store(true)
			c.dirty.Store(true)
			return
		}
		c.overlay.Forget() // the whole screen came without it
	}
	moved := c.moved.Swap(false)
	show, ok := c.overlay.Paint(moved)
	if !ok {
		c.moved.Store(moved || c.moved.Load())
		c.dirty.Store(true)
		return
	}
	c.exit.shows(c.overlay.Exit())
	c.write(show)
	c.drawn = time.Now()
	c.settle()
}
