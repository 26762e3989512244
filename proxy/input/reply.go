package input

import "time"

// Reply types a terminal's answer to the program, for a session that has no terminal to answer. It stands whole, among
// what the user types, whoever has control.
func (p *Pump) Reply(answer []byte) {
	p.Post(func(time.Time) { p.user = append(p.user, answer...) })
}
