package line

import "strings"

// Alike reports whether two prompts are the same, but for figures: one with a clock is redrawn as time passes.
func Alike(a, b string) bool { return a == b || len(a) == len(b) && figures(a) == figures(b) }

// figures is text with 0 for every digit.
func figures(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
}

// hasPrompt reports whether it is known what stood before the line.
func (b *Begin) hasPrompt() bool { return b.Known && strings.TrimSpace(b.Rest.Prompt) != "" }

// follow takes the begin of a line along that the program has redrawn by itself from one rest to the next, as with an answer of
// git's: what was typed stands behind another prompt now, of another width perhaps.
func (b *Begin) follow(was, now Rest) bool {
	if !b.Set || !b.hasPrompt() || b.Alt || b.Line != was.Line {
		return false
	}
	typed, ok := strings.CutPrefix(was.Prompt, b.Rest.Prompt)
	prompt, still := strings.CutSuffix(now.Prompt, typed)
	before, after := strings.TrimSpace(b.Rest.Prompt), strings.TrimSpace(prompt)
	if !ok || !still || after == "" || strings.HasPrefix(after, before) || before[len(before)-1] != after[len(after)-1] {
		return false // a late echo looks much like it
	}
	b.Line, b.Col = now.Line, now.Col-(was.Col-b.Col)
	b.Rest = Rest{Place: b.Place, Prompt: prompt, Tail: now.Tail}
	return true
}
