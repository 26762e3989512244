package line

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// prompts holds the last known prompts of a few foreground groups, newest first.
type prompts [4]prompt

type prompt struct {
	group int
	row   PausedRow
	sure  bool // the program waited there before any key
}

func (p *prompts) addPrompt(group int, rest PausedRow, sure bool) {
	at := slices.IndexFunc(p[:len(p)-1], func(one prompt) bool { return one.group == group })
	if at < 0 {
		at = len(p) - 1
	}
	copy(p[1:at+1], p[:at])
	p[0] = prompt{group, rest, sure}
}

// isSure reports whether the prompt of a group is known for sure.
func (p *prompts) isSure(group int) bool {
	return slices.ContainsFunc(p[:], func(one prompt) bool {
		return one.group == group && one.sure
	})
}

func (p *prompts) rowOf(group int) (PausedRow, bool) {
	for _, one := range p {
		if one.group == group && group != 0 {
			return one.row, true
		}
	}
	return PausedRow{}, false
}

// isBarePrompt reports whether the cursor is behind rest's prompt on an otherwise empty line: text
// that was typed elsewhere, or before a redraw, is gone.
func isBarePrompt(s Screen, rest PausedRow) bool {
	if strings.TrimSpace(rest.Prompt) == "" {
		return false
	}
	row, col := s.Cursor()
	cols, rows := s.Size()
	left := strings.TrimRight(rowText(s, row, 0, col), " ")
	if !SamePrompt(left, strings.TrimRight(rest.Prompt, " ")) {
		return false
	}
	if right := strings.TrimSpace(rowText(s, row, col, cols)); right != "" &&
		!SamePrompt(right, strings.TrimSpace(rest.Tail)) {
		return false
	}
	for row++; row < rows; row++ {
		if rowText(s, row, 0, cols) != "" {
			return false
		}
	}
	return true
}

// HasPromptText reports whether there is text left of the cursor, such as a prompt. A program that
// still processes a submitted line has usually left the cursor at the start of a row.
func HasPromptText(s Screen) bool {
	row, col := s.Cursor()
	return strings.TrimSpace(rowText(s, row, 0, col)) != "" || row > 0 && s.Wrapped(row-1)
}

// isContinued reports whether the cursor is behind a continuation prompt, which asks for the rest
// of a line that began behind another prompt. If that prompt is unknown, because the line was typed
// before the first look, every continuation prompt counts.
func isContinued(s Screen, begun Start) bool {
	row, col := s.Cursor()
	prompt := begun.Row.Prompt
	if !begun.hasPrompt() {
		prompt = unknownPrompt
	}
	return isContinuation(rowText(s, row, 0, col), prompt)
}

// readKept returns the text behind the prompt of a line after Enter, "" if the line was submitted.
// Some Enters submit nothing: they expand the history (histverify), report an error (fish), or run a
// widget of the user's. The next prompt may hold text, too (print -z, push-line).
func readKept(s Screen, begun Start) Buffer {
	first, col := s.Cursor()
	row := first
	for first > 0 && s.Wrapped(first-1) {
		first--
	}
	if !begun.hasPrompt() {
		return Buffer{}
	}
	from := columnAfter(s, first, begun.Row.Prompt)
	if from < 0 || first == row && from > col {
		return Buffer{}
	}
	kept := begun
	kept.Place = placeAt(s, first, from)
	b := ReadBuffer(s, kept)
	if prompt := strings.TrimSpace(begun.Row.Prompt); strings.HasSuffix(strings.TrimSpace(b.Before), prompt) {
		return Buffer{} // behind output that began like the prompt and did not end its row
	}
	return b
}

// isProposed reports whether the cursor is behind a word although the prompt of the submitted line
// does not end in one: bash's read -e -i and zsh's vared offer a text for editing.
func isProposed(s Screen, begun Start) bool {
	return begun.hasPrompt() && endsInWord(ReadPausedRow(s).Prompt) && !endsInWord(begun.Row.Prompt)
}

func endsInWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// unknownPrompt resembles no real prompt.
const unknownPrompt = "\x00"

// isContinuation reports whether here is the prompt that follows prompt while a line leaves
// something open. It knows PS2 of shells, "..." of Python and Node, "...>" of SQLite, "...:" of
// IPython, the indent of fish, and "db-#" of psql.
func isContinuation(here, prompt string) bool {
	l, p := strings.TrimSpace(here), strings.TrimSpace(prompt)
	switch {
	case p == "" || l == p:
		return false
	case l == "":
		return here != ""
	case l == ">" || l == "..." || l == "...>" || l == "...:" || l == "|":
		return true
	case len(l) == len(p) && len(l) > 2 && p[len(p)-2] == '=':
		n := len(l)
		return l[:n-2] == p[:n-2] && l[n-1] == p[n-1] && strings.IndexByte(`-'"(*$!^`, l[n-2]) >= 0
	}
	words, ok := strings.CutSuffix(l, ">")
	for _, word := range strings.Fields(words) {
		ok = ok && strings.Contains(zshOpenWords, " "+word+" ")
	}
	return ok
}

// zshOpenWords lists the words by which zsh's %_ names open constructs (zshmisc(1)).
const zshOpenWords = " quote dquote bquote subsh cmdsubst cmdand cmdor pipe errpipe if then elif else " +
	"case select for foreach repeat while until function cursh math mathsubst array heredoc " +
	"heredocd brace braceparam braceparamdq dquote cond always nocorrect coproc time "
