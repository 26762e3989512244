package line

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// AtCommand reports whether the line that is edited is a command, as far as the screen tells: a
// question that a program asks inside its own line editor looks the same to the kernel, and may be
// answered by a single key. What can be printed only takes a prompt away.
func AtCommand(s Screen, group int, t Typed) bool {
	before, known := t.commands.of(group)
	row, col := s.Cursor()
	if _, _, found := start(s, t.Line, row, col); found && t.Line.Known && !t.Asks && isCommand(t.Line.Rest.Prompt, before.Prompt, known) {
		return true // its prompt is still there, and the line was not submitted
	}
	return isCommand(PromptText(s, t), before.Prompt, known)
}

// PromptText is the text in front of what is typed on the line of the cursor.
func PromptText(s Screen, t Typed) string {
	row, col := s.Cursor()
	first := row
	for first > 0 && s.Wrapped(first-1) {
		first--
	}
	for r := first; r <= row && t.Line.Set && t.Line.Alt == s.Alt(); r++ {
		if s.Line(r) == t.Line.Line && (r < row || t.Line.Col <= col) {
			return span(s, first, 0, r, t.Line.Col)
		}
	}
	if b := t.Line; first == 0 && s.Wrapped(-1) && b.Set && b.Known && b.Alt == s.Alt() && b.Line < s.Line(0) {
		return b.Rest.Prompt // which left the screen
	}
	return span(s, first, 0, row, col)
}

// isCommand reports whether a prompt asks for a command: it offers no answers and, where the prompt
// of the command before is known, does not end as questions do unless that one did, too.
func isCommand(prompt, before string, known bool) bool {
	here, last := strings.TrimSpace(prompt), strings.TrimSpace(before)
	switch {
	case offersAnswers(here):
		return false
	case known && isContinuation(prompt, before):
		return true
	case here == "":
		return known && last == ""
	case here == "read>": // fish's read
		return known && last == here
	case strings.HasSuffix(here, ":"):
		return !known || strings.HasSuffix(last, ":")
	}
	return true
}

// offersAnswers reports whether text ends in a question mark, or in answers to choose from: [y/N],
// (yes/no), [nyae]?, (y or n).
func offersAnswers(text string) bool {
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") {
		return true
	}
	text = strings.TrimRight(text, "?:> ")
	if text == "" {
		return false
	}
	open := strings.IndexByte("])>}", text[len(text)-1])
	if open < 0 {
		return false
	}
	at := strings.LastIndexByte(text, "[(<{"[open])
	if at < 0 {
		return false
	}
	answers := strings.FieldsFunc(strings.ReplaceAll(text[at+1:len(text)-1], " or ", "/"), func(r rune) bool { return strings.ContainsRune("/|,", r) })
	short := false
	for _, a := range answers {
		a = strings.ToLower(strings.Trim(a, " []()"))
		if strings.ContainsFunc(a, func(r rune) bool { return !unicode.IsLetter(r) }) {
			return false
		}
		short = short || utf8.RuneCountInString(a) == 1 || a == "yes" || a == "no"
	}
	return short && len(answers) > 1
}

// Repeats reports whether Enter repeats the last command: the program does that at its prompt for a
// line with nothing on it. shown is what stands on the line, or the prompt itself where that is not
// told apart.
func Repeats(f Facts, prompt, shown string) bool {
	e, ok := find(f.Program)
	prompt, shown = strings.TrimSpace(prompt), strings.TrimSpace(shown)
	return ok && e.repeats != nil && (shown == "" || shown == prompt) && e.repeats(prompt)
}
