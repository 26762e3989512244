package pump

import "time"

// confirm holds the grant key until it is known whether a person pressed it: only if it came alone,
// and not within pressGap of another key, as in a text pasted without brackets.
type confirm struct {
	open      bool
	key       []byte
	behind    []byte    // reports of the terminal that came after the key
	pressed   time.Time // when the last key came
	took      bool      // control took the last press: the key may still be down
	inText    bool      // a key came in this read, or just before it
	keyInText bool
}

// noteRead notes that keys were read.
func (c *confirm) noteRead(now time.Time) {
	c.inText = !c.pressed.IsZero() && now.Sub(c.pressed) < pressGap
}

func (c *confirm) notePress(now time.Time) { c.pressed, c.inText = now, true }

// holdKey holds the grant key.
func (c *confirm) holdKey(key []byte) {
	c.open, c.keyInText, c.key = true, c.inText, append(c.key[:0], key...)
}

// endConfirm lets control decide about a held grant key. alone means that no key followed it.
func (p *Pump) endConfirm(now time.Time, alone bool) {
	c := &p.confirm
	if !c.open {
		return
	}
	c.open = false
	if c.took = p.Control.NoteGrantKey(now, !alone || c.keyInText); !c.took {
		p.user = append(p.user, c.key...)
	}
	p.user = append(p.user, c.behind...)
	c.behind = c.behind[:0]
	p.syncControl(now)
}
