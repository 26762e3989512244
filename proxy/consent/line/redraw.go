package line

import "strings"

// SamePrompt reports whether two prompts are the same except for digits: a prompt with a clock is
// redrawn as time passes.
func SamePrompt(a, b string) bool {
	return a == b || len(a) == len(b) && zeroDigits(a) == zeroDigits(b)
}

// zeroDigits replaces every digit by 0.
func zeroDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
}

// hasPrompt reports whether the prompt before the line is known.
func (b *Start) hasPrompt() bool { return b.Known && strings.TrimSpace(b.Row.Prompt) != "" }

// followRedraw moves the start of a line that the program has redrawn by itself, as after an answer
// of git: the typed text is now behind another prompt, perhaps of another width.
func (b *Start) followRedraw(old, now PausedRow) bool {
	if !b.Set || !b.hasPrompt() || b.Alt || b.Line != old.Line {
		return false
	}
	typed, ok := strings.CutPrefix(old.Prompt, b.Row.Prompt)
	prompt, still := strings.CutSuffix(now.Prompt, typed)
	before, after := strings.TrimSpace(b.Row.Prompt), strings.TrimSpace(prompt)
	if !ok || !still || after == "" || strings.HasPrefix(after, before) ||
		before[len(before)-1] != after[len(after)-1] {
		return false // it may be a late echo
	}
	b.Line, b.Col = now.Line, now.Col-(old.Col-b.Col)
	b.Row = PausedRow{Place: b.Place, Prompt: prompt, Tail: now.Tail}
	return true
}
