package claude

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"terminalproxy/proxy/chat"
)

// view is what the screen of Claude Code's interface shows.
type view struct {
	prompt bool   // the prompt is drawn, which it is not while a dialog stands
	empty  bool   // nothing is typed there
	text   string // what stands there, without blanks and ends of lines
	dialog bool   // something is to be chosen
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

// modeSign is the row under the prompt that names the permission mode, and signedModes are its words.
var (
	modeSign    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*[⏵⏸]+ (.+?) on(?: |$)`) })
	signedModes = map[string]string{
		"manual mode": "default", "auto mode": "auto", "accept edits": "acceptEdits", "plan mode": "plan", "bypass permissions": "bypassPermissions",
		"don't ask": "dontAsk", "don't ask mode": "dontAsk",
	}
)

// chooses are the words at the foot of a dialog.
var chooses = []string{"Esc to cancel", "Enter to confirm", "Enter to select"}

// see reads a screen.
func see(s chat.Screen) view {
	v := view{pastes: s.Pastes}
	for i := len(s.Rows) - 1; i > 0 && !v.prompt; i-- {
		if m := modeSign().FindStringSubmatch(s.Rows[i].Text); m != nil {
			v.mode = signedModes[m[1]]
		}
		if at, ok := promptAt(s.Rows[i]); ok && isRule(s.Rows[i-1].Text) {
			v.prompt = true
			v.read(s.Rows[i:], at)
		}
	}
	if !v.prompt && !hasOtherPrompt(s) {
		v.own = seeDialog(s)
	}
	for _, r := range s.Rows {
		v.dialog = v.dialog || !v.prompt && option().MatchString(r.Text)
		for _, words := range chooses {
			v.dialog = v.dialog || !v.prompt && strings.Contains(r.Text, words)
		}
	}
	return v
}

// promptAt is the index of the first rune behind the sign of the prompt.
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

// hasOtherPrompt reports whether the prompt stands there for something else than a prompt: a command, a note.
func hasOtherPrompt(s chat.Screen) bool {
	for i := 1; i < len(s.Rows); i++ {
		if text := strings.TrimLeft(s.Rows[i].Text, "│ "); isRule(s.Rows[i-1].Text) && (strings.HasPrefix(text, "!") || strings.HasPrefix(text, "#")) {
			return true
		}
	}
	return false
}

// isRule reports whether a row is the line over or under the prompt.
func isRule(row string) bool { return strings.Count(row, "─") >= 10 }

// read reads the prompt, whose first row comes first.
func (v *view) read(rows []chat.Row, at int) {
	first := rows[0]
	text := behind(first.Text, at)
	// Words that nobody typed stand behind a caret at the beginning, in a colour of their own.
	v.empty = text == "" || first.Caret == at && behind(first.Plain, at+1) == "" && behind(first.Text, at+1) != ""
	if v.empty {
		return
	}
	var all strings.Builder
	all.WriteString(text)
	for _, r := range rows[1:] {
		if isRule(r.Text) {
			break
		}
		all.WriteString(strings.Trim(r.Text, "│"))
	}
	v.text = squeeze(all.String())
}

// behind is the text from the rune at on, without blanks around it.
func behind(text string, at int) string {
	runes := []rune(text)
	return strings.TrimSpace(strings.TrimRight(string(runes[min(at, len(runes)):]), "│ "))
}

// squeeze is text without blanks.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// shows reports whether the prompt shows a text and nothing else.
func (v *view) shows(text string) bool {
	if !v.prompt || v.empty {
		return false
	}
	text = squeeze(text)
	if pasted().MatchString(v.text) || v.text == text {
		return true
	}
	return len(v.text) > scrolledLeast && strings.Contains(text, v.text) // of a long one, a part
}

// scrolledLeast is how much of a text that is longer than the prompt's window must be seen, in bytes.
const scrolledLeast = 200
