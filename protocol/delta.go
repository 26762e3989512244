package protocol

import "slices"

// Delta returns the shortest description of next for a reader that has prev: rows that moved, if
// the reader understands moves, and the others that changed. shorter reports whether it is shorter
// than the whole of next as a reader gets it: a row a line, with its number if some are left out,
// and without empty rows at the end. Screens of different sizes have no difference.
func Delta(prev, next []string, moves bool) (moved int, changed []Row, shorter bool) {
	if len(prev) != len(next) || len(next) == 0 {
		return 0, nil, false
	}
	changed, least := difference(prev, next)
	if n := shift(prev, next); n != 0 && moves {
		if rows, cost := difference(Move(prev, n), next); cost+costOfMove < least {
			moved, changed, least = n, rows, cost+costOfMove
		}
	}
	return moved, changed, least == 0 || least < whole(next)
}

// Patch returns lines with the changed rows in place. It does not change lines itself, which others
// may be reading. It ignores rows outside of the screen.
func Patch(lines []string, changed []Row) []string {
	out := slices.Clone(lines)
	for _, r := range changed {
		if r.Row >= 0 && r.Row < len(out) {
			out[r.Row] = r.Text
		}
	}
	return out
}

// Move returns lines moved up by n rows, or down if n is negative, with blank rows in the gap. It
// does not change lines itself. A frame with Moved is rebuilt by Move and then [Patch].
func Move(lines []string, n int) []string {
	out := make([]string, len(lines))
	for i := range out {
		if from := i + n; from >= 0 && from < len(lines) {
			out[i] = lines[from]
		}
	}
	return out
}

// Difference returns s for a peer that has last: with only the rows that differ, after moves if the
// peer understands them. If that is not shorter, it returns s itself. last may be nil.
func (s *Snapshot) Difference(last *Snapshot, moves bool) *Snapshot {
	if last == nil || last.SessionID != s.SessionID || last.Screen == nil || s.Screen == nil {
		return s
	}
	moved, changed, shorter := Delta(last.Screen.Lines, s.Screen.Lines, moves)
	if !shorter {
		return s
	}
	part, screen := *s, *s.Screen
	screen.Lines = nil
	part.Screen, part.Changed, part.Since, part.Moved = &screen, changed, last.Seq, moved
	return &part
}

// News returns s for a peer that has last, which may be nil, and wants changes only: without the
// rolling text, unless nothing else has changed, and as [Snapshot.Difference].
func (s *Snapshot) News(last *Snapshot, moves bool) *Snapshot {
	switch {
	case s.Screen == nil:
		return s
	case s.sharedRows() != 0 && (last == nil || last.sharedRows() != 0):
		return s.sharedNews(last, moves)
	}
	return s.ownNews(last, moves)
}

// ownNews is [Snapshot.News] for one peer.
func (s *Snapshot) ownNews(last *Snapshot, moves bool) *Snapshot {
	part := *s.Difference(last, moves)
	part.Content = ""
	return &part
}

// Complete returns s with all rows, last being the snapshot that came before it from the same peer,
// or nil. ok is false if s is a difference to something else.
func (s *Snapshot) Complete(last *Snapshot) (full *Snapshot, ok bool) {
	if s.Screen == nil {
		return s, true // text only
	}
	out, screen := *s, *s.Screen
	if len(screen.Lines) == 0 {
		if last == nil || last.Screen == nil || last.Seq != s.Since ||
			len(last.Screen.Lines) != screen.Rows {
			return nil, false
		}
		screen.Lines = Patch(Move(last.Screen.Lines, s.Moved), s.Changed)
	}
	for screen.Lines = slices.Clip(screen.Lines); len(screen.Lines) < screen.Rows; {
		screen.Lines = append(screen.Lines, "")
	}
	out.Screen, out.Changed, out.Since, out.Moved = &screen, nil, 0, 0
	return &out, true
}

// costOfMove is the cost of describing moved rows, in bytes.
const costOfMove = 32

// difference returns the rows of next that differ from prev, and the bytes that their description
// takes.
func difference(prev, next []string) (changed []Row, cost int) {
	for i, text := range next {
		if text != prev[i] {
			changed = append(changed, Row{Row: i, Text: text})
			cost += len(text) + len("12| \n")
		}
	}
	return changed, cost
}

// whole returns the bytes that a description of all rows takes.
func whole(lines []string) (cost int) {
	end := len(lines)
	for end > 0 && lines[end-1] == "" {
		end--
	}
	for _, text := range lines[:end] {
		cost += len(text) + 1
	}
	return cost
}

// shift guesses by how many rows most of prev has moved up in next. Only rows that occur in prev
// once count, weighted by their length: a move saves repeating them.
func shift(prev, next []string) int {
	at := make(map[string]int, len(prev))
	for i, text := range prev {
		if _, twice := at[text]; twice {
			at[text] = -1
		} else if text != "" {
			at[text] = i
		}
	}
	votes, best, most := make(map[int]int), 0, 0
	for i, text := range next {
		if from, known := at[text]; known && from >= 0 {
			n := from - i
			if votes[n] += len(text); votes[n] > most {
				best, most = n, votes[n]
			}
		}
	}
	return best
}
