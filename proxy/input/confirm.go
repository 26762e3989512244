package input

import "time"

// confirm is the key that gives control while it is unknown whether somebody pressed it: only if it
// came alone, and not within pressGap of another key, which is how it comes in a text that is
// pasted without brackets.
type confirm struct {
	open      bool
	key       []byte
	behind    []byte    // what the terminal told of by itself, after it
	pressed   time.Time // when a key came last
	inText    bool      // a key came in this read, or just before it
	keyInText bool
}

// read notes that keys were read.
func (c *confirm) read(now time.Time) {
	c.inText = !c.pressed.IsZero() && now.Sub(c.pressed) < pressGap
}

// press notes a key.
func (c *confirm) press(now time.Time) { c.pressed, c.inText = now, true }

// begin notes the key that gives control.
func (c *confirm) begin(key []byte) {
	c.open, c.keyInText, c.key = true, c.inText, append(c.key[:0], key...)
}

// endConfirm has control decide about the key that gives it, if that came; alone says that nothing
// came behind it.
func (p *Pump) endConfirm(now time.Time, alone bool) {
	c := &p.confirm
	if !c.open {
		return
	}
	c.open = false
	took := false
	if alone && !c.keyInText {
		took = p.Control.Confirm(now)
	} else {
		took = p.Control.ConfirmInText(now)
	}
	if !took {
		p.user = append(p.user, c.key...)
	}
	p.user = append(p.user, c.behind...)
	c.behind = c.behind[:0]
	p.guard(now)
}
