package copier

import (
	"bytes"
	"errors"
	"time"

	"terminalproxy/proxy/child"
	"terminalproxy/proxy/tty"
	"terminalproxy/proxy/vt"
)

// Times and sizes of the output path.
const (
	chunkSize = 32 << 10
	// drainQuiet and drainMost: how long the output of a program that has ended may pause, and take in all.
	drainQuiet = 100 * time.Millisecond
	drainMost  = 2 * time.Second
	// A chunk of at least bulk bytes has more behind it as a rule: the copier looks for it for bulkPause before it wakes
	// the model, which is woken anyway when it is due. Waking it for each chunk would cost as much as all the rest of the
	// copying. A key's echo is not bulk.
	bulk      = 256
	bulkPause = 100 * time.Microsecond
	// catchUpMost is what the kernel keeps of a program's output, generously.
	catchUpMost = 256 << 10
	// A read of a PTY gives no more than wholeRead bytes. After such a one the program is in the middle of a write, as a rule
	// of a screen: observers would see half of it, and the rest when it has settled. So the look for more is a longer one.
	wholeRead  = 4095
	wholePause = 2 * time.Millisecond
	// roomEvery is how often it is looked whether a model that was behind by too much has caught up.
	roomEvery = 5 * time.Millisecond
	tailPause = 400 * time.Microsecond // after a lesser one that follows: the kernel cuts a write where it likes
)

// Run copies until the program's terminal is closed, or the program has ended and its output pauses. It is called once.
func (c *Copier) Run() {
	defer close(c.done)
	defer c.last()
	var end drain
	for !c.abort.Load() {
		timeout, over := c.pause(&end)
		if over {
			c.heldOpen = true
			return
		}
		want := tty.Readable
		if c.waits() { // what was read is on the user's screen, and what was not is the program's, as with a slow terminal
			want, timeout, end.last = 0, roomEvery, time.Time{}
		}
		got, err := c.poll.Wait(want, timeout)
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
		n, err := c.program.Read(c.buf[:])
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

// waits reports whether no more is to be read for now: the model is behind by too much. The rest of a program that has ended is
// never more than the kernel keeps.
func (c *Copier) waits() bool {
	if c.full && (c.ending.Load() || c.model.HasRoom()) {
		c.full = false
	}
	return c.full
}

// last writes the half of a sequence with which the program ended. Those who look from elsewhere keep what is on their
// screens: the proxy takes its own away.
func (c *Copier) last() {
	if c.cr {
		c.write([]byte("\r"))
	}
	c.write(c.filter.Flush())
	if c.viewers != nil {
		c.hide()
	}
}

// catchUp copies what a program that has stopped wrote before: with that it gave its terminal back. Another one may write
// on, so there is an end to it.
func (c *Copier) catchUp() {
	for left := catchUpMost; left > 0 && !c.abort.Load() && c.program.HasOutput(); {
		c.inHand.Store(true)
		n, err := c.program.Read(c.buf[:])
		if err != nil {
			c.inHand.Store(false)
			return // Run meets it again
		}
		c.pass(c.buf[:n])
		left -= n
	}
}

// pause does what there is time for before the next chunk, and says how long to wait for that: a moment after a large
// chunk, for ever after a small one; over says that the output of a program that has ended is through.
func (c *Copier) pause(end *drain) (timeout time.Duration, over bool) {
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
func (c *Copier) pass(chunk []byte) {
	if !c.begun {
		c.begin()
	}
	if c.moved.Load() {
		c.draw() // which asks the terminal where its cursor is, before what the program draws for the new size
	}
	passed := c.filtered(chunk)
	if c.overlay != nil && c.overlay.Up() && (c.moved.Load() || !c.overlay.Misses(passed)) {
		sign := c.overlay.Lasting()
		if (!sign || len(chunk) < wholeRead) && c.calm(time.Now()) {
			c.passUnder(chunk, passed)
			return
		}
		c.hide()
		if !sign { // that comes back late, by itself
			c.dirty.Store(true)
		}
	}
	c.follow(passed)
	out := c.uncook(passed.Bytes)
	rest := c.try(out)
	c.exit.written(out[:len(out)-len(rest)], len(rest) == 0)
	if c.model == nil {
		c.writeOn(rest)
		return
	}
	c.fed, c.flow = true, lookFor(len(chunk), c.flow)
	due, unseen, full := c.model.Feed(chunk)
	c.full = full
	c.inHand.Store(false)
	if unseen && c.flow > 0 {
		c.flow = wholePause
	}
	if due || len(rest) > 0 && !unseen {
		c.wake()
	}
	c.unseen = unseen
	c.writeOn(rest)
}

// begin is before the first output.
func (c *Copier) begin() {
	if c.overlay != nil && !c.away { // another program would get the answer
		c.write(c.overlay.Locate())
	}
	c.begun = true
	close(c.first)
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

// filtered is what of a chunk may reach the user's terminal, with its cuts.
func (c *Copier) filtered(chunk []byte) vt.Chunk {
	if c.strict == nil {
		return c.cutter.Cut(chunk)
	}
	return c.filter.Pass(chunk, c.strict())
}

// uncook takes back what the program's terminal did to line feeds, where the user's does so itself.
func (c *Copier) uncook(p []byte) []byte {
	if c.cr {
		p, c.cr = append([]byte("\r"), p...), false
	}
	if c.cooks == nil || !c.cooks(c.away) {
		return p
	}
	p = bytes.ReplaceAll(p, []byte("\r\n"), []byte("\n"))
	if before, ends := bytes.CutSuffix(p, []byte("\r")); ends && c.program.HasOutput() { // a read ends where the kernel likes
		p, c.cr = before, true
	}
	return p
}

// follow keeps the exit sequence up to date with what the user's screen is about to be sent.
func (c *Copier) follow(chunk vt.Chunk) {
	c.exit.begin(chunk)
	if n := c.exit.modes.TakeAsked(); n > 0 && c.asks != nil {
		c.asks(n)
	}
	if alt := c.exit.modes.Alt(); alt != c.alt.Load() {
		c.alt.Store(alt)
	}
}

// release sends the user what the filter kept back of the program's.
func (c *Copier) release(kept []byte) {
	if len(kept) > 0 {
		c.follow(c.cutter.Cut(kept))
		c.write(kept)
		c.exit.written(kept, true)
	}
}

// wake has the model take what it was fed.
func (c *Copier) wake() {
	c.model.Wake()
	c.fed, c.flow = false, 0
}

// writeOn writes the rest of a chunk. The exit sequence follows each piece: a screen that is full may take the next one only
// after our end.
func (c *Copier) writeOn(p []byte) {
	for len(p) > 0 && !c.abort.Load() {
		rest := c.try(p)
		c.exit.written(p[:len(p)-len(rest)], len(rest) == 0)
		if p = rest; len(p) > 0 {
			c.waitRoom()
		}
	}
}

// write writes all of p, waiting for a screen that does not take output. Neither the model nor the keyboard waits with it.
func (c *Copier) write(p []byte) {
	for p = c.try(p); len(p) > 0 && !c.abort.Load(); p = c.try(p) {
		c.waitScreen()
	}
}

// try writes what the screen takes at once and returns the rest.
func (c *Copier) try(p []byte) []byte {
	if c.dead || len(p) == 0 || c.cut.Load() {
		return nil
	}
	n, err := c.screen.Write(p)
	if err != nil && !errors.Is(err, tty.ErrAgain) {
		c.dead = true // the window is closed: the program and its observers go on until the hangup ends them
		return nil
	}
	return p[n:]
}

// waitRoom is waitScreen for a chunk that the model has got, and may be left alone with for a moment.
func (c *Copier) waitRoom() {
	if c.fed && c.unseen {
		if got, err := c.poll.Wait(tty.Writable, wholePause); err != nil || got&tty.Writable != 0 || c.abort.Load() {
			c.dead = c.dead || err != nil
			return
		}
		c.wake()
	}
	c.waitScreen()
}

// waitScreen waits until the screen takes output, or somebody wants something else.
func (c *Copier) waitScreen() {
	if _, err := c.poll.Wait(tty.Writable, -1); err != nil {
		c.dead = true
	}
}
