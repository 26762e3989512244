package notice

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Rows lays out a text that a decision depends on, and the keys that answer it, on at most most rows of cols columns. All
// of the text is there if it fits, over as many rows as it takes; else its end says how many characters are not shown. The
// keys come last, one after another between dots, and are always there, if need be cut.
func Rows(cols, most int, say, keys string) string {
	if space := cols - displaywidth.String(keys) - 3; displaywidth.String(say) <= space {
		return " " + Fit(say, space) + " " + keys + " "
	}
	body, foot := fold(max(1, cols-2), most, say, keys)
	if body == nil { // a screen of one row: what is asked cannot be read on it
		return fmt.Sprintf(" %s not shown · %s", characters(say), keys)
	}
	return " " + strings.Join(append(body, foot...), "\n ")
}

// cut makes the last of rows end with the number of characters of say that the rows do not hold.
func cut(rows []string, say string, cols int) []string {
	rows = append([]string(nil), rows...)
	last := len(rows) - 1
	before := 0
	for _, row := range rows[:last] {
		before += graphemeCount(row)
	}
	all := graphemeCount(say)
	for kept := graphemeCount(rows[last]); ; kept-- {
		note := fmt.Sprintf("… and %d characters more", all-before-kept)
		if head := first(rows[last], kept); displaywidth.String(head)+displaywidth.String(note) <= cols || kept == 0 {
			rows[last] = head + note
			return rows
		}
	}
}

// pack lays out keys: a row ends between two of them.
func pack(keys string, cols int) (rows []string) {
	const dot = " · "
	row := ""
	for _, key := range strings.Split(keys, dot) {
		switch {
		case row == "":
			row = key
		case displaywidth.String(row+dot+key) <= cols:
			row += dot + key
		default:
			rows = append(rows, row)
			row = key
		}
		if displaywidth.String(row) > cols {
			parts := wrap(row, cols)
			rows = append(rows, parts[:len(parts)-1]...)
			row = parts[len(parts)-1]
		}
	}
	return append(rows, row)
}

// wrap cuts text into rows of at most cols columns, between characters and wherever that is: a text that is judged to the
// letter keeps its blanks.
func wrap(text string, cols int) []string {
	var rows []string
	var b strings.Builder
	used := 0
	for g := graphemes.FromString(text); g.Next(); {
		width := displaywidth.String(g.Value())
		if used+width > cols && used > 0 {
			rows = append(rows, b.String())
			b.Reset()
			used = 0
		}
		b.WriteString(g.Value())
		used += width
	}
	return append(rows, b.String())
}

func graphemeCount(s string) (n int) {
	for g := graphemes.FromString(s); g.Next(); {
		n++
	}
	return n
}

// first is the first n characters of s.
func first(s string, n int) string {
	var b strings.Builder
	for g := graphemes.FromString(s); n > 0 && g.Next(); n-- {
		b.WriteString(g.Value())
	}
	return b.String()
}

// characters counts the characters of s in words.
func characters(s string) string {
	if n := graphemeCount(s); n != 1 {
		return fmt.Sprintf("%d characters", n)
	}
	return "1 character"
}

// Tail is the end of text in at most cols columns, with an ellipsis in front where something is left out.
func Tail(text string, cols int) string {
	if displaywidth.String(text) <= cols {
		return text
	}
	var all []string
	for g := graphemes.FromString(text); g.Next(); {
		all = append(all, g.Value())
	}
	used, from := 1, len(all)
	for from > 0 && used+displaywidth.String(all[from-1]) <= cols {
		from--
		used += displaywidth.String(all[from])
	}
	return "…" + strings.Join(all[from:], "")
}
