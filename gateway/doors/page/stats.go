package page

// Stats returns the number of connected pages, and of refused codes and tickets.
func (d *Door) Stats() (connected int, refused uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range d.visitors {
		if v.sockets > 0 {
			connected++
		}
	}
	return connected, d.refused.Load()
}

// Stats returns the statistics of the door.
func (l *Links) Stats() (connected int, refused uint64) { return l.door.Stats() }
