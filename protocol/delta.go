package protocol

import "slices"

// Diff lists the rows of next that differ from prev, and reports whether sending them is shorter than sending all of
// next. Screens of different sizes have no difference.
func Diff(prev, next []string) (changed []Row, shorter bool) {
	if len(prev) != len(next) || len(next) == 0 {
		return nil, false
	}
	all, part := 0, 0
	for i, text := range next {
		all += len(text) + 3
		if text != prev[i] {
			changed = append(changed, Row{Row: i, Text: text})
			part += len(text) + len(`{"row":000,"text":""},`)
		}
	}
	return changed, part < all
}

// Patch is lines with the changed rows in place; lines itself is left as it is, since others may still read it. Rows
// outside of the screen are passed over.
func Patch(lines []string, changed []Row) []string {
	out := slices.Clone(lines)
	for _, r := range changed {
		if r.Row >= 0 && r.Row < len(out) {
			out[r.Row] = r.Text
		}
	}
	return out
}

// Difference is s for a peer that has last: with only the rows that differ, if that is shorter, else s itself. last may
// be nil.
func (s *Snapshot) Difference(last *Snapshot) *Snapshot {
	if last == nil || last.SessionID != s.SessionID || last.Screen == nil || s.Screen == nil {
		return s
	}
	changed, shorter := Diff(last.Screen.Lines, s.Screen.Lines)
	if !shorter {
		return s
	}
	part, screen := *s, *s.Screen
	screen.Lines = nil
	part.Screen, part.Changed, part.Since = &screen, changed, last.Seq
	return &part
}

// News is s for a peer that has last, which may be nil, and wants changes only: without the rolling text, unless that is all
// there is, and as [Snapshot.Difference].
func (s *Snapshot) News(last *Snapshot) *Snapshot {
	if s.Screen == nil {
		return s
	}
	part := *s.Difference(last)
	part.Content = ""
	return &part
}

// Complete is s with all rows, last being the snapshot that came before it from the same peer, nil for none. It is not ok
// when s is a difference to something else.
func (s *Snapshot) Complete(last *Snapshot) (full *Snapshot, ok bool) {
	if s.Screen == nil {
		return s, true // text only
	}
	out, screen := *s, *s.Screen
	if len(screen.Lines) == 0 {
		if last == nil || last.Screen == nil || last.Seq != s.Since || len(last.Screen.Lines) != screen.Rows {
			return nil, false
		}
		screen.Lines = Patch(last.Screen.Lines, s.Changed)
	}
	for screen.Lines = slices.Clip(screen.Lines); len(screen.Lines) < screen.Rows; {
		screen.Lines = append(screen.Lines, "")
	}
	out.Screen, out.Changed, out.Since = &screen, nil, 0
	return &out, true
}
