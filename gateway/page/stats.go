package page

// Stats counts the pages that are connected now, and the codes and tickets that were refused.
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

// Stats is that of the door.
func (l *Links) Stats() (connected int, refused uint64) { return l.door.Stats() }
