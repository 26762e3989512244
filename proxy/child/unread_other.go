//go:build !linux

package child

// Unread is how many bytes of its input the program could read now and has not; only Linux is asked.
func (c *Child) Unread() int { return 0 }
