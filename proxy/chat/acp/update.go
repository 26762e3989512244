package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/recent"
	"terminalproxy/proxy/chat/stdio"
)

// stream is what has to be known of the updates so far.
type stream struct {
	texts    int                   // texts so far
	text     strings.Builder       // the unfinished one
	requests int                   // approvals so far
	steered  []string              // texts that the turn that runs took in
	taken    string                // the last prompt that was said to have arrived
	told     *recent.Map[toolCall] // of tools, as they were told last, by their ids
	unknown  *recent.Map[bool]     // updates that were noticed
}

// Bounds of the kept calls and updates, in bytes.
const (
	callsMost   = 32 << 20
	unknownMost = 64 << 10
	// textMost bounds an unfinished text: a longer one is reported in parts.
	textMost = 256 << 10
)

func newStream() stream {
	return stream{told: recent.New[toolCall](callsMost), unknown: recent.New[bool](unknownMost)}
}

// toolCall is what a tool shall do, or did.
type toolCall struct {
	ID       string `json:"toolCallId"`
	Title    string
	Kind     string
	Status   string
	RawInput json.RawMessage
	Content  []content
}

// content is a part of what a tool does, or did.
type content struct {
	Type             string
	Content          struct{ Type, Text string }
	Path             string // of a diff
	OldText, NewText string
}

func (c content) String() string {
	switch {
	case c.Type == "diff":
		return "in " + c.Path + "\n" + prefixLines("- ", c.OldText) + prefixLines("+ ", c.NewText)
	case c.Type == "content" && c.Content.Type == "text":
		return c.Content.Text
	}
	return "[" + c.Type + "]"
}

func prefixLines(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark) + "\n"
}

// toolName returns the tool's kind: agents do not tell its name.
func (c *toolCall) toolName() string {
	if c.Kind != "" {
		return c.Kind
	}
	return "a tool"
}

// mergeBefore returns the call, with the earlier values of the fields that it leaves out.
func (c *toolCall) mergeBefore(before toolCall) toolCall {
	whole := *c
	whole.Title, whole.Kind = cmp.Or(c.Title, before.Title), cmp.Or(c.Kind, before.Kind)
	if objectFields(c.RawInput) == nil {
		whole.RawInput = before.RawInput
		if len(c.Content) == 0 {
			whole.Content = before.Content
		}
	}
	return whole
}

// approxSize estimates the memory of a call, in bytes.
func (c *toolCall) approxSize() int {
	n := len(c.Title) + len(c.RawInput)
	for _, part := range c.Content {
		n += len(part.Content.Text) + len(part.OldText) + len(part.NewText)
	}
	return n
}

func (c *toolCall) contentText() string {
	var all []string
	for _, part := range c.Content {
		all = append(all, part.String())
	}
	return strings.Join(all, "\n")
}

// objectFields returns the fields of a JSON object; nil for other JSON.
func objectFields(input json.RawMessage) map[string]any {
	var all map[string]any
	_ = json.Unmarshal(input, &all) // nil for other JSON
	return all
}

// describeCall returns everything that the agent tells of a call, as an object. Agents put the
// command into the input or into the title, and changes of files into the content.
func (d *Driver) describeCall(c *toolCall) (shown json.RawMessage, nothing bool) {
	all := objectFields(c.RawInput)
	if all = maps.Clone(all); all == nil {
		all = map[string]any{}
	}
	for name, value := range map[string]string{"title": c.Title, "content": c.contentText()} {
		if _, taken := all[name]; taken {
			name = "agent's " + name
		}
		if value != "" {
			all[name] = value
		}
	}
	shown, err := json.Marshal(all)
	return shown, err != nil || len(all) == 0
}

// quiet are updates of no interest here.
var quiet = []string{
	"user_message_chunk", "agent_thought_chunk", "plan",
	"available_commands_update", "session_info_update", "usage_update",
}

func (d *Driver) handleUpdate(params json.RawMessage) error {
	var m struct {
		SessionID string
		Update    json.RawMessage
	}
	if err := json.Unmarshal(params, &m); err != nil {
		return err
	}
	d.mu.Lock()
	session := d.session
	d.mu.Unlock()
	if session == "" || m.SessionID != session {
		return nil // the replay of a loaded conversation
	}
	var kind struct{ SessionUpdate string }
	if err := json.Unmarshal(m.Update, &kind); err != nil {
		return err
	}
	d.confirmPrompt()
	switch kind.SessionUpdate {
	case "agent_message_chunk":
		return d.appendText(m.Update)
	case "tool_call", "tool_call_update":
		return d.handleToolCall(m.Update)
	case "current_mode_update", "config_option_update":
		var now struct {
			CurrentModeID string
			settingsState
		}
		if err := json.Unmarshal(m.Update, &now); err != nil {
			return err
		}
		d.updateSettings(&now.settingsState, now.CurrentModeID)
		return nil
	}
	if name := stdio.ShortenText(kind.SessionUpdate); !slices.Contains(quiet, name) && !d.unknown.Has(name) {
		d.unknown.Put(name, true, 0)
		d.reportNotice("sent something unknown: %s", name)
	}
	return nil
}

// appendText appends a part to the model's text.
func (d *Driver) appendText(b []byte) error {
	var m struct{ Content struct{ Type, Text string } }
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if m.Content.Type != "text" {
		m.Content.Text = "[" + m.Content.Type + "]"
	}
	if d.config.Notices && isNotice(m.Content.Text) {
		d.flush()
		d.reportNotice("says: %s", m.Content.Text)
		return nil
	}
	if d.text.Len() == 0 {
		d.texts++
	}
	d.text.WriteString(m.Content.Text)
	d.report(chat.TextAppended{Piece: chat.Piece{ID: d.textID(), Text: m.Content.Text}})
	if d.text.Len() >= textMost {
		d.flush()
	}
	return nil
}

// isNotice reports whether a part of a text is the agent's own.
func isNotice(text string) bool {
	return strings.HasPrefix(text, "Info: ") || strings.HasPrefix(text, "Warning: ")
}

func (d *Driver) textID() string { return fmt.Sprintf("text-%d", d.texts) }

// flush ends the unfinished text: the protocol does not mark its end.
func (d *Driver) flush() {
	if d.text.Len() == 0 {
		return
	}
	item := chat.Item{Kind: chat.Text, ID: d.textID(), Text: d.text.String()}
	d.report(chat.ItemAdded{Item: item})
	d.text.Reset()
}

// handleToolCall reports a tool's call, and its result once it ended.
func (d *Driver) handleToolCall(b []byte) error {
	var c toolCall
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	d.flush()
	ended := c.Status == "completed" || c.Status == "failed"
	before, known := d.told.Get(c.ID)
	whole := c.mergeBefore(before)
	d.told.Put(c.ID, whole, whole.approxSize())
	if (!known || objectFields(before.RawInput) == nil) && (objectFields(whole.RawInput) != nil || ended) {
		whole.Content = nil
		shown, _ := d.describeCall(&whole)
		call := chat.Item{Kind: chat.ToolCall, ID: c.ID, Tool: whole.toolName(), Input: shown}
		d.report(chat.ItemAdded{Item: call})
	}
	if ended {
		d.told.Put(c.ID, toolCall{RawInput: json.RawMessage("{}")}, 0) // its content is not needed again
		d.report(chat.ItemAdded{Item: chat.Item{
			Kind: chat.ToolResult, ID: c.ID, Text: c.contentText(), Failed: c.Status == "failed",
		}})
	}
	return nil
}
