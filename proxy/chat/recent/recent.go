// Package recent keeps values under names that a coding agent chose, the newest of them, within a bound. Neither how many names there
// are nor how long they are is ours to say.
package recent

import "container/list"

// overhead is what an entry takes beyond its name and its value, in bytes.
const overhead = 128

// Map keeps the newest values. It belongs to one goroutine, or to a lock.
type Map[V any] struct {
	most  int
	size  int
	known map[string]*list.Element
	order list.List // the oldest first
}

type entry[V any] struct {
	name  string
	value V
	size  int
}

// New makes a map that keeps about so many bytes, and the newest value whatever its size.
func New[V any](most int) *Map[V] { return &Map[V]{most: most, known: make(map[string]*list.Element)} }

// Put keeps a value of so many bytes, and drops the oldest where there is too much.
func (m *Map[V]) Put(name string, value V, size int) {
	m.Delete(name)
	e := &entry[V]{name, value, overhead + len(name) + size}
	m.known[name] = m.order.PushBack(e)
	for m.size += e.size; m.size > m.most && m.order.Len() > 1; {
		m.Delete(m.order.Front().Value.(*entry[V]).name)
	}
}

// Get is the value of a name, if it is kept.
func (m *Map[V]) Get(name string) (value V, ok bool) {
	at, ok := m.known[name]
	if !ok {
		return value, false
	}
	return at.Value.(*entry[V]).value, true
}

// Has reports whether there is a value.
func (m *Map[V]) Has(name string) bool { return m.known[name] != nil }

// Delete drops a value.
func (m *Map[V]) Delete(name string) {
	if at, ok := m.known[name]; ok {
		m.size -= at.Value.(*entry[V]).size
		m.order.Remove(at)
		delete(m.known, name)
	}
}
