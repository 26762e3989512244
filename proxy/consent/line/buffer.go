package line

import (
	"slices"
	"sort"
	"strings"
)

// Screen is this package's view of the terminal model. Rows and columns count from 0.
type Screen interface {
	Size() (cols, rows int)
	// Cursor returns where the next character goes; col is the number of columns while a wrap is
	// pending.
	Cursor() (row, col int)
	Alt() bool
	// Line returns the permanent number of a row, which it keeps while scrolling.
	Line(row int) uint64
	// Cell returns the content of a column, "" if it is empty. width is 0 for the second half of a
	// wide character.
	Cell(row, col int) (content string, width int)
	// Wrapped reports whether a row continues in the next one. Row -1 is the newest that left the
	// screen.
	Wrapped(row int) bool
}

// Place is a position that stays valid while the screen scrolls.
type Place struct {
	Alt  bool
	Line uint64
	Col  int
}

// PausedRow is the cursor's row when the output paused. At a prompt, the prompt ends there.
type PausedRow struct {
	Place
	// Prompt is the text left of the cursor, and Tail the text right of it: a right prompt.
	Prompt, Tail string
}

// ReadPausedRow returns the cursor's present row.
func ReadPausedRow(s Screen) PausedRow {
	row, col := s.Cursor()
	cols, _ := s.Size()
	return PausedRow{
		Place:  placeAt(s, row, col),
		Prompt: rowText(s, row, 0, col),
		Tail:   strings.TrimRight(rowText(s, row, col, cols), " "),
	}
}

func placeAt(s Screen, row, col int) Place {
	return Place{Alt: s.Alt(), Line: s.Line(row), Col: col}
}

// Start is the place of the first key on a line.
type Start struct {
	Place
	Set bool
	// Row is the row with the prompt, if the output had paused where the key was typed.
	Row   PausedRow
	Known bool // Row is set
}

// learnPrompt reads an unknown prompt off the screen: the text left of the first key. It reports
// whether it found one.
func (b *Start) learnPrompt(s Screen) bool {
	if !b.Set || b.Known || b.Alt != s.Alt() {
		return false
	}
	_, rows := s.Size()
	for row := range rows {
		if s.Line(row) != b.Line {
			continue
		}
		prompt := rowText(s, row, 0, b.Col)
		if b.Known = strings.TrimSpace(prompt) != ""; b.Known {
			b.Row = PausedRow{Place: b.Place, Prompt: prompt}
		}
		return b.Known
	}
	return false
}

// maxSearchRows bounds the rows above the cursor that are searched for the prompt.
const maxSearchRows = 200

// Buffer is the text on the shared line.
type Buffer struct {
	// Known means that the end of the prompt was found; if not, Before begins with the cursor's
	// whole row.
	Known bool
	// Clipped means that the row above the first one shown may belong to the line.
	Clipped bool
	// Before is the text from the prompt to the cursor, After the text from the cursor on. A
	// newline separates rows that the program ended itself. Trailing blanks are left out.
	Before, After string
	// Tail is a right prompt shown behind After, or "". It is not part of the line.
	Tail string
}

// Text returns all text on the line.
func (b Buffer) Text() string { return b.Before + b.After }

// Empty reports whether the line holds at most a right prompt.
func (b Buffer) Empty() bool {
	return strings.TrimSpace(b.Before) == "" && strings.TrimSpace(b.After) == ""
}

// ReadBuffer reads the line that began at b.
func ReadBuffer(s Screen, b Start) Buffer {
	row, col := s.Cursor()
	cols, rows := s.Size()
	first, from, known := findStart(s, b, row, col)
	out := Buffer{Known: known}
	if !known {
		first = row
		for first > 0 && s.Wrapped(first-1) {
			first--
		}
		from, out.Clipped = 0, first == 0 && s.Wrapped(-1)
	}
	out.Before = textBetween(s, first, from, row, col)
	last := rows - 1
	for last > row && rowText(s, last, 0, cols) == "" {
		last--
	}
	out.After = strings.TrimRight(textBetween(s, row, col, last, cols), " \n")
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

// SplitSuggested separates what Enter submits from a right prompt and from suggestions of the
// program, as fish and zsh show them behind the cursor. moved means that text of the line may be
// behind the cursor: the cursor went back, the user typed, or an entry of the history was recalled.
func (b Buffer) SplitSuggested(moved bool) (sent, suggested string) {
	if b.After == "" || moved || strings.Trim(b.After, closingPairs) == "" {
		return b.Text(), b.Tail
	}
	return b.Before, b.After + b.Tail
}

// closingPairs are what editors add behind the cursor when the first half of a pair is typed.
const closingPairs = `)]}"'` + "`"

// LacksTyped reports whether shown lacks something that was typed. Each run needs a place of its
// own: a comment with the same words must not stand in for a command out of sight.
func LacksTyped(shown string, typed []string) bool {
	shown = strings.ReplaceAll(shown, "\n", "")
	runs := slices.Clone(typed)
	sort.SliceStable(runs, func(i, k int) bool { return len(runs[i]) > len(runs[k]) })
	for _, run := range runs {
		run = strings.TrimSpace(strings.ReplaceAll(run, "\n", ""))
		before, after, ok := strings.Cut(shown, run)
		if !ok {
			return true
		}
		shown = before + "\x00" + after
	}
	return false
}

// findStart finds the end of the prompt: the place of the first key, while the screen still shows
// it with the prompt on its left. Otherwise it looks for the same prompt in another row, to which a
// redraw or a resize may have moved it.
func findStart(s Screen, b Start, row, col int) (first, from int, known bool) {
	if !b.Set || b.Alt != s.Alt() {
		return 0, 0, false
	}
	for r := row; r >= 0 && row-r < maxSearchRows; r-- {
		if s.Line(r) != b.Line {
			continue
		}
		if r == row && b.Col > col && rowText(s, r, col, b.Col) != "" {
			break // the cursor went back into what was there before
		}
		if !b.Known || SamePrompt(rowText(s, r, 0, b.Col), b.Row.Prompt) {
			return r, b.Col, true
		}
		break
	}
	prompt := b.Row.Prompt
	if !b.Known || strings.TrimSpace(prompt) == "" {
		return 0, 0, false
	}
	for r := row; r >= 0 && row-r < maxSearchRows; r-- {
		if end := columnAfter(s, r, prompt); end >= 0 && (r < row || end <= col) {
			return r, end, true
		}
	}
	return 0, 0, false
}

// columnAfter returns the column behind the text want if a row begins with it, or -1.
func columnAfter(s Screen, row int, want string) int {
	cols, _ := s.Size()
	got := ""
	want = zeroDigits(want)
	for col := range cols {
		if got == want {
			return col
		}
		got += zeroDigits(cellText(s, row, col))
		if !strings.HasPrefix(want, got) {
			return -1
		}
	}
	if got == want {
		return cols
	}
	return -1
}

// textBetween returns the text between two positions, with a newline between rows that are not
// wrapped.
func textBetween(s Screen, row, col, lastRow, lastCol int) string {
	cols, _ := s.Size()
	var b strings.Builder
	for ; row < lastRow; row, col = row+1, 0 {
		b.WriteString(rowText(s, row, col, cols))
		if !s.Wrapped(row) {
			b.WriteByte('\n')
		}
	}
	if col < lastCol {
		b.WriteString(rowText(s, row, col, lastCol))
	}
	return b.String()
}

// rowText returns the text of some columns. It omits trailing blanks of an unwrapped row, unless
// the columns end before the row does.
func rowText(s Screen, row, from, to int) string {
	cols, _ := s.Size()
	var b strings.Builder
	for col := from; col < min(to, cols); col++ {
		b.WriteString(cellText(s, row, col))
	}
	if to >= cols && !s.Wrapped(row) {
		return strings.TrimRight(b.String(), " ")
	}
	return b.String()
}

func cellText(s Screen, row, col int) string {
	content, width := s.Cell(row, col)
	if content == "" && width != 0 {
		return " "
	}
	return content
}

// cutTail cuts a right prompt off the end of after's first row, if it was there before the first
// key.
func cutTail(after string, b Start, oneRow bool) (line, tail string) {
	if !b.Known || b.Row.Tail == "" || !oneRow {
		return after, ""
	}
	head, rest, more := strings.Cut(after, "\n")
	want := strings.TrimLeft(b.Row.Tail, " ")
	at := len(head) - len(want)
	if at < 0 || !SamePrompt(head[at:], want) || at > 0 && head[at-1] != ' ' {
		return after, ""
	}
	if want, head = head[at:], strings.TrimRight(head[:at], " "); more {
		head += "\n" + rest
	}
	return head, want
}
