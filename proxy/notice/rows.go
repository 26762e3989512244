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

// Fits reports whether Rows shows all of say.
func Fits(cols, most int, say, keys string) bool {
	if displaywidth.String(say) <= cols-displaywidth.String(keys)-3 {
		return true
	}
	body, _ := fold(max(1, cols-2), most, say, keys)
	return body != nil && len(body) >= len(wrap(say, max(1, cols-2)))
}

// Whole lays out text on at most most rows of cols columns, if all of it fits without a word in pieces.
func Whole(cols, most int, text string) (rows string, ok bool) {
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
		note := fmt.Sprintf("… and %d more characters", all-before-kept)
		if head := first(rows[last], kept); displaywidth.String(head)+displaywidth.String(note) <= cols || kept == 0 {
			rows[last] = head + note
			return rows
		}
	}
}

// dot stands between two keys.
const dot = " · "

// pack lays out keys: a row ends between two of them.
func pack(keys string, cols int) (rows []string) {
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

// wrap cuts text into rows of at most cols columns: behind a blank, and within a word only if that is longer than a row. A
// text that is judged to the letter keeps its blanks; one behind the last word of a row may stand in the column after it.
func wrap(text string, cols int) []string {
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
			n := fitting(word, cols-used)
			if used == 0 {
				n = max(n, 1)
			}
			head := first(word, n)
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

// fitting is how many characters of s fit into cols columns.
func fitting(s string, cols int) (n int) {
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

// first is the first n characters of s.
func first(s string, n int) string {
	g := graphemes.FromString(s)
	for n > 0 && g.Next() {
		n--
	}
	return s[:g.End()]
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
	g := graphemes.FromString(text)
	for over := displaywidth.String(text) + 1 - cols; over > 0 && g.Next(); {
		over -= displaywidth.String(g.Value())
	}
	return "…" + text[g.End():]
}
