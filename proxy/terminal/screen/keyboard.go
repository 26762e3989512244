package screen

import "fmt"

// maxKitty bounds the stack of keyboard flags; the oldest entry falls out (kitty keyboard
// protocol).
const maxKitty = 16

// kittyFlags are the five flags that the protocol defines.
const kittyFlags = 0x1f

// kittyStack holds the keyboard flags of one screen; the last entry is in force.
type kittyStack struct {
	flags [maxKitty]uint8
	depth int
	base  uint8 // in force when nothing was pushed: CSI = u works without a push
}

func (k *kittyStack) top() uint8 {
	if k.depth == 0 {
		return k.base
	}
	return k.flags[k.depth-1]
}

func (k *kittyStack) push(f uint8) {
	if k.depth == maxKitty {
		copy(k.flags[:], k.flags[1:])
		k.depth--
	}
	k.flags[k.depth] = f
	k.depth++
}

// pop removes n entries; removing the last one resets all flags.
func (k *kittyStack) pop(n int) {
	if n >= k.depth {
		k.depth, k.base = 0, 0
		return
	}
	k.depth -= n
}

func (k *kittyStack) set(f uint8) {
	if k.depth == 0 {
		k.base = f
	} else {
		k.flags[k.depth-1] = f
	}
}

// KittyPush is CSI > flags u.
func (t *terminal) KittyPush() {
	t.grid.kitty.push(uint8(t.parse.params.at(0, 0) & kittyFlags))
	t.modes.KittyFlags = t.grid.kitty.top()
}

// KittyPop is CSI < n u.
func (t *terminal) KittyPop() {
	t.grid.kitty.pop(t.parse.params.num(0))
	t.modes.KittyFlags = t.grid.kitty.top()
}

// KittySet is CSI = flags ; how u: 1 sets them, 2 adds them, 3 removes them.
func (t *terminal) KittySet() {
	flags := uint8(t.parse.params.at(0, 0) & kittyFlags)
	now := t.grid.kitty.top()
	switch t.parse.params.at(1, 1) {
	case 1:
		now = flags
	case 2:
		now |= flags
	case 3:
		now &^= flags
	}
	t.grid.kitty.set(now)
	t.modes.KittyFlags = now
}

// KittyQuery is CSI ? u.
func (t *terminal) KittyQuery() { t.reply(fmt.Sprintf("\x1b[?%du", t.modes.KittyFlags)) }

// XTMODKEYS sets how modified keys are sent (ctlseqs, CSI > Pp ; Pv m). Only modifyOtherKeys (4) is
// kept.
func (t *terminal) XTMODKEYS() {
	p := &t.parse.params
	switch {
	case p.at(0, -1) < 0:
		t.modes.ModifyOtherKeys = 0
	case p.at(0, 0) == 4:
		if v := p.at(1, 0); v <= 3 {
			t.modes.ModifyOtherKeys = uint8(v)
		}
	}
}

// XTUNMODKEYS switches modifyOtherKeys off (ctlseqs, CSI > 4 n).
func (t *terminal) XTUNMODKEYS() {
	if t.parse.params.at(0, 4) == 4 {
		t.modes.ModifyOtherKeys = 0
	}
}

// XTQMODKEYS asks for modifyOtherKeys (ctlseqs, CSI ? 4 m).
func (t *terminal) XTQMODKEYS() {
	if t.parse.params.at(0, 0) == 4 {
		t.reply(fmt.Sprintf("\x1b[>4;%dm", t.modes.ModifyOtherKeys))
	}
}

// XTFMTKEYS sets the form in which modified keys are sent (ctlseqs, CSI > 4 ; n f).
func (t *terminal) XTFMTKEYS() {
	p := &t.parse.params
	if p.at(0, 4) == 4 {
		t.modes.FormatOtherKeys = uint8(min(p.at(1, 0), 1))
	}
}
