package replay

import "time"

// Unhurried gives p the time that an answer needs on a busy machine.
func Unhurried(p *Player) *Player {
	p.patience = time.Hour
	return p
}
