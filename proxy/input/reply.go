package input

import "time"

// Reply types a terminal's answer to the program, for a session without a terminal to answer. It
// stays whole, among what the user types, under any grant.
func (p *Pump) Reply(answer []byte) {
	p.Post(func(time.Time) { p.user = append(p.user, answer...) })
}
