package proxy

import (
	"time"

	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/notice"
)

// watchFront has control know which program has the terminal, where grants are for one of them, whenever it asks; see also
// observed.Printed.
func (s *session) watchFront(one bool) {
	if !one {
		return
	}
	s.authority.front = func() control.Front {
		// A group may get its name after it got the terminal: a shell hands that over before it starts the program. The name
		// is the program's own choice.
		group := s.child.ForegroundGroup()
		return control.Front{Group: group, Name: notice.Clean(s.child.Foreground(), 32), File: child.Executable(group)}
	}
}

// cameBack makes the test of whether the program that a grant is for asks for more, see [input.Config].
func (s *session) cameBack() func(now time.Time) bool {
	comeback := s.child.Comeback()
	return func(now time.Time) bool {
		s.authority.look()
		back := !s.authority.Away() && comeback.Look(now)
		s.authority.look() // again: it may have been elsewhere only while it was looked at
		if back || s.authority.Away() {
			comeback.Reset()
		}
		return back && !s.authority.Away()
	}
}

// apart cuts pieces so that each ends with what a program may act on: what follows may be for another program.
func apart(pieces []input.Piece) []input.Piece {
	var cut []input.Piece
	for _, p := range pieces {
		if p.Say != "" {
			p.Acts = true
			cut = append(cut, p)
			continue
		}
		for b := p.Bytes; len(b) > 0; {
			n, acts := keys.CutAct(b)
			part := input.Piece{Bytes: b[:n], Acts: acts}
			if b = b[n:]; len(b) == 0 {
				part.Gap = p.Gap
			}
			cut = append(cut, part)
		}
	}
	return cut
}
