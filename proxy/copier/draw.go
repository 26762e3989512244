package copier

import (
	"time"

	"terminalproxy/proxy/vt"
)

const (
	// repaintEvery is how often what the proxy shows is drawn anew while output floods.
	repaintEvery = 100 * time.Millisecond
	// paintsMost is how often it is drawn with a chunk in that time before the output counts as a flood.
	paintsMost = 16
)

// passUnder sends one chunk to the user while the proxy shows something over the program: that goes away, the chunk comes,
// and it is back, in one write, so that it does not flicker. For that the model has to be first.
func (c *Copier) passUnder(chunk []byte, passed vt.Chunk) {
	c.dirty.Store(false)
	c.follow(passed) // its questions come before those that are drawn after it
	before, after, ok := c.overlay.Around(chunk, c.moved.Swap(false))
	c.inHand.Store(false)
	if !ok || c.anew.Load() { // the chunk ended within a sequence, or somebody waits for the whole screen: the next draw will do
		c.dirty.Store(true)
	}
	c.drawn = time.Now()
	c.exit.shows(c.overlay.Exit())
	out := passed.Bytes
	if len(before)+len(after) > 0 {
		out = append(append(before, out...), after...)
	}
	c.write(out)
	c.exit.written(passed.Bytes, true)
	if ok {
		c.settle()
	}
}

// draw shows what the proxy has to say now, or leaves that to the next chunk if the program's last one ended within a
// sequence.
func (c *Copier) draw() {
	c.dirty.Store(false)
	if !c.screen.HasScreen() || c.overlay == nil || c.away {
		return
	}
	if c.overlay.Behind() {
		c.dirty.Store(true)
		return
	}
	if c.anew.Swap(false) {
		if !c.viewers.Repaint() {
			c.drawn = time.Now()
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

// settle is what follows each time that what the proxy shows was brought up to date: while that is a question the terminal's
// colours stay what they are.
func (c *Copier) settle() {
	c.release(c.filter.KeepColors(c.overlay.Asks()))
	c.overlay.Drawn()
	if c.viewers != nil {
		c.viewers.Drawn()
	}
}

// hide takes away what the proxy shows.
func (c *Copier) hide() {
	if c.overlay != nil && c.overlay.Up() {
		c.write(c.overlay.Hide(c.moved.Swap(false)))
		c.exit.shows(nil)
	}
}

// late is how long it is until what could not be drawn yet may be, negative where there is nothing.
func (c *Copier) late() time.Duration {
	if c.overlay == nil || c.overlay.Again().IsZero() {
		return -1
	}
	return max(0, time.Until(c.overlay.Again()))
}

// calm reports whether the program writes little enough for what the proxy shows to be drawn with each chunk.
func (c *Copier) calm(now time.Time) bool {
	if now.Sub(c.window) >= repaintEvery {
		c.window, c.paints = now, 0
	}
	c.paints++
	return c.paints <= paintsMost
}
