// Package recent keeps values under names that a coding agent chose, the newest ones within a
// bound. The agent chooses how many names it uses, and how long they are.
package recent

import "container/list"

// overhead is the size of an entry beyond its name and its value, in bytes.
const overhead = 128

// Map keeps the newest values. It is not safe for concurrent use.
type Map[V any] struct {
	limit int
	size  int
	known map[string]*list.Element
	order list.List // oldest first
}

type entry[V any] struct {
	name  string
	value V
	size  int
}

// New makes a map that keeps about limit bytes, and always the newest value.
func New[V any](limit int) *Map[V] {
	return &Map[V]{limit: limit, known: make(map[string]*list.Element)}
}

// Put keeps a value of size bytes, and drops the oldest values beyond the limit.
func (m *Map[V]) Put(name string, value V, size int) {
	m.Delete(name)
	e := &entry[V]{name, value, overhead + len(name) + size}
	m.known[name] = m.order.PushBack(e)
	for m.size += e.size; m.size > m.limit && m.order.Len() > 1; {
		m.Delete(m.order.Front().Value.(*entry[V]).name)
	}
}

// Get returns the value of a name, if the map still has it.
func (m *Map[V]) Get(name string) (value V, ok bool) {
	element, ok := m.known[name]
	if !ok {
		return value, false
	}
	return element.Value.(*entry[V]).value, true
}

// Has reports whether the map has a value of that name.
func (m *Map[V]) Has(name string) bool { return m.known[name] != nil }

// Delete drops a value.
func (m *Map[V]) Delete(name string) {
	if element, ok := m.known[name]; ok {
		m.size -= element.Value.(*entry[V]).size
		m.order.Remove(element)
		delete(m.known, name)
	}
}
