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
