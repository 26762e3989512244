package claude

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"terminalproxy/proxy/chat"
)

// promptView is what the screen of Claude Code's interface shows.
type promptView struct {
	prompt bool   // the prompt is drawn, which it is not while a dialog stands
	empty  bool   // nothing is typed there
	text   string // what stands there, without blanks and ends of lines
	dialog bool   // a choice is offered
	mode   string // of permissions, "" where it does not stand there
	pastes bool
	own    *ownDialog // nil where the prompt is drawn
}

var (
	// option is the row of a dialog on which its pointer stands.
	option = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*❯ \d+\. `) })
	// pasted is how a longer paste is shown.
	pasted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[Pastedtext#\d+(\+\d+lines)?\]$`) })
)

// modeSign is the row under the prompt that names the permission mode, and signedModes are its
// words.
var (
	modeSign    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*[⏵⏸]+ (.+?) on(?: |$)`) })
	signedModes = map[string]string{
		"manual mode":        "default",
		"auto mode":          "auto",
		"accept edits":       "acceptEdits",
		"plan mode":          "plan",
		"bypass permissions": "bypassPermissions",
		"don't ask":          "dontAsk",
		"don't ask mode":     "dontAsk",
	}
)

// dialogHints are the words at the foot of a dialog.
var dialogHints = []string{"Esc to cancel", "Enter to confirm", "Enter to select"}

// readScreen finds the prompt and the dialogs on a screen.
func readScreen(s chat.Screen) promptView {
	v := promptView{pastes: s.Pastes}
	for i := len(s.Rows) - 1; i > 0 && !v.prompt; i-- {
		if m := modeSign().FindStringSubmatch(s.Rows[i].Text); m != nil {
			v.mode = signedModes[m[1]]
		}
		if at, ok := promptAt(s.Rows[i]); ok && isBorder(s.Rows[i-1].Text) {
			v.prompt = true
			v.readPrompt(s.Rows[i:], at)
		}
	}
	if !v.prompt && !hasOtherPrompt(s) {
		v.own = readDialog(s)
	}
	for _, r := range s.Rows {
		v.dialog = v.dialog || !v.prompt && option().MatchString(r.Text)
		for _, words := range dialogHints {
			v.dialog = v.dialog || !v.prompt && strings.Contains(r.Text, words)
		}
	}
	return v
}

// promptAt finds the first rune after the prompt's sign.
func promptAt(r chat.Row) (at int, ok bool) {
	runes := []rune(r.Text)
	for at < len(runes) && at < 3 && (runes[at] == '│' || unicode.IsSpace(runes[at])) {
		at++
	}
	if at == len(runes) || runes[at] != '❯' && runes[at] != '>' {
		return 0, false
	}
	return at + 2, true
}

// hasOtherPrompt reports whether the prompt takes a shell command or a note.
func hasOtherPrompt(s chat.Screen) bool {
	for i := 1; i < len(s.Rows); i++ {
		text := strings.TrimLeft(s.Rows[i].Text, "│ ")
		isOther := strings.HasPrefix(text, "!") || strings.HasPrefix(text, "#")
		if isOther && isBorder(s.Rows[i-1].Text) {
			return true
		}
	}
	return false
}

// isBorder reports whether a row is the line over or under the prompt.
func isBorder(row string) bool { return strings.Count(row, "─") >= 10 }

// readPrompt reads the prompt, whose first row comes first.
func (v *promptView) readPrompt(rows []chat.Row, at int) {
	first := rows[0]
	text := textAfter(first.Text, at)
	// A hint of Claude Code follows a caret at the beginning, in its own colour.
	isHint := first.Caret == at && textAfter(first.Plain, at+1) == "" &&
		textAfter(first.Text, at+1) != ""
	v.empty = text == "" || isHint
	if v.empty {
		return
	}
	var all strings.Builder
	all.WriteString(text)
	for _, r := range rows[1:] {
		if isBorder(r.Text) {
			break
		}
		all.WriteString(strings.Trim(r.Text, "│"))
	}
	v.text = withoutBlanks(all.String())
}

// textAfter returns the text from the rune at on, without blanks around it.
func textAfter(text string, at int) string {
	runes := []rune(text)
	return strings.TrimSpace(strings.TrimRight(string(runes[min(at, len(runes)):]), "│ "))
}

// withoutBlanks removes all blanks.
func withoutBlanks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// showsOnly reports whether the prompt shows a text and nothing else.
func (v *promptView) showsOnly(text string) bool {
	if !v.prompt || v.empty {
		return false
	}
	text = withoutBlanks(text)
	if pasted().MatchString(v.text) || v.text == text {
		return true
	}
	return len(v.text) > scrolledLeast && strings.Contains(text, v.text) // of a long one, a part
}

// scrolledLeast is how much must be seen of a text longer than the prompt's window, in bytes.
const scrolledLeast = 200
