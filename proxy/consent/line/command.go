package line

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// AtCommand reports whether the edited line is a command, judging by the screen. A question that a
// program asks in its own line editor looks the same to the kernel, and a single key may answer it.
// Bytes that the program prints can only make it report false.
func AtCommand(s Screen, group int, t Typed) bool {
	before, known := t.commands.rowOf(group)
	row, col := s.Cursor()
	if _, _, found := findStart(s, t.Line, row, col); found && t.Line.Known && !t.MayAskKey &&
		isCommand(t.Line.Row.Prompt, before.Prompt, known) {
		return true // its prompt is still there, and the line was not submitted
	}
	return isCommand(PromptText(s, t), before.Prompt, known)
}

// PromptText returns the text before the typed text on the cursor's line.
func PromptText(s Screen, t Typed) string {
	row, col := s.Cursor()
	first := row
	for first > 0 && s.Wrapped(first-1) {
		first--
	}
	for r := first; r <= row && t.Line.Set && t.Line.Alt == s.Alt(); r++ {
		if s.Line(r) == t.Line.Line && (r < row || t.Line.Col <= col) {
			return textBetween(s, first, 0, r, t.Line.Col)
		}
	}
	if b := t.Line; first == 0 && s.Wrapped(-1) && b.Set && b.Known && b.Alt == s.Alt() &&
		b.Line < s.Line(0) {
		return b.Row.Prompt // it has scrolled off
	}
	return textBetween(s, first, 0, row, col)
}

// isCommand reports whether a prompt asks for a command: it must not offer answers and, if the
// previous command's prompt is known, may end like a question only if that one did.
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

// offersAnswers reports whether text ends in a question mark or in a choice of answers: [y/N],
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
	choice := strings.ReplaceAll(text[at+1:len(text)-1], " or ", "/")
	answers := strings.FieldsFunc(choice, func(r rune) bool {
		return strings.ContainsRune("/|,", r)
	})
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

// RepeatsLastCommand reports whether Enter on an empty line repeats the last command at this
// prompt. shown is the text on the line, or the prompt itself if they cannot be told apart.
func RepeatsLastCommand(f Facts, prompt, shown string) bool {
	e, ok := findEditor(f.Program)
	prompt, shown = strings.TrimSpace(prompt), strings.TrimSpace(shown)
	return ok && e.repeats != nil && (shown == "" || shown == prompt) && e.repeats(prompt)
}
