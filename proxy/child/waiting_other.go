//go:build !linux

package child

// Waiting says whether the foreground program waits for input. Only Linux tells where a process sleeps.
func (c *Child) Waiting() (evidence string, yes bool) { return "", false }
