package line

import (
	"slices"
	"strings"
)

// Screen is the terminal model as this package reads it. Rows and columns count from 0.
type Screen interface {
	Size() (cols, rows int)
	// Cursor is where the next character goes; col is the number of columns where a wrap is pending.
	Cursor() (row, col int)
	Alt() bool
	// Line is the lasting number of a row: the same row keeps it as it scrolls.
	Line(row int) uint64
	// Cell is what stands in a column: "" for nothing. width is 0 for the second half of a wide character.
	Cell(row, col int) (content string, width int)
	// Wrapped reports whether a row goes on in the next one. Row -1 is the newest that left the screen.
	Wrapped(row int) bool
}

// Place is a position that lasts while the screen scrolls.
type Place struct {
	Alt  bool
	Line uint64
	Col  int
}

// Rest is the cursor's row as it stood when the output paused: at a prompt, where the prompt ends.
type Rest struct {
	Place
	// Prompt is what stood left of the cursor, Tail what stood right of it: a right prompt.
	Prompt, Tail string
}

// Look makes a Rest of the screen as it is now.
func Look(s Screen) Rest {
	row, col := s.Cursor()
	cols, _ := s.Size()
	return Rest{Place: at(s, row, col), Prompt: text(s, row, 0, col), Tail: strings.TrimRight(text(s, row, col, cols), " ")}
}

func at(s Screen, row, col int) Place { return Place{Alt: s.Alt(), Line: s.Line(row), Col: col} }

// Begin is where somebody's first key on a line came.
type Begin struct {
	Place
	Set bool
	// Rest is the prompt, if the output rested where the key came.
	Rest  Rest
	Known bool // Rest holds
}

// learn takes the prompt from the screen if it is not known yet: what stands left of where the key came.
func (b *Begin) learn(s Screen) bool {
	if !b.Set || b.Known || b.Alt != s.Alt() {
		return false
	}
	_, rows := s.Size()
	for row := range rows {
		if s.Line(row) != b.Line {
			continue
		}
		prompt := text(s, row, 0, b.Col)
		if b.Known = strings.TrimSpace(prompt) != ""; b.Known {
			b.Rest = Rest{Place: b.Place, Prompt: prompt}
		}
		return b.Known
	}
	return false
}

// searchMost bounds the rows above the cursor in which the prompt is looked for.
const searchMost = 200

// Buffer is what stands on the shared line.
type Buffer struct {
	// Known says that the end of the prompt was found; else Before begins with the cursor's whole row.
	Known bool
	// Clipped says that the row above the first one shown may belong to it.
	Clipped bool
	// Before is the text from the prompt to the cursor, After what stands from the cursor on. Rows that the program ended
	// itself are separated by a newline. Blanks at the end are left out.
	Before, After string
	// Tail is what a right prompt shows behind After, "" for none. It is no part of the line.
	Tail string
}

// Text is all that stands on the line.
func (b Buffer) Text() string { return b.Before + b.After }

// Empty reports whether nothing but a right prompt stands on the line.
func (b Buffer) Empty() bool {
	return strings.TrimSpace(b.Before) == "" && strings.TrimSpace(b.After) == ""
}

// Find reads what stands on the line that began at b.
func Find(s Screen, b Begin) Buffer {
	row, col := s.Cursor()
	cols, rows := s.Size()
	first, from, known := start(s, b, row, col)
	out := Buffer{Known: known}
	if !known {
		first = row
		for first > 0 && s.Wrapped(first-1) {
			first--
		}
		from, out.Clipped = 0, first == 0 && s.Wrapped(-1)
	}
	out.Before = span(s, first, from, row, col)
	last := rows - 1
	for last > row && text(s, last, 0, cols) == "" {
		last--
	}
	out.After = strings.TrimRight(span(s, row, col, last, cols), " \n")
	out.After, out.Tail = cutTail(out.After, b, first == row)
	if known && out.After == "" {
		return out
	}
	out.Before = strings.TrimRight(out.Before, "\n")
	if out.After == "" {
		out.Before = strings.TrimRight(out.Before, " ")
	}
	return out
}

// Split tells what Enter submits from what the program only suggests, as fish and zsh do behind the cursor, or a right prompt.
// moved says that something may stand behind the cursor that is no suggestion: the cursor went back, the user typed, an entry
// of the history was recalled.
func (b Buffer) Split(moved bool) (sent, suggested string) {
	if b.After == "" || moved || strings.Trim(b.After, pairs) == "" {
		return b.Text(), b.Tail
	}
	return b.Before, b.After + b.Tail
}

// pairs is what editors put behind the cursor by themselves when its other half is typed.
const pairs = `)]}"'` + "`"

// Hides reports whether something was typed that shown does not show. What shows one run shows no other: who types a command
// out of sight must not have a comment of the same words vouch for it.
func Hides(shown string, typed []string) bool {
	shown = strings.ReplaceAll(shown, "\n", "")
	runs := slices.Clone(typed)
	slices.SortStableFunc(runs, func(a, b string) int { return len(b) - len(a) })
	for _, run := range runs {
		before, after, ok := strings.Cut(shown, strings.TrimSpace(strings.ReplaceAll(run, "\n", "")))
		if !ok {
			return true
		}
		shown = before + "\x00" + after
	}
	return false
}

// start finds where the prompt ends: at the place of the first key while that is on the screen and the prompt stands left of
// it, else behind the same prompt in another row, where a redraw or a resize has put it.
func start(s Screen, b Begin, row, col int) (first, from int, known bool) {
	if !b.Set || b.Alt != s.Alt() {
		return 0, 0, false
	}
	for r := row; r >= 0 && row-r < searchMost; r-- {
		if s.Line(r) != b.Line {
			continue
		}
		if r == row && b.Col > col && text(s, r, col, b.Col) != "" {
			break // the cursor went back into what was there before
		}
		if !b.Known || Alike(text(s, r, 0, b.Col), b.Rest.Prompt) {
			return r, b.Col, true
		}
		break
	}
	prompt := b.Rest.Prompt
	if !b.Known || strings.TrimSpace(prompt) == "" {
		return 0, 0, false
	}
	for r := row; r >= 0 && row-r < searchMost; r-- {
		if end := columns(s, r, prompt); end >= 0 && (r < row || end <= col) {
			return r, end, true
		}
	}
	return 0, 0, false
}

// columns is the column behind text where row begins with it, -1 where it does not.
func columns(s Screen, row int, want string) int {
	cols, _ := s.Size()
	got := ""
	want = figures(want)
	for col := range cols {
		if got == want {
			return col
		}
		got += figures(cell(s, row, col))
		if !strings.HasPrefix(want, got) {
			return -1
		}
	}
	if got == want {
		return cols
	}
	return -1
}

// span is the text between two positions, a newline between rows that do not go on in the next.
func span(s Screen, row, col, lastRow, lastCol int) string {
	cols, _ := s.Size()
	var b strings.Builder
	for ; row < lastRow; row, col = row+1, 0 {
		b.WriteString(text(s, row, col, cols))
		if !s.Wrapped(row) {
			b.WriteByte('\n')
		}
	}
	if col < lastCol {
		b.WriteString(text(s, row, col, lastCol))
	}
	return b.String()
}

// text is the text of some columns. Blanks at the end of a row that does not go on in the next are left out, unless the
// columns end before the row does.
func text(s Screen, row, from, to int) string {
	cols, _ := s.Size()
	var b strings.Builder
	for col := from; col < min(to, cols); col++ {
		b.WriteString(cell(s, row, col))
	}
	if to >= cols && !s.Wrapped(row) {
		return strings.TrimRight(b.String(), " ")
	}
	return b.String()
}

func cell(s Screen, row, col int) string {
	content, width := s.Cell(row, col)
	if content == "" && width != 0 {
		return " "
	}
	return content
}

// cutTail takes a right prompt off the end of the first row of after, if it stood there before the first key.
func cutTail(after string, b Begin, oneRow bool) (line, tail string) {
	if !b.Known || b.Rest.Tail == "" || !oneRow {
		return after, ""
	}
	head, rest, more := strings.Cut(after, "\n")
	want := strings.TrimLeft(b.Rest.Tail, " ")
	at := len(head) - len(want)
	if at < 0 || !Alike(head[at:], want) || at > 0 && head[at-1] != ' ' {
		return after, ""
	}
	if want, head = head[at:], strings.TrimRight(head[:at], " "); more {
		head += "\n" + rest
	}
	return head, want
}
