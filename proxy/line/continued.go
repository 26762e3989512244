package line

import (
	"slices"
	"strings"
)

// prompts are the last known ones of a few foreground groups, the newest first.
type prompts [4]prompt

type prompt struct {
	group int
	rest  Rest
	sure  bool // the program waited there, and nothing was typed
}

// add notes a prompt of a group.
func (p *prompts) add(group int, rest Rest, sure bool) {
	at := slices.IndexFunc(p[:len(p)-1], func(one prompt) bool { return one.group == group })
	if at < 0 {
		at = len(p) - 1
	}
	copy(p[1:at+1], p[:at])
	p[0] = prompt{group, rest, sure}
}

// isSure reports whether what is known of a group is its prompt for sure.
func (p *prompts) isSure(group int) bool {
	return slices.ContainsFunc(p[:], func(one prompt) bool { return one.group == group && one.sure })
}

func (p *prompts) of(group int) (Rest, bool) {
	for _, one := range p {
		if one.group == group && group != 0 {
			return one.rest, true
		}
	}
	return Rest{}, false
}

// bare reports whether the cursor stands behind rest's prompt, and nothing else is there: what was typed elsewhere, or
// before a redraw, is gone.
func bare(s Screen, rest Rest) bool {
	if strings.TrimSpace(rest.Prompt) == "" {
		return false
	}
	row, col := s.Cursor()
	cols, rows := s.Size()
	if !Alike(strings.TrimRight(text(s, row, 0, col), " "), strings.TrimRight(rest.Prompt, " ")) {
		return false
	}
	if right := strings.TrimSpace(text(s, row, col, cols)); right != "" && !Alike(right, strings.TrimSpace(rest.Tail)) {
		return false
	}
	for row++; row < rows; row++ {
		if text(s, row, 0, cols) != "" {
			return false
		}
	}
	return true
}

// Prompted reports whether something stands left of the cursor, as a prompt does. Who still works at what was submitted has left the
// cursor at the begin of a row, as a rule.
func Prompted(s Screen) bool {
	row, col := s.Cursor()
	return strings.TrimSpace(text(s, row, 0, col)) != "" || row > 0 && s.Wrapped(row-1)
}

// continues reports whether the cursor stands behind a prompt that asks for the rest of what was begun behind another. Where the
// other is not known, as it was typed before the first prompt was drawn or looked at, every prompt of that form counts.
func continues(s Screen, begun Begin) bool {
	row, col := s.Cursor()
	prompt := begun.Rest.Prompt
	if !begun.hasPrompt() {
		prompt = unknownPrompt
	}
	return isContinuation(text(s, row, 0, col), prompt)
}

// unknownPrompt is like no prompt.
const unknownPrompt = "\x00"

// isContinuation reports whether here is the prompt that follows on prompt when a line leaves something open, as far as line
// editors have one of their own: PS2 of shells, "..." of Python and Node, "...>" of SQLite, "...:" of IPython, the indent of
// fish, "db-#" of psql.
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
		ok = ok && strings.Contains(zshOpen, " "+word+" ")
	}
	return ok
}

// zshOpen are the words of zsh's %_ (zshmisc(1)) for what is open.
const zshOpen = " quote dquote bquote subsh cmdsubst cmdand cmdor pipe errpipe if then elif else case select for foreach repeat " +
	"while until function cursh math mathsubst array heredoc heredocd brace braceparam braceparamdq dquote cond always nocorrect coproc time "
