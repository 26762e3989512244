package text

import (
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// MaxBytes bounds one text for a model: 10,000 tokens, at three bytes to the token.
const MaxBytes = 30_000

// roomForText is the share of MaxBytes for the text around the rows.
const roomForText = 2_000

// Rows renders a screen as text: a row a line, without the blanks at the ends of rows and the empty
// rows at the end.
func Rows(lines []string) string {
	end := len(lines)
	for end > 0 && strings.TrimRight(lines[end-1], " ") == "" {
		end--
	}
	out := make([]string, end)
	for i, line := range lines[:end] {
		out[i] = strings.TrimRight(oneRow(line), " ")
	}
	return strings.Join(out, "\n")
}

// Numbered renders rows with their numbers, for a list of changes: "12| text".
func Numbered(rows []protocol.Row) string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = strings.TrimRight(strconv.Itoa(r.Row+1)+"| "+oneRow(r.Text), " ")
	}
	return strings.Join(out, "\n")
}

// oneRow keeps a row from looking like two.
func oneRow(s string) string { return strings.ReplaceAll(Clean(s), "\n", " ") }

// CutToBudget cuts text from its last line on until it fits a model's budget, and counts the lines
// that it left out.
func CutToBudget(text string) (kept string, left int) {
	const budget = MaxBytes - roomForText
	if len(text) <= budget {
		return text, 0
	}
	end := strings.LastIndexByte(text[:budget+1], '\n')
	if end < 0 {
		return "", strings.Count(text, "\n") + 1
	}
	return text[:end], strings.Count(text[end+1:], "\n") + 1
}

// Screen returns all rows of a frame: if the frame has only the changes, it applies them to prev,
// the screen that the reader saw last. It returns false if it cannot.
func Screen(prev *protocol.Frame, f *protocol.Frame) ([]string, bool) {
	switch {
	case f == nil:
		return nil, false
	case f.Screen.Lines != nil:
		return f.Screen.Lines, true
	case prev != nil && prev.Screen.Lines != nil && f.Seq == prev.Seq:
		return prev.Screen.Lines, true
	case prev != nil && prev.Screen.Lines != nil && f.Since == prev.Seq && f.Since != 0:
		return protocol.Patch(protocol.Move(prev.Screen.Lines, f.Moved), f.Changed), true
	}
	return nil, false
}
