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
