package claude

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/stdio"
)

// earlier is how much of a conversation that goes on is read of what came before, in bytes.
const earlier = 256 << 10

// tail follows the file of a conversation, which need not be there yet.
type tail struct {
	path  string
	line  func([]byte)
	file  *os.File
	lines *stdio.Lines
	skip  bool // the first line is the rest of one
	buf   []byte
}

func newTail(path string, line func([]byte), tooLong func(int)) *tail {
	t := &tail{path: path, line: line}
	t.lines = &stdio.Lines{TooLong: tooLong, Line: func(b []byte) {
		if t.skip {
			t.skip = false
			return
		}
		t.line(b)
	}}
	return t
}

// read reads what is new. What stands in the file when it is first there is read from near its end only.
func (t *tail) read() error {
	if t.file == nil {
		if err := t.open(); t.file == nil {
			return err
		}
	}
	if t.buf == nil {
		t.buf = make([]byte, 64<<10)
	}
	for {
		n, err := t.file.Read(t.buf)
		_, _ = t.lines.Write(t.buf[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tail) open() error {
	f, err := os.Open(t.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end > earlier {
		_, _ = f.Seek(end-earlier, io.SeekStart)
		t.skip = true
	} else {
		_, _ = f.Seek(0, io.SeekStart)
	}
	t.file = f
	return nil
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}

// follow follows the record of the conversation at that path. What it holds by then was said before.
func (d *TUI) follow(path string) {
	if d.record != nil {
		d.record.close()
	}
	past := true
	d.record = newTail(path, func(b []byte) { d.entry(b, past) }, func(n int) { d.notice("wrote a record of %d bytes, which was dropped", n) })
	d.readRecord()
	past = false
}

// readRecord takes in what is new in the record.
func (d *TUI) readRecord() {
	if d.record == nil {
		return
	}
	if err := d.record.read(); err != nil {
		d.notice("keeps a record that cannot be read: %v", err)
		d.record.close()
		d.record = nil
	}
}

// recorded is an entry of the record.
type recorded struct {
	Subtype    string
	Meta       bool `json:"isMeta"`
	Side       bool `json:"isSidechain"`
	APIError   bool `json:"isApiErrorMessage"`
	Message    struct{ Content json.RawMessage }
	Attachment struct {
		Type   string
		Prompt json.RawMessage
	}
}

// entry takes in a line of the record. Most of its bytes are of kinds that are none of ours: they are not parsed.
func (d *TUI) entry(b []byte, past bool) {
	kind := typeOf(b)
	if kind != "user" && kind != "assistant" && kind != "system" && kind != "attachment" {
		return
	}
	var r recorded
	if err := json.Unmarshal(b, &r); err != nil {
		if !d.unknown[kind] {
			d.unknown[kind] = true
			d.notice("wrote a record of type %s that could not be read: %v", kind, err)
		}
		return
	}
	switch {
	case r.Meta:
	case kind == "assistant":
		d.wrote(&r)
	case kind == "user":
		d.heard(&r, past)
	case kind == "attachment" && r.Attachment.Type == "queued_command":
		d.typedByUser(words(r.Attachment.Prompt), past)
	case kind == "system" && r.Subtype == "compact_boundary":
		d.notice("shortened the conversation")
	case kind == "system" && r.Subtype == "turn_duration" && !past:
		d.finish(chat.Turn{Outcome: chat.Done})
	}
}

func (r *recorded) author() string {
	if r.Side {
		return "a subagent of claude"
	}
	return ""
}

// wrote is what the model said and called.
func (d *TUI) wrote(r *recorded) {
	e := entry{Message: struct{ Content json.RawMessage }{r.Message.Content}}
	all, _ := e.blocks()
	for _, part := range all {
		item := chat.Item{Author: r.author()}
		switch part.Type {
		case "text":
			if r.APIError {
				d.failed = stdio.Short(part.Text)
			}
			item.Kind, item.Text = chat.Text, part.Text
		case "tool_use":
			item.Kind, item.ID, item.Tool, item.Input = chat.ToolCall, part.ID, part.Name, part.Input
		default:
			continue
		}
		d.report(chat.Said{Item: item})
	}
}

// interrupted is how an interruption stands in the record.
const interrupted = "[Request interrupted by user"

// heard is what the user said, and the results of tools.
func (d *TUI) heard(r *recorded, past bool) {
	if len(r.Message.Content) > 0 && r.Message.Content[0] == '"' {
		d.typedByUser(words(r.Message.Content), past)
		return
	}
	e := entry{Message: struct{ Content json.RawMessage }{r.Message.Content}}
	all, _ := e.blocks()
	for _, part := range all {
		switch {
		case part.Type == "tool_result":
			d.report(chat.Said{Item: chat.Item{
				Kind: chat.ToolResult, Author: r.author(), ID: part.Result, Text: words(part.Content), Failed: part.IsError,
			}})
			d.resulted(part.Result)
		case part.Type == "text" && strings.HasPrefix(part.Text, interrupted):
			if !past {
				d.withdraw("the turn was interrupted", everyAsk)
				d.finish(chat.Turn{Outcome: chat.Interrupted, Why: "interrupted"})
			}
		case part.Type == "text":
			d.typedByUser(part.Text, past)
		}
	}
}

var (
	pasteMarks  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?pasted_content id="?[^>]*>`) })
	commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<command-name>([^<]*)</command-name>`) })
	commandArgs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<command-args>([^<]*)</command-args>`) })
)

// typedByUser is a prompt in the record. One that was sent from here is in the log already.
func (d *TUI) typedByUser(text string, past bool) {
	text = strings.TrimSpace(pasteMarks().ReplaceAllString(text, ""))
	name := commandName().FindStringSubmatch(text)
	if name != nil {
		text = name[1]
		if args := commandArgs().FindStringSubmatch(text); args != nil {
			text += " " + args[1]
		}
	}
	if text == "" || strings.HasPrefix(text, "<local-command") {
		return
	}
	got := squeeze(text)
	if !past {
		if s := d.sending; s != nil && got == normal(s.prompt.Text) {
			if name == nil {
				d.submitted(text)
			} else {
				d.readCommand()
			}
		}
		for i, ours := range d.said {
			if ours == got {
				d.said = append(d.said[:i], d.said[i+1:]...)
				return
			}
		}
	}
	d.report(chat.Said{Item: chat.Item{Kind: chat.User, Author: "you, at the terminal", Text: text}})
}

// typeOf is the value of "type" in a JSON object, "" for none: found without parsing what stands in it.
func typeOf(b []byte) string {
	depth, key := 0, ""
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 1 {
				key = ""
			}
		case '"':
			start := i + 1
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth != 1 || i >= len(b) {
				continue
			}
			switch word := string(b[start:i]); key {
			case "":
				key = word
			case "type":
				return word
			}
		}
	}
	return ""
}
