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

// earlier is how much of a resumed conversation's past is read, in bytes.
const earlier = 256 << 10

// recordReader follows the file of a conversation, which need not be there yet.
type recordReader struct {
	path  string
	line  func([]byte)
	file  *os.File
	lines *stdio.Lines
	skip  bool // the first line is the rest of one
	buf   []byte
}

func newRecordReader(path string, line func([]byte), tooLong func(int)) *recordReader {
	t := &recordReader{path: path, line: line}
	t.lines = &stdio.Lines{TooLong: tooLong, Line: func(b []byte) {
		if t.skip {
			t.skip = false
			return
		}
		t.line(b)
	}}
	return t
}

// read reads new lines. When it first finds the file, it starts near the end of the file.
func (t *recordReader) read() error {
	if t.file == nil {
		if err := t.openFile(); t.file == nil {
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

func (t *recordReader) openFile() error {
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

func (t *recordReader) close() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}

// followRecord follows the record of the conversation at that path. Entries that it holds by now
// belong to the past.
func (d *TUI) followRecord(path string) {
	if d.record != nil {
		d.record.close()
	}
	past := true
	d.record = newRecordReader(path, func(b []byte) { d.handleEntry(b, past) }, func(n int) {
		d.reportNotice("wrote a record of %d bytes, which was dropped", n)
	})
	d.readRecord()
	past = false
}

// readRecord handles new lines of the record.
func (d *TUI) readRecord() {
	if d.record == nil {
		return
	}
	if err := d.record.read(); err != nil {
		d.reportNotice("keeps a record that cannot be read: %v", err)
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

// handleEntry handles a line of the record. It parses only the kinds that it handles: most of the
// bytes are of others.
func (d *TUI) handleEntry(b []byte, past bool) {
	kind := typeOf(b)
	if kind != "user" && kind != "assistant" && kind != "system" && kind != "attachment" {
		return
	}
	var r recorded
	if err := json.Unmarshal(b, &r); err != nil {
		if !d.unknown[kind] {
			d.unknown[kind] = true
			d.reportNotice("wrote a record of type %s that could not be read: %v", kind, err)
		}
		return
	}
	switch {
	case r.Meta:
	case kind == "assistant":
		d.addModelEntry(&r)
	case kind == "user":
		d.addUserEntry(&r, past)
	case kind == "attachment" && r.Attachment.Type == "queued_command":
		d.addTypedPrompt(resultText(r.Attachment.Prompt), past)
	case kind == "system" && r.Subtype == "compact_boundary":
		d.reportNotice("shortened the conversation")
	case kind == "system" && r.Subtype == "turn_duration" && !past:
		d.endTurn(chat.Turn{Outcome: chat.Done})
	}
}

func (r *recorded) itemAuthor() string {
	if r.Side {
		return "a subagent of claude"
	}
	return ""
}

// addModelEntry reports the model's texts and calls.
func (t *turns) addModelEntry(r *recorded) {
	e := entry{Message: struct{ Content json.RawMessage }{r.Message.Content}}
	all, _ := e.contentBlocks()
	for _, part := range all {
		item := chat.Item{Author: r.itemAuthor()}
		switch part.Type {
		case "text":
			if r.APIError {
				t.failed = stdio.ShortenText(part.Text)
			}
			item.Kind, item.Text = chat.Text, part.Text
		case "tool_use":
			item.Kind, item.ID, item.Tool, item.Input = chat.ToolCall, part.ID, part.Name, part.Input
		default:
			continue
		}
		t.report(chat.ItemAdded{Item: item})
	}
}

// interrupted begins the record's text of an interruption.
const interrupted = "[Request interrupted by user"

// addUserEntry reports the user's words and the results of tools.
func (d *TUI) addUserEntry(r *recorded, past bool) {
	if len(r.Message.Content) > 0 && r.Message.Content[0] == '"' {
		d.addTypedPrompt(resultText(r.Message.Content), past)
		return
	}
	e := entry{Message: struct{ Content json.RawMessage }{r.Message.Content}}
	all, _ := e.contentBlocks()
	for _, part := range all {
		switch {
		case part.Type == "tool_result":
			d.report(chat.ItemAdded{Item: chat.Item{
				Kind: chat.ToolResult, Author: r.itemAuthor(), ID: part.Result,
				Text: resultText(part.Content), Failed: part.IsError,
			}})
			d.closeByResult(part.Result)
		case part.Type == "text" && strings.HasPrefix(part.Text, interrupted):
			if !past {
				d.withdrawAsks("the turn was interrupted", everyAsk)
				d.endTurn(chat.Turn{Outcome: chat.Interrupted, Why: "interrupted"})
			}
		case part.Type == "text":
			d.addTypedPrompt(part.Text, past)
		}
	}
}

var (
	pasteMarks  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?pasted_content id="?[^>]*>`) })
	commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<command-name>([^<]*)</command-name>`) })
	commandArgs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<command-args>([^<]*)</command-args>`) })
)

// addTypedPrompt reports a prompt in the record, unless it was sent from here and is in the log.
func (t *turns) addTypedPrompt(text string, past bool) {
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
	got := withoutBlanks(text)
	if !past {
		if s := t.sending; s != nil && got == comparableText(s.prompt.Text) {
			if name == nil {
				t.confirmPrompt(text)
			} else {
				t.readCommand()
			}
		}
		for i, ours := range t.said {
			if ours == got {
				t.said = append(t.said[:i], t.said[i+1:]...)
				return
			}
		}
	}
	item := chat.Item{Kind: chat.User, Author: "you, at the terminal", Text: text}
	t.report(chat.ItemAdded{Item: item})
}

// typeOf finds the value of "type" in a JSON object without parsing its other values. It returns ""
// if the field is missing.
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
