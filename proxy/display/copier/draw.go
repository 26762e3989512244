package copier

import (
	"time"

	"terminalproxy/proxy/terminal/vt"
)

const (
	// repaintEvery is the interval of redrawing the overlay during a flood of output.
	repaintEvery = 100 * time.Millisecond
	// maxPaints is how often it may be drawn with a chunk in that time. More output counts as a
	// flood.
	maxPaints = 16
)

// passUnderOverlay sends one chunk to the user while the overlay shows a text. It removes the text,
// writes the chunk and draws the text again, in one write to avoid flicker. The model has to
// process the chunk first.
func (c *Copier) passUnderOverlay(chunk []byte, passed vt.Chunk) {
	c.dirty.Store(false)
	c.followModes(passed) // its questions come before those drawn after it
	before, after, ok := c.overlay.DrawAround(chunk, c.resized.Swap(false))
	c.hasUnfed.Store(false)
	// Within a sequence, or while a viewer waits for the whole screen, draw later.
	if !ok || c.needsScreen.Load() {
		c.dirty.Store(true)
	}
	c.drawn = time.Now()
	c.exit.noteShown(c.overlay.RemoveAtExit())
	out := passed.Bytes
	if len(before)+len(after) > 0 {
		out = append(append(before, out...), after...)
	}
	c.write(out)
	c.exit.noteWritten(passed.Bytes, true)
	if ok {
		c.finishDrawing()
	}
}

// drawOverlay draws the overlay now, or leaves that to the next chunk if the program's last one
// ended within a sequence.
func (c *Copier) drawOverlay() {
	c.dirty.Store(false)
	if !c.screen.HasScreen() || c.overlay == nil || c.terminalTaken {
		return
	}
	if c.overlay.IsBehind() {
		c.dirty.Store(true)
		return
	}
	if c.needsScreen.Swap(false) {
		if !c.viewers.Repaint() {
			c.drawn = time.Now()
			c.needsScreen.Store(true)
			c.dirty.Store(true)
			return
		}
		c.overlay.NoteTextsGone() // the whole screen was sent without it
	}
	moved := c.resized.Swap(false)
	show, ok := c.overlay.Paint(moved)
	if !ok {
		c.resized.Store(moved || c.resized.Load())
		c.dirty.Store(true)
		return
	}
	c.exit.noteShown(c.overlay.RemoveAtExit())
	c.write(show)
	c.drawn = time.Now()
	c.finishDrawing()
}

// finishDrawing runs after each update of the overlay. While the overlay shows a question, the
// terminal's colours stay as they are.
func (c *Copier) finishDrawing() {
	c.writeWithheld(c.filter.KeepColors(c.overlay.IsQuestion()))
	c.overlay.NoteDrawn()
	if c.viewers != nil {
		c.viewers.NoteDrawn()
	}
}

func (c *Copier) hideOverlay() {
	if c.overlay != nil && c.overlay.IsUp() {
		c.write(c.overlay.RemoveTexts(c.resized.Swap(false)))
		c.exit.noteShown(nil)
	}
}

// untilRedraw returns how long until the overlay is drawn again, or a negative time if it is not.
func (c *Copier) untilRedraw() time.Duration {
	if c.overlay == nil || c.overlay.NextDraw().IsZero() {
		return -1
	}
	return max(0, time.Until(c.overlay.NextDraw()))
}

// isCalm reports whether the program writes little enough for drawing the overlay with each chunk.
func (c *Copier) isCalm(now time.Time) bool {
	if now.Sub(c.window) >= repaintEvery {
		c.window, c.paints = now, 0
	}
	c.paints++
	return c.paints <= maxPaints
}
