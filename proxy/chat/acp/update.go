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
	texts   int                   // texts so far
	text    strings.Builder       // the one that is being written
	n2      int                   // approvals so far
	steered []string              // texts that the turn that runs took in
	taken   string                // the last prompt that was said to have arrived
	told    *recent.Map[toolCall] // of tools, as they were told last, by their ids
	unknown *recent.Map[bool]     // updates that were noticed
}

// Bounds of what is kept of an agent's, in bytes.
const (
	callsMost   = 32 << 20
	unknownMost = 64 << 10
	// textMost bounds a text that is being written: one that goes on is told in parts.
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
		return "in " + c.Path + "\n" + marked("- ", c.OldText) + marked("+ ", c.NewText)
	case c.Type == "content" && c.Content.Type == "text":
		return c.Content.Text
	}
	return "[" + c.Type + "]"
}

func marked(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark) + "\n"
}

// name is what to call the tool: agents tell its kind, and not its name.
func (c *toolCall) name() string {
	if c.Kind != "" {
		return c.Kind
	}
	return "a tool"
}

// behind is a call with what was said of it before, where it says nothing itself.
func (c *toolCall) behind(before toolCall) toolCall {
	whole := *c
	whole.Title, whole.Kind = cmp.Or(c.Title, before.Title), cmp.Or(c.Kind, before.Kind)
	if fields(c.RawInput) == nil {
		whole.RawInput = before.RawInput
		if len(c.Content) == 0 {
			whole.Content = before.Content
		}
	}
	return whole
}

// size is about how much memory it takes, in bytes.
func (c *toolCall) size() int {
	n := len(c.Title) + len(c.RawInput)
	for _, part := range c.Content {
		n += len(part.Content.Text) + len(part.OldText) + len(part.NewText)
	}
	return n
}

func (c *toolCall) words() string {
	var all []string
	for _, part := range c.Content {
		all = append(all, part.String())
	}
	return strings.Join(all, "\n")
}

// fields are an object's; nil for what is none.
func fields(input json.RawMessage) map[string]any {
	var all map[string]any
	_ = json.Unmarshal(input, &all) // it is none
	return all
}

// shows is all that the agent says of what it wants to do, as an object. Agents put the command into the input, or into the title, and changes
// of files into the content.
func (d *Driver) shows(c *toolCall) (shown json.RawMessage, nothing bool) {
	all := fields(c.RawInput)
	if all = maps.Clone(all); all == nil {
		all = map[string]any{}
	}
	for name, value := range map[string]string{"title": c.Title, "content": c.words()} {
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
	"user_message_chunk", "agent_thought_chunk", "plan", "available_commands_update", "session_info_update", "usage_update",
}

func (d *Driver) update(params json.RawMessage) error {
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
		return nil // a conversation that is loaded is told again
	}
	var kind struct{ SessionUpdate string }
	if err := json.Unmarshal(m.Update, &kind); err != nil {
		return err
	}
	d.took()
	switch kind.SessionUpdate {
	case "agent_message_chunk":
		return d.wrote(m.Update)
	case "tool_call", "tool_call_update":
		return d.tool(m.Update)
	case "current_mode_update", "config_option_update":
		var now struct {
			CurrentModeID string
			standing
		}
		if err := json.Unmarshal(m.Update, &now); err != nil {
			return err
		}
		d.changed(&now.standing, now.CurrentModeID)
		return nil
	}
	if name := stdio.Short(kind.SessionUpdate); !slices.Contains(quiet, name) && !d.unknown.Has(name) {
		d.unknown.Put(name, true, 0)
		d.notice("sent something unknown: %s", name)
	}
	return nil
}

// wrote is a part of what the model says.
func (d *Driver) wrote(b []byte) error {
	var m struct{ Content struct{ Type, Text string } }
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if m.Content.Type != "text" {
		m.Content.Text = "[" + m.Content.Type + "]"
	}
	if d.config.Notices && isNotice(m.Content.Text) {
		d.flush()
		d.notice("says: %s", m.Content.Text)
		return nil
	}
	if d.text.Len() == 0 {
		d.texts++
	}
	d.text.WriteString(m.Content.Text)
	d.report(chat.Wrote{Piece: chat.Piece{ID: d.textID(), Text: m.Content.Text}})
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

// flush ends the text that is being written: the protocol does not say where it ends.
func (d *Driver) flush() {
	if d.text.Len() == 0 {
		return
	}
	d.report(chat.Said{Item: chat.Item{Kind: chat.Text, ID: d.textID(), Text: d.text.String()}})
	d.text.Reset()
}

// tool is a call of a tool, or news of it.
func (d *Driver) tool(b []byte) error {
	var c toolCall
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	d.flush()
	ended := c.Status == "completed" || c.Status == "failed"
	before, known := d.told.Get(c.ID)
	whole := c.behind(before)
	d.told.Put(c.ID, whole, whole.size())
	if (!known || fields(before.RawInput) == nil) && (fields(whole.RawInput) != nil || ended) {
		whole.Content = nil
		shown, _ := d.shows(&whole)
		d.report(chat.Said{Item: chat.Item{Kind: chat.ToolCall, ID: c.ID, Tool: whole.name(), Input: shown}})
	}
	if ended {
		d.told.Put(c.ID, toolCall{RawInput: json.RawMessage("{}")}, 0) // nobody asks for it any more
		d.report(chat.Said{Item: chat.Item{Kind: chat.ToolResult, ID: c.ID, Text: c.words(), Failed: c.Status == "failed"}})
	}
	return nil
}
