package pump

import "time"

// TypeKeys types the keys of a remote person, exactly as if they were read from the keyboard now:
// the reclaim key in them ends control before another agent byte is written. It is called on the
// pump's goroutine, in a function given to Post, of a pump with a Scanner. It reports false, and
// takes no keys, while more than a person types is waiting for a program that does not read.
func (p *Pump) TypeKeys(now time.Time, b []byte) bool {
	if len(p.user) > userMax {
		return false
	}
	p.handleKeys(now, b)
	return true
}

// PressKeys types whole keys of a person who is not at the keyboard. They stand among the user's
// keys, and the proxy acts on no key of them. The pump's goroutine calls it. It reports false, and
// takes no keys, while the program has much to read, or a paste at the keyboard is unfinished: they
// would become part of it.
func (p *Pump) PressKeys(now time.Time, b []byte) bool {
	if len(p.user) > userHold || p.Scan.IsInPaste() && now.Sub(p.lastKey) < pasteWait {
		return false
	}
	p.queueTyped(b)
	return true
}
