package proxy

import (
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/filter"
)

// escapes is the filter in front of the user's terminal. It belongs to the copier. A nil one passes everything: a session
// without agents.
type escapes struct {
	filter.Filter
	authority *authority
	allowed   bool // --allow-escapes: only the keyboard is kept from being locked
}

func (g *escapes) pass(chunk []byte) []byte {
	if g == nil {
		return chunk
	}
	return g.Pass(chunk, !g.allowed && g.authority.now.Load().Phase == control.Granted)
}

// keepColors is described in package filter.
func (g *escapes) keepColors(on bool) (released []byte) {
	if g == nil {
		return nil
	}
	return g.KeepColors(on)
}

// flush is the half of a sequence with which the program ended.
func (g *escapes) flush() []byte {
	if g == nil {
		return nil
	}
	return g.Flush()
}
