package replay

import "time"

// Unhurried has p take the time that an answer needs, on a machine that is busy.
func Unhurried(p *Player) *Player {
	p.patience = time.Hour
	return p
}
