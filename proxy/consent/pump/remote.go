package pump

import "time"

// TypeKeys types the keys of a remote person, exactly as if they were read from the keyboard now:
// the reclaim key in them ends control before another agent byte is written. It is called on the
// pump's goroutine, in a function given to Post, of a pump with a Scanner. It reports false, and
// takes no keys, while more than a person types is waiting for a program that does not read.
func (p *Pump) TypeKeys(now time.Time, b []byte) bool {
	if len(p.user) > maxUserInput {
		return false
	}
	p.handleKeys(now, b)
	return true
}

// PressKeys types whole keys of a person who is not at the keyboard. They are queued among the
// user's keys, but the proxy itself acts on none of them. The pump's goroutine calls it. It reports
// false, and takes no keys, while the program has much to read, or a paste at the keyboard is
// unfinished: they would become part of it.
func (p *Pump) PressKeys(now time.Time, b []byte) bool {
	if len(p.user) > userInputHold || p.Scan.IsInPaste() && now.Sub(p.lastKey) < pasteWait {
		return false
	}
	p.queueTyped(b)
	return true
}

// TypeReply types a terminal's answer to the program, for a session without a terminal to answer.
// It is queued whole among the user's input, whoever has control.
func (p *Pump) TypeReply(answer []byte) {
	p.Post(func(time.Time) { p.user = append(p.user, answer...) })
}
