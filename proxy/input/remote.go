package input

import "time"

// Type takes what a person typed who sits elsewhere, exactly as if it had been read from the keyboard now: the reclaim key
// in it ends control before another agent byte is written. It belongs to the pump's goroutine, that is into a function
// given to Post, and to a pump with a Scanner. It reports false, and takes nothing, while more than a person types is
// waiting for a program that does not read.
func (p *Pump) Type(now time.Time, b []byte) bool {
	if len(p.user) > userMax {
		return false
	}
	p.read(now, b)
	return true
}

// Press takes whole keys of a person's who does not sit at the keyboard. They stand among what the user types, and none of them is for
// the proxy. It belongs to the pump's goroutine. It reports false, and takes nothing, while the program has much to read, or a paste at
// the keyboard is not over: they would become a part of it.
func (p *Pump) Press(now time.Time, b []byte) bool {
	if len(p.user) > userHold || p.Scan.InPaste() && now.Sub(p.lastKey) < pasteWait {
		return false
	}
	p.typed(b)
	return true
}
