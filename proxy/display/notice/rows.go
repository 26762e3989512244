package notice

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Rows lays out a text that a decision depends on, and the keys that answer it, on at most most
// rows of cols columns. If the text fits, all of it is shown, over as many rows as it takes;
// otherwise its end counts the characters that are not shown. The keys come last, separated by
// dots, and are always shown, cut if necessary.
func Rows(cols, most int, text, keys string) string {
	if space := cols - displaywidth.String(keys) - 3; displaywidth.String(text) <= space {
		return " " + Fit(text, space) + " " + keys + " "
	}
	body, foot := foldRows(max(1, cols-2), most, text, keys)
	if body == nil { // a screen of one row, on which the question cannot be read
		return fmt.Sprintf(" %s not shown · %s", countInWords(text), keys)
	}
	return " " + strings.Join(append(body, foot...), "\n ")
}

// LayOutWhole lays out text on at most most rows of cols columns, if all of it fits without
// breaking a word.
func LayOutWhole(cols, most int, text string) (rows string, ok bool) {
	all := []string{""}
	for _, word := range strings.Fields(text) {
		switch last := &all[len(all)-1]; {
		case displaywidth.String(word) > cols:
			return "", false
		case *last == "":
			*last = word
		case displaywidth.String(*last+" "+word) <= cols:
			*last += " " + word
		default:
			all = append(all, word)
		}
	}
	return strings.Join(all, "\n"), len(all) <= most
}

// cutLast makes the last of rows end with the number of characters of text that the rows do not
// hold.
func cutLast(rows []string, text string, cols int) []string {
	rows = append([]string(nil), rows...)
	last := len(rows) - 1
	before := 0
	for _, row := range rows[:last] {
		before += graphemeCount(row)
	}
	all := graphemeCount(text)
	for kept := graphemeCount(rows[last]); ; kept-- {
		note := fmt.Sprintf("… and %d more characters", all-before-kept)
		head := firstChars(rows[last], kept)
		if displaywidth.String(head)+displaywidth.String(note) <= cols || kept == 0 {
			rows[last] = head + note
			return rows
		}
	}
}

// keySeparator separates two keys.
const keySeparator = " · "

// packKeys lays out keys: a row ends between two of them.
func packKeys(keys string, cols int) (rows []string) {
	row := ""
	for _, key := range strings.Split(keys, keySeparator) {
		switch {
		case row == "":
			row = key
		case displaywidth.String(row+keySeparator+key) <= cols:
			row += keySeparator + key
		default:
			rows = append(rows, row)
			row = key
		}
		if displaywidth.String(row) > cols {
			parts := wrapText(row, cols)
			rows = append(rows, parts[:len(parts)-1]...)
			row = parts[len(parts)-1]
		}
	}
	return append(rows, row)
}

// wrapText cuts text into rows of at most cols columns: behind a blank, and within a word only if
// the word is longer than a row. A text for a decision keeps its blanks; the blank after the last
// word of a row may be in the column after the row.
func wrapText(text string, cols int) []string {
	var rows []string
	start, used := 0, 0
	for at := 0; at < len(text); {
		word := text[at:]
		if blank := strings.IndexByte(word, ' '); blank >= 0 {
			word = word[:blank]
		}
		width := displaywidth.String(word)
		if used > 0 && used+width > cols && (width <= cols || used >= cols) {
			rows = append(rows, text[start:at])
			start, used = at, 0
		}
		for used+width > cols {
			n := countFitting(word, cols-used)
			if used == 0 {
				n = max(n, 1)
			}
			head := firstChars(word, n)
			rows = append(rows, text[start:at+len(head)])
			at += len(head)
			start, used, word = at, 0, word[len(head):]
			width = displaywidth.String(word)
		}
		at, used = at+len(word), used+width
		if at < len(text) { // the blank
			at, used = at+1, used+1
		}
	}
	return append(rows, text[start:])
}

// countFitting returns how many characters of s fit into cols columns.
func countFitting(s string, cols int) (n int) {
	for g := graphemes.FromString(s); g.Next(); n++ {
		if cols -= displaywidth.String(g.Value()); cols < 0 {
			break
		}
	}
	return n
}

func graphemeCount(s string) (n int) {
	for g := graphemes.FromString(s); g.Next(); {
		n++
	}
	return n
}

// firstChars returns the first n characters of s.
func firstChars(s string, n int) string {
	g := graphemes.FromString(s)
	for n > 0 && g.Next() {
		n--
	}
	return s[:g.End()]
}

// countInWords returns the number of characters of s as a phrase.
func countInWords(s string) string {
	if n := graphemeCount(s); n != 1 {
		return fmt.Sprintf("%d characters", n)
	}
	return "1 character"
}

// FitTail returns the end of text in at most cols columns, with an ellipsis in front if it is cut.
func FitTail(text string, cols int) string {
	if displaywidth.String(text) <= cols {
		return text
	}
	g := graphemes.FromString(text)
	for over := displaywidth.String(text) + 1 - cols; over > 0 && g.Next(); {
		over -= displaywidth.String(g.Value())
	}
	return "…" + text[g.End():]
}
