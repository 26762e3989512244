package screen

// Window is the part of a screen that a smaller terminal shows: the row and the column at its upper
// left.
type Window struct{ Top, Left int }

// Follow moves the window, of a size in cells, to where the cursor is: up and down no further than
// needed, to the right by halves of its width, and back to the beginning of rows as soon as the
// cursor is there. A hidden cursor is nowhere in particular.
func (w *Window) Follow(s *Screen, cols, rows int) {
	if c := s.Cursor(); c.Visible {
		w.Top = min(max(w.Top, c.Row-rows+1), c.Row)
		w.Left = 0
		if over := c.Col - cols + 1; over > 0 {
			half := max(1, cols/2)
			w.Left = (over + half - 1) / half * half
		}
	}
	ownCols, ownRows := s.Size()
	w.Top, w.Left = min(w.Top, max(0, ownRows-rows)), min(w.Left, max(0, ownCols-cols))
}
