package chat

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"terminalproxy/gateway/text"
	"terminalproxy/proxy/chat"
)

const (
	// maxOutput is how many lines of a tool's result are shown.
	maxOutput = 5
	// maxInput bounds the input shown in a question, in bytes. A question with a longer input shows
	// how much is missing and cannot be allowed.
	maxInput = 256 << 10
)

// chatView shows a conversation as text. It belongs to one goroutine.
type chatView struct {
	text  io.Writer // the agent's text
	about io.Writer // notices and questions
	// cols returns the number of columns, or is nil to print text as it arrives.
	cols func() int

	id    string // of the text being written
	shown int    // how many of its bytes were printed
	row   string // text not shown yet, because the row is not full
	bare  bool   // the printed text ends within a row
}

// printItem prints an item, except the user's own lines, which are on the screen already.
func (v *chatView) printItem(agent string, i *chat.Item) {
	from := ""
	if i.Author != agent {
		from = i.Author + ": "
	}
	switch i.Kind {
	case chat.Text:
		rest := i.Text
		if i.ID != "" && i.ID == v.id {
			rest = rest[min(v.shown, len(rest)):]
		}
		switch {
		case from != "":
			v.printNotice("%s%s", from, text.Clean(rest))
		// otherwise the whole text was printed, to the end of a row
		case rest != "" || v.row != "" || v.bare:
			v.write(rest + "\n")
		}
		v.id, v.shown = "", 0
	case chat.ToolCall:
		v.printNotice("• %s%s%s", from, text.OneLine(i.Tool), inputLine(i))
	case chat.ToolResult:
		v.printResult(i)
	case chat.Notice:
		v.printNotice("· %s%s", from, text.Clean(i.Text))
	case chat.User:
	}
}

// printPiece shows a part of a text. The text before it was the agent's too: no other output is
// printed within one.
func (v *chatView) printPiece(p *chat.Piece) {
	if p.ID != v.id {
		v.id, v.shown = p.ID, 0
	}
	v.shown += len(p.Text)
	v.write(p.Text)
}

// write prints the agent's text: in whole rows above a line editor, otherwise at once.
func (v *chatView) write(s string) {
	s = v.row + s
	v.row = ""
	if v.cols == nil {
		if s != "" {
			v.bare = !strings.HasSuffix(s, "\n")
		}
		_, _ = io.WriteString(v.text, text.Clean(s))
		return
	}
	end := strings.LastIndexByte(s, '\n') + 1
	rows, rest := s[:end], s[end:]
	for head := findBreak(rest, v.cols()); head > 0; head = findBreak(rest, v.cols()) {
		rows, rest = rows+rest[:head]+"\n", rest[head:]
	}
	v.row = rest
	if rows != "" {
		_, _ = io.WriteString(v.text, text.Clean(rows))
	}
}

// flush prints an incomplete row.
func (v *chatView) flush() {
	if v.row != "" {
		v.write("\n")
	}
	if v.bare {
		v.bare = false
		_, _ = io.WriteString(v.text, "\n")
	}
}

// printNotice prints a line that is not the agent's text.
func (v *chatView) printNotice(format string, args ...any) {
	v.flush()
	fmt.Fprintf(v.about, format+"\n", args...)
}

// printHint prints a line, faintly if the terminal can.
func (v *chatView) printHint(line string) {
	if term := os.Getenv("TERM"); term != "" && term != "dumb" {
		line = "\x1b[2m" + line + "\x1b[m"
	}
	v.printNotice("%s", line)
}

// findBreak returns where to break a line that is longer than a row, 0 for a shorter one.
func findBreak(line string, cols int) int {
	if len(line) <= cols {
		return 0
	}
	width, blank := 0, 0
	for i, r := range line {
		width += displaywidth.Rune(r)
		if width > cols {
			if blank > 0 {
				return blank
			}
			return i
		}
		if r == ' ' {
			blank = i + 1
		}
	}
	return 0
}

// printResult prints the first lines of a tool's result.
func (v *chatView) printResult(i *chat.Item) {
	lines := strings.Split(strings.TrimRight(text.Clean(i.Text), "\n "), "\n")
	if i.Failed {
		lines[0] = "failed: " + lines[0]
	}
	more := len(lines) - maxOutput
	if more > 1 {
		lines = append(lines[:maxOutput], fmt.Sprintf("... and %d lines more", more))
	}
	v.printNotice("  ⎿ %s", strings.Join(lines, "\n    "))
}

// inputLine returns a tool's input on one line.
func inputLine(i *chat.Item) string {
	const most = 160
	fields := inputFields(i.Input)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != "description" {
			all = append(all, fields[name])
		}
	}
	line := []rune(text.OneLine(strings.Join(all, " ")))
	if len(line) == 0 {
		return ""
	}
	if len(line) > most {
		line = append(line[:most], []rune("...")...)
	}
	return ": " + string(line)
}

// inputFields returns the fields of a JSON object: text as it is, other values as JSON.
func inputFields(input json.RawMessage) map[string]string {
	var values map[string]json.RawMessage
	_ = json.Unmarshal(input, &values) // only an object has fields
	fields := map[string]string{}
	for name, value := range values {
		var s string
		if json.Unmarshal(value, &s) != nil {
			s = string(value)
		}
		fields[name] = s
	}
	return fields
}

// wholeInput returns a tool's input for the question whether the agent may call it. It makes
// invisible characters visible and marks omissions; missing is the number of bytes omitted.
func wholeInput(input json.RawMessage) (shown string, missing int) {
	fields := inputFields(input)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		if strings.Contains(value, "\n") {
			value = "\n" + value
		}
		fmt.Fprintf(&b, "%s: %s\n", name, value)
	}
	if len(fields) == 0 {
		fmt.Fprintf(&b, "%s\n", input)
	}
	shown = strings.TrimRight(escapeInvisible(b.String()), "\n")
	if missing = max(0, len(shown)-maxInput); missing > 0 {
		shown = strings.ToValidUTF8(shown[:maxInput], "")
	}
	return "  │ " + strings.ReplaceAll(shown, "\n", "\n  │ ") + "\n", missing
}

// escapeInvisible returns text with every character visible.
func escapeInvisible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if one := string(r); r == '\n' || text.Clean(one) == one {
			b.WriteString(one)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}
