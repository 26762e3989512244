package redact

import "strings"

const (
	// maxSeenLines is how many lines a generation remembers. There are two: lines and before.
	maxSeenLines = 256
	// maxSeenBytes is the length of the longest line that is remembered.
	maxSeenBytes = 512
)

// Seen remembers lines without anything to cover, as most are: a look-up costs a twentieth of a
// search in the line. The zero value is ready. One goroutine owns it.
type Seen struct{ lines, before map[string]struct{} }

// isClean reports whether it remembers that a search in the line found nothing. Its neighbours may
// still cause the line to be covered.
func (s *Seen) isClean(line string) bool {
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
	if s == nil || len(line) > maxSeenBytes {
		return
	}
	if len(s.lines) >= maxSeenLines {
		s.before, s.lines = s.lines, nil
	}
	if s.lines == nil {
		s.lines = make(map[string]struct{})
	}
	s.lines[strings.Clone(line)] = struct{}{} // a substring would keep the whole text in memory
}
