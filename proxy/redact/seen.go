package redact

import "strings"

const (
	// seenMost is how many lines are remembered, and as many again of those before.
	seenMost = 256
	// seenBytes is how long they are at most.
	seenBytes = 512
)

// Seen remembers lines in which nothing was found that is to be covered, which is most of them: to know that of a line again costs a
// twentieth of looking at it. The zero value is ready. One goroutine owns it.
type Seen struct{ lines, before map[string]struct{} }

// clean reports whether nothing was found in a line, as far as that is remembered. What stands around a line may cover it all the same.
func (s *Seen) clean(line string) bool {
	if s == nil {
		return false
	}
	if _, ok := s.lines[line]; ok {
		return true
	}
	_, ok := s.before[line]
	if ok {
		s.add(line)
	}
	return ok
}

func (s *Seen) add(line string) {
	if s == nil || len(line) > seenBytes {
		return
	}
	if len(s.lines) >= seenMost {
		s.before, s.lines = s.lines, nil
	}
	if s.lines == nil {
		s.lines = make(map[string]struct{})
	}
	s.lines[strings.Clone(line)] = struct{}{} // a part of a text would keep the whole of it
}
