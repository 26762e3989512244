package copier

import (
	"bytes"
	"errors"
	"time"

	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/tty"
	"terminalproxy/proxy/terminal/vt"
)

// Times and sizes of the output path.
const (
	chunkSize = 32 << 10
	// drainQuiet and maxDrain bound how long the output of an ended program may pause, and take in
	// all.
	drainQuiet = 100 * time.Millisecond
	maxDrain   = 2 * time.Second
	// More output usually follows a chunk of at least minBulk bytes. The copier waits for it for
	// bulkPause before it wakes the model, unless the model is due. Waking it for each chunk would
	// cost as much as the rest of the copying. A key's echo is shorter.
	minBulk   = 256
	bulkPause = 100 * time.Microsecond
	// maxCatchUp is a generous bound of a program's output in the kernel, in bytes.
	maxCatchUp = 256 << 10
	// A read of a PTY returns at most wholeRead bytes. After such a read the program is usually in
	// the middle of writing a screen: observers would see half of it, and the rest once it has
	// settled. So the copier looks for more for longer.
	wholeRead  = 4095
	wholePause = 2 * time.Millisecond
	// roomEvery is how often to check whether a model that was too far behind has caught up.
	roomEvery = 5 * time.Millisecond
	tailPause = 400 * time.Microsecond // after a shorter read: the kernel cuts anywhere
)

// Run copies until the program's terminal is closed, or the program has ended and its output
// pauses. It is called once.
func (c *Copier) Run() {
	defer close(c.done)
	defer c.writeLast()
	var end drain
	for !c.abort.Load() {
		timeout, over := c.prepareWait(&end)
		if over {
			c.heldOpen = true
			return
		}
		want := tty.Readable
		if c.mustWait() { // the program has to wait for its output, as with a slow terminal
			want, timeout, end.last = 0, roomEvery, time.Time{}
		}
		got, err := c.poll.Wait(want, timeout)
		if err != nil {
			return
		}
		if do := c.pendingCall.Swap(nil); do != nil {
			(*do)()
			continue
		}
		if got&tty.Readable == 0 {
			if c.needsWake {
				c.wakeModel()
			}
			continue
		}
		c.hasUnfed.Store(true)
		n, err := c.program.Read(c.buf[:])
		switch {
		case errors.Is(err, child.ErrAgain):
			c.hasUnfed.Store(false)
			continue
		case err != nil:
			return
		}
		c.passChunk(c.buf[:n])
		end.last = time.Time{}
	}
}

// mustWait reports whether to stop reading for now: the model is too far behind. The rest of an
// ended program never exceeds what the kernel keeps.
func (c *Copier) mustWait() bool {
	if c.full && (c.ending.Load() || c.model.HasRoom()) {
		c.full = false
	}
	return c.full
}

// writeLast writes the unfinished sequence with which the program ended. The program's text stays
// on the viewers' screens: the proxy removes only its own texts.
func (c *Copier) writeLast() {
	if c.heldCR {
		c.write([]byte("\r"))
	}
	c.write(c.filter.Flush())
	if c.viewers != nil {
		c.hideOverlay()
	}
}

// copyStopped copies the output that a program wrote before it stopped, which restores its
// terminal. Another program may continue to write, so the amount is bounded.
func (c *Copier) copyStopped() {
	for left := maxCatchUp; left > 0 && !c.abort.Load() && c.program.HasOutput(); {
		c.hasUnfed.Store(true)
		n, err := c.program.Read(c.buf[:])
		if err != nil {
			c.hasUnfed.Store(false)
			return // Run gets the error again
		}
		c.passChunk(c.buf[:n])
		left -= n
	}
}

// prepareWait does the work that fits in before the next chunk, and returns how long to wait for
// that: a moment after a large chunk, without limit after a small one. over means that the output
// of an ended program is complete.
func (c *Copier) prepareWait(end *drain) (timeout time.Duration, over bool) {
	timeout = -1
	if c.ending.Load() {
		if timeout, over = end.timeLeft(time.Now()); over {
			return 0, true
		}
	}
	if c.needsWake && c.lookFor > 0 {
		if c.dirty.Load() && time.Since(c.drawn) >= repaintEvery {
			c.drawOverlay() // a late redraw would not be seen between two chunks of a flood
		}
		return c.lookFor, false
	}
	if c.needsWake {
		c.wakeModel()
	}
	if c.dirty.Load() || c.untilRedraw() == 0 {
		c.drawOverlay()
	}
	if wait := c.untilRedraw(); wait >= 0 && (timeout < 0 || wait < timeout) {
		timeout = wait
	}
	return timeout, false
}

// drain decides when an ended program's output is over: after drainQuiet without output, or after
// maxDrain.
type drain struct{ began, last time.Time }

func (d *drain) timeLeft(now time.Time) (wait time.Duration, over bool) {
	if d.began.IsZero() {
		d.began = now
	}
	if d.last.IsZero() {
		d.last = now
	}
	if now.Sub(d.last) >= drainQuiet || now.Sub(d.began) >= maxDrain {
		return 0, true
	}
	return drainQuiet - now.Sub(d.last), false
}

// passChunk sends one chunk to the user and then to the model. If the chunk may touch the overlay,
// it removes that first.
func (c *Copier) passChunk(chunk []byte) {
	if !c.hasOutput {
		c.beginOutput()
	}
	if c.resized.Load() {
		// This asks the terminal for its cursor before the program draws for the new size.
		c.drawOverlay()
	}
	passed := c.filterChunk(chunk)
	if c.overlay != nil && c.overlay.IsUp() && (c.resized.Load() || !c.overlay.SparesTexts(passed)) {
		sign := c.overlay.IsSign()
		if (!sign || len(chunk) < wholeRead) && c.isCalm(time.Now()) {
			c.passUnderOverlay(chunk, passed)
			return
		}
		c.hideOverlay()
		if !sign { // a sign comes back later by itself
			c.dirty.Store(true)
		}
	}
	c.followModes(passed)
	out := c.uncookLines(passed.Bytes)
	rest := c.tryWrite(out)
	c.exit.noteWritten(out[:len(out)-len(rest)], len(rest) == 0)
	if c.model != nil {
		c.feedModel(chunk, len(rest) > 0)
	}
	c.writeRest(rest)
}

// feedModel feeds the terminal model, and wakes it if it is due. waits: the terminal has not taken
// all of the chunk, so there is time for the model.
func (c *Copier) feedModel(chunk []byte, waits bool) {
	c.needsWake, c.lookFor = true, lookAhead(len(chunk), c.lookFor)
	due, unseen, full := c.model.Feed(chunk)
	c.full = full
	c.hasUnfed.Store(false)
	if unseen && c.lookFor > 0 {
		c.lookFor = wholePause
	}
	if due || waits && !unseen {
		c.wakeModel()
	}
	c.unseen = unseen
}

// beginOutput runs before the first output.
func (c *Copier) beginOutput() {
	if c.overlay != nil && !c.terminalTaken { // otherwise another program would get the answer
		c.write(c.overlay.QueryCursor())
	}
	c.hasOutput = true
	close(c.first)
}

// lookAhead returns how long to look for more output after a chunk of n bytes. before is how long
// it looked before that chunk.
func lookAhead(n int, before time.Duration) time.Duration {
	switch {
	case n >= wholeRead:
		return wholePause
	case before >= tailPause:
		return tailPause
	case n >= minBulk:
		return bulkPause
	}
	return 0
}

// filterChunk returns the part of a chunk that may reach the user's terminal, with its cuts.
func (c *Copier) filterChunk(chunk []byte) vt.Chunk {
	if c.strict == nil {
		return c.cutter.Cut(chunk)
	}
	return c.filter.FilterOutput(chunk, c.strict())
}

// uncookLines undoes the program's terminal's conversion of line feeds, if the user's terminal
// converts them too.
func (c *Copier) uncookLines(p []byte) []byte {
	if c.heldCR {
		p, c.heldCR = append([]byte("\r"), p...), false
	}
	if c.convertsLineFeeds == nil || !c.convertsLineFeeds(c.terminalTaken) {
		return p
	}
	p = bytes.ReplaceAll(p, []byte("\r\n"), []byte("\n"))
	// A read may end between the two bytes.
	if before, ends := bytes.CutSuffix(p, []byte("\r")); ends && c.program.HasOutput() {
		p, c.heldCR = before, true
	}
	return p
}

// followModes updates the exit sequence for output that is about to be written to the user's
// screen.
func (c *Copier) followModes(chunk vt.Chunk) {
	c.exit.noteWriting(chunk)
	if n := c.exit.modes.TakeAsked(); n > 0 && c.cursorAsked != nil {
		c.cursorAsked(n)
	}
	if alt := c.exit.modes.Alt(); alt != c.alt.Load() {
		c.alt.Store(alt)
	}
}

// writeWithheld writes the sequences that the filter kept back.
func (c *Copier) writeWithheld(kept []byte) {
	if len(kept) > 0 {
		c.followModes(c.cutter.Cut(kept))
		c.write(kept)
		c.exit.noteWritten(kept, true)
	}
}

func (c *Copier) wakeModel() {
	c.model.Wake()
	c.needsWake, c.lookFor = false, 0
}

// writeRest writes the rest of a chunk. The exit sequence follows each piece: a full screen may
// take the next one only after this process has ended.
func (c *Copier) writeRest(p []byte) {
	for len(p) > 0 && !c.abort.Load() {
		rest := c.tryWrite(p)
		c.exit.noteWritten(p[:len(p)-len(rest)], len(rest) == 0)
		if p = rest; len(p) > 0 {
			c.waitRoom()
		}
	}
}

// write writes all of p, waiting for a screen that does not take output. Neither the model nor the
// keyboard waits with it.
func (c *Copier) write(p []byte) {
	for p = c.tryWrite(p); len(p) > 0 && !c.abort.Load(); p = c.tryWrite(p) {
		c.waitScreen()
	}
}

// tryWrite writes what the screen takes at once and returns the rest.
func (c *Copier) tryWrite(p []byte) []byte {
	if c.dead || len(p) == 0 || c.dropWrites.Load() {
		return nil
	}
	n, err := c.screen.Write(p)
	if err != nil && !errors.Is(err, tty.ErrAgain) {
		c.dead = true // the window is closed: the program continues until the hangup ends it
		return nil
	}
	return p[n:]
}

// waitRoom is waitScreen for a chunk that the model already has, so that the model can work on it
// meanwhile.
func (c *Copier) waitRoom() {
	if c.needsWake && c.unseen {
		got, err := c.poll.Wait(tty.Writable, wholePause)
		if err != nil || got&tty.Writable != 0 || c.abort.Load() {
			c.dead = c.dead || err != nil
			return
		}
		c.wakeModel()
	}
	c.waitScreen()
}

// waitScreen waits until the screen takes output, or another goroutine wakes it.
func (c *Copier) waitScreen() {
	if _, err := c.poll.Wait(tty.Writable, -1); err != nil {
		c.dead = true
	}
}
