package pump

import "time"

// TypeReply types a terminal's answer to the program, for a session without a terminal to answer.
// It stays whole, among the user's input, regardless of who has control.
func (p *Pump) TypeReply(answer []byte) {
	p.Post(func(time.Time) { p.user = append(p.user, answer...) })
}
