package claude

import (
	"encoding/json"
	"fmt"
	"strings"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/recent"
	"terminalproxy/proxy/chat/stdio"
)

// stream is what has to be known of the lines so far.
type stream struct {
	ready   bool
	tracks  bool   // it says which prompt it takes
	texts   int    // blocks of text so far
	writing string // id of the unfinished block of text, may be ""
	// signedOut: in this turn the vendor did not know who the user is.
	signedOut bool
	unknown   *recent.Map[bool] // types that were noticed
	settings  []chat.Setting
}

// handleLine handles a message of Claude Code.
func (d *Driver) handleLine(b []byte) {
	var head struct{ Type, Subtype string }
	if json.Unmarshal(b, &head) != nil || head.Type == "" {
		d.reportNotice("sent something other than a message: %s", stdio.ShortenText(string(b)))
		return
	}
	read, ok := readers[head.Type]
	if !ok {
		if kind := stdio.ShortenText(head.Type); !d.unknown.Has(kind) {
			d.unknown.Put(kind, true, 0)
			d.reportNotice("sent something unknown: %s", kind)
		}
		return
	}
	if read == nil {
		return
	}
	if err := read(d, head.Subtype, b); err != nil {
		d.reportNotice("sent a message of type %s that could not be read: %v", stdio.ShortenText(head.Type), err)
	}
}

// readers handle messages by their type; nil ignores a type.
var readers = map[string]func(d *Driver, subtype string, b []byte) error{
	"system":                 (*Driver).handleSystem,
	"stream_event":           (*Driver).handleStreamed,
	"assistant":              (*Driver).handleAssistant,
	"user":                   (*Driver).handleUser,
	"result":                 (*Driver).handleResult,
	"command_lifecycle":      (*Driver).handleLifecycle,
	"control_request":        (*Driver).handleControlRequest,
	"control_cancel_request": (*Driver).handleCancel,
	"control_response":       (*Driver).handleControlResponse,
	"keep_alive":             nil,
	"rate_limit_event":       nil,
	"tool_progress":          nil,
	"tool_use_summary":       nil,
	"auth_status":            nil,
	"prompt_suggestion":      nil,
}

func (d *Driver) reportNotice(format string, args ...any) {
	text := "claude " + fmt.Sprintf(format, args...)
	d.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Notice, Text: text}})
}

func (d *Driver) handleSystem(subtype string, b []byte) error {
	var m struct {
		PermissionMode string
		Content        string
		Attempt        int
		MaxRetries     int  `json:"max_retries"`
		ErrorStatus    *int `json:"error_status"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	switch subtype {
	case "init": // begins each turn
		d.report(chat.TurnStarted{})
		d.setValue(chat.Mode, m.PermissionMode)
	case "status":
		d.setValue(chat.Mode, m.PermissionMode)
	case "api_retry":
		status := "no answer"
		if m.ErrorStatus != nil {
			status = fmt.Sprintf("status %d", *m.ErrorStatus)
		}
		d.reportNotice("asks its model again: %s, attempt %d of %d", status, m.Attempt, m.MaxRetries)
	case "compact_boundary":
		d.reportNotice("shortened the conversation")
	case "informational":
		if m.Content != "" {
			d.reportNotice("says: %s", stdio.ShortenText(m.Content))
		}
	}
	return nil
}

// handleStreamed passes on a piece of the main agent's text. Text of subagents comes only when
// whole.
func (d *Driver) handleStreamed(_ string, b []byte) error {
	var m struct {
		Parent *string `json:"parent_tool_use_id"`
		Event  struct {
			Type  string
			Block struct{ Type string } `json:"content_block"`
			Delta struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal(b, &m); err != nil || m.Parent != nil {
		return err
	}
	switch {
	case m.Event.Type == "content_block_start" && m.Event.Block.Type == "text":
		d.texts++
		d.writing = fmt.Sprintf("text-%d", d.texts)
	case m.Event.Type == "content_block_delta" && m.Event.Delta.Type == "text_delta" && d.writing != "":
		d.report(chat.TextAppended{Piece: chat.Piece{ID: d.writing, Text: m.Event.Delta.Text}})
	case m.Event.Type == "content_block_stop":
		d.writing = ""
	}
	return nil
}

// entry is a message of the conversation.
type entry struct {
	Parent  *string `json:"parent_tool_use_id"`
	Message struct{ Content json.RawMessage }
	Error   json.RawMessage // a word, if the model was not reached
}

// block is a part of an entry.
type block struct {
	Type, Text, ID, Name string
	Input, Content       json.RawMessage
	Result               string `json:"tool_use_id"`
	IsError              bool   `json:"is_error"`
}

// contentBlocks returns the parts of an entry; nil for plain text.
func (e *entry) contentBlocks() (all []block, err error) {
	if len(e.Message.Content) == 0 || e.Message.Content[0] == '"' {
		return nil, nil
	}
	err = json.Unmarshal(e.Message.Content, &all)
	return all, err
}

// itemAuthor returns "" for the agent itself.
func (e *entry) itemAuthor() string {
	if e.Parent != nil {
		return "a subagent of claude"
	}
	return ""
}

func (d *Driver) handleAssistant(_ string, b []byte) error {
	var e entry
	if err := json.Unmarshal(b, &e); err != nil {
		return err
	}
	if string(e.Error) == `"authentication_failed"` {
		d.signedOut = true
	}
	all, err := e.contentBlocks()
	for _, part := range all {
		switch item := (chat.Item{Author: e.itemAuthor()}); part.Type {
		case "text":
			item.Kind, item.Text = chat.Text, part.Text
			if e.Parent == nil {
				item.ID, d.writing = d.writing, ""
			}
			d.report(chat.ItemAdded{Item: item})
		case "tool_use":
			if part.Name == askTool {
				continue // it comes as a request
			}
			item.Kind, item.ID, item.Tool, item.Input = chat.ToolCall, part.ID, part.Name, part.Input
			d.report(chat.ItemAdded{Item: item})
		}
	}
	return err
}

// handleUser reports the results of tools, which come in the user's name. The user's own words are
// already in the conversation.
func (d *Driver) handleUser(_ string, b []byte) error {
	var e entry
	if err := json.Unmarshal(b, &e); err != nil {
		return err
	}
	all, err := e.contentBlocks()
	for _, part := range all {
		if part.Type == "tool_result" {
			d.report(chat.ItemAdded{Item: chat.Item{
				Kind: chat.ToolResult, Author: e.itemAuthor(), ID: part.Result,
				Text: resultText(part.Content), Failed: part.IsError,
			}})
		}
	}
	return err
}

// resultText returns the text of a result.
func resultText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var all []block
	_ = json.Unmarshal(content, &all) // other results have no words
	var said []string
	for _, b := range all {
		if b.Type == "text" {
			said = append(said, b.Text)
		} else {
			said = append(said, "["+b.Type+"]")
		}
	}
	return strings.Join(said, "\n")
}

func (d *Driver) handleResult(_ string, b []byte) error {
	var m struct {
		IsError        bool   `json:"is_error"`
		TerminalReason string `json:"terminal_reason"`
		Result         string
		Errors         []string
		Subtype        string
	}
	if err := json.Unmarshal(b, &m); err != nil {
		d.reportTurnEnd(chat.Turn{Outcome: chat.Broken, Why: "its end could not be read"})
		return err
	}
	turn := chat.Turn{Outcome: chat.Done}
	switch {
	case strings.HasPrefix(m.TerminalReason, "aborted"):
		turn.Outcome, turn.Why = chat.Interrupted, "interrupted"
	case m.IsError:
		turn.Outcome, turn.Why = chat.Broken, strings.Join(append(m.Errors, m.Result), " ")
		if turn.Why = strings.TrimSpace(turn.Why); turn.Why == "" {
			turn.Why = m.Subtype
		}
		if d.signedOut {
			turn.Why = "claude is not signed in: run claude in a terminal and type /login"
		}
	}
	d.signedOut = false
	d.reportTurnEnd(turn)
	return nil
}

func (d *Driver) reportTurnEnd(t chat.Turn) {
	d.writing = ""
	if !d.tracks { // an old version: it took what it was sent
		d.mu.Lock()
		taken := d.sent
		d.sent = nil
		d.mu.Unlock()
		for _, id := range taken {
			d.report(chat.PromptAccepted{Prompt: id})
		}
	}
	d.report(chat.Finished{Turn: t})
}

// handleLifecycle reports whether a prompt was read or dropped.
func (d *Driver) handleLifecycle(_ string, b []byte) error {
	var m struct {
		Command string `json:"command_uuid"`
		State   string
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	d.tracks = true
	switch m.State {
	case "started", "completed":
		d.report(chat.PromptAccepted{Prompt: m.Command})
	case "cancelled":
		d.report(chat.PromptDropped{Prompt: m.Command})
	}
	return nil
}

func (d *Driver) handleExit(why string) {
	if why != "" {
		why = "claude " + why
	}
	d.report(chat.AgentExited{Why: why})
}
