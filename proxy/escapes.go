package proxy

import (
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/filter"
)

// unlock is RM for KAM (ECMA-48 7.2.7): the keyboard sends, whatever a program or another process did to the terminal. The
// filter keeps this program from locking it again.
const unlock = "\x1b[2l"

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

// flush is the half of a sequence with which the program ended.
func (g *escapes) flush() []byte {
	if g == nil {
		return nil
	}
	return g.Flush()
}
