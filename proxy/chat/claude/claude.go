// Package claude speaks to Claude Code in two ways. A [Driver] runs it without its user interface, by its stream-json format and its
// control protocol on standard input and output. A [TUI] stays beside its own interface in a terminal: hooks and the record that Claude
// Code keeps say what happens, and prompts are typed. It must not know who answers.
package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/form"
	"terminalproxy/proxy/chat/recent"
	"terminalproxy/proxy/chat/stdio"
)

// Config is how to start Claude Code.
type Config struct {
	Program string // "" is claude
	Dir     string // "" is the current one
	// ID is that of the conversation, a UUID, and Resume whether there is one already.
	ID     string
	Resume bool
	Args   []string // more of the user's
}

// Driver drives Claude Code.
type Driver struct {
	config Config
	report func(chat.Event)
	// program is set once, before anything is sent.
	program *stdio.Program

	mu   sync.Mutex
	asks map[string]ask       // what is open, by the request's id
	sent []string             // prompts that it may not know, oldest first
	n    int                  // control requests so far
	sets map[string][2]string // names and values that are on their way, by the control request's id

	stream // belongs to the goroutine that reads
}

// unknownMost bounds what is remembered of messages that are not known, in bytes.
const unknownMost = 64 << 10

// New makes a driver for a conversation. Nothing runs before Start.
func New(c Config) *Driver {
	if c.Program == "" {
		c.Program = "claude"
	}
	return &Driver{config: c, asks: map[string]ask{}, sets: map[string][2]string{}, stream: stream{unknown: recent.New[bool](unknownMost)}}
}

// asking are flags with which the user decides what Claude Code asks for.
var asking = []string{"--permission-mode", "--dangerously-skip-permissions"}

func (d *Driver) args() []string {
	args := []string{
		"--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
		"--permission-prompt-tool", "stdio",
	}
	if d.config.Resume {
		args = append(args, "--resume", d.config.ID)
	} else {
		args = append(args, "--session-id", d.config.ID)
	}
	if !has(d.config.Args, asking...) {
		args = append(args, "--permission-mode", "default") // not the one in which a model allows
	}
	return append(args, d.config.Args...)
}

// Start is that of [chat.Driver].
func (d *Driver) Start(report func(chat.Event)) error {
	d.report = report
	if _, err := stdio.Start(stdio.Config{
		Program: d.config.Program, Args: d.args(), Env: stdio.Environment(), Dir: d.config.Dir,
		Began: func(p *stdio.Program) { d.program = p }, Line: d.line, Ended: d.gone,
		TooLong: func(n int) { d.notice("a line of %d bytes was dropped", n) },
	}); err != nil {
		return err
	}
	// Its answer says that prompts are read. Without one it is gone: that is reported, and how it ended.
	_ = d.control(map[string]any{"subtype": "initialize"})
	return nil
}

// control asks Claude Code for something.
func (d *Driver) control(request map[string]any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.controlLocked(request)
}

func (d *Driver) controlLocked(request map[string]any) error {
	d.n++
	id := fmt.Sprintf("ours-%d", d.n)
	return d.program.Send(map[string]any{"type": "control_request", "request_id": id, "request": request})
}

// Send is that of [chat.Driver].
func (d *Driver) Send(p chat.Prompt) error {
	d.mu.Lock()
	d.sent = append(d.sent, p.ID)
	d.mu.Unlock()
	return d.program.Send(map[string]any{
		"type": "user", "message": map[string]any{"role": "user", "content": content(p)}, "parent_tool_use_id": nil, "session_id": "", "uuid": p.ID,
	})
}

// content is a prompt in Claude Code's words.
func content(p chat.Prompt) any {
	if len(p.Images) == 0 {
		return p.Text
	}
	blocks := []any{map[string]any{"type": "text", "text": p.Text}}
	for _, i := range p.Images {
		source := map[string]any{"type": "base64", "media_type": i.Type, "data": i.Data} // bytes are base64 in JSON
		blocks = append(blocks, map[string]any{"type": "image", "source": source})
	}
	return blocks
}

// ImageRefusal is that of [chat.ImageDriver].
func (d *Driver) ImageRefusal() error { return nil }

// Interrupt is that of [chat.Driver].
func (d *Driver) Interrupt() error {
	return d.control(map[string]any{"subtype": "interrupt", "cancel_queued": true})
}

// Close is that of [chat.Driver].
func (d *Driver) Close() error {
	if d.program != nil {
		d.program.Close()
	}
	return nil
}

// ask is an approval, a question or a server's form that is open.
type ask struct {
	form  *form.Form        // of a server
	input json.RawMessage   // as it was asked
	texts map[string]string // of a form's questions, by id
	allow json.RawMessage   // the rules of an approval for the session
}

// Answer is that of [chat.Driver].
func (d *Driver) Answer(id string, a chat.Answer) error {
	d.mu.Lock()
	open, ok := d.asks[id]
	delete(d.asks, id)
	d.mu.Unlock()
	if !ok {
		return chat.ErrNoRequest
	}
	return d.respond(id, open.response(a))
}

func (d *Driver) respond(id string, response any) error {
	return d.program.Send(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": id, "response": response,
	}})
}

// response is an answer in Claude Code's words. What is not allowed explicitly is denied.
func (o ask) response(a chat.Answer) map[string]any {
	if o.form != nil {
		return o.form.Reply(a)
	}
	allow := map[string]any{"behavior": "allow", "updatedInput": o.input}
	switch {
	case o.texts == nil && a.Verdict == chat.Once:
		return allow
	case o.texts == nil && a.Verdict == chat.ForSession && o.allow != nil:
		allow["updatedPermissions"] = o.allow
		return allow
	case o.texts != nil && a.Replies != nil:
		if with, err := o.answered(a.Replies); err == nil {
			allow["updatedInput"] = with
			return allow
		}
	}
	words := a.Words
	if words == "" {
		words = "The user refused."
	}
	return map[string]any{"behavior": "deny", "message": words}
}

// answered is the form's input with the answers in it.
func (o ask) answered(replies map[string][]string) (map[string]json.RawMessage, error) {
	var with map[string]json.RawMessage
	if err := json.Unmarshal(o.input, &with); err != nil {
		return nil, err
	}
	answers := map[string]string{}
	for id, text := range o.texts {
		answers[text] = strings.Join(replies[id], ", ")
	}
	var err error
	with["answers"], err = json.Marshal(answers)
	return with, err
}
