// Package claude speaks to Claude Code in two ways. A [Driver] runs it without its user interface,
// by its stream-json format and its control protocol on standard input and output. A [TUI] stays
// beside its own interface in a terminal: hooks and the record that Claude Code keeps say what
// happens, and prompts are typed. The package does not know who answers.
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
	// ID is the conversation's UUID. Resume says that the conversation exists.
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

	mu           sync.Mutex
	asks         map[string]ask       // open requests, by id
	sent         []string             // prompts that it may not know, oldest first
	controlsSent int                  // control requests so far
	sets         map[string][2]string // names and values that are on their way, by the control request's id

	stream // belongs to the goroutine that reads
}

// unknownMost bounds the memory of unknown message types, in bytes.
const unknownMost = 64 << 10

// New makes a driver for a conversation. Nothing runs before Start.
func New(c Config) *Driver {
	if c.Program == "" {
		c.Program = "claude"
	}
	return &Driver{
		config: c,
		asks:   map[string]ask{},
		sets:   map[string][2]string{},
		stream: stream{unknown: recent.New[bool](unknownMost)},
	}
}

// permissionFlags are the flags that decide for which actions Claude Code asks.
var permissionFlags = []string{"--permission-mode", "--dangerously-skip-permissions"}

func (d *Driver) launchArgs() []string {
	args := []string{
		"--input-format", "stream-json", "--output-format", "stream-json",
		"--verbose", "--include-partial-messages",
		"--permission-prompt-tool", "stdio",
	}
	if d.config.Resume {
		args = append(args, "--resume", d.config.ID)
	} else {
		args = append(args, "--session-id", d.config.ID)
	}
	if !hasFlag(d.config.Args, permissionFlags...) {
		args = append(args, "--permission-mode", "default") // not the one in which a model allows
	}
	return append(args, d.config.Args...)
}

// Start is that of [chat.Driver].
func (d *Driver) Start(report func(chat.Event)) error {
	d.report = report
	if _, err := stdio.Start(stdio.Config{
		Program: d.config.Program, Args: d.launchArgs(), Env: stdio.Environment(), Dir: d.config.Dir,
		Began: func(p *stdio.Program) { d.program = p }, Line: d.handleLine, Ended: d.handleExit,
		TooLong: func(n int) { d.reportNotice("a line of %d bytes was dropped", n) },
	}); err != nil {
		return err
	}
	// The answer says that prompts are read. If Claude Code ends without an answer, its end is
	// reported.
	_ = d.sendControl(map[string]any{"subtype": "initialize"})
	return nil
}

// sendControl sends a control request.
func (d *Driver) sendControl(request map[string]any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sendControlLocked(request)
}

func (d *Driver) sendControlLocked(request map[string]any) error {
	d.controlsSent++
	id := fmt.Sprintf("ours-%d", d.controlsSent)
	return d.program.Send(map[string]any{
		"type": "control_request", "request_id": id, "request": request,
	})
}

// Send is that of [chat.Driver].
func (d *Driver) Send(p chat.Prompt) error {
	d.mu.Lock()
	d.sent = append(d.sent, p.ID)
	d.mu.Unlock()
	return d.program.Send(map[string]any{
		"type":               "user",
		"message":            map[string]any{"role": "user", "content": promptContent(p)},
		"parent_tool_use_id": nil, "session_id": "", "uuid": p.ID,
	})
}

// promptContent converts a prompt for Claude Code.
func promptContent(p chat.Prompt) any {
	if len(p.Images) == 0 {
		return p.Text
	}
	blocks := []any{map[string]any{"type": "text", "text": p.Text}}
	for _, i := range p.Images {
		// bytes are base64 in JSON
		source := map[string]any{"type": "base64", "media_type": i.Type, "data": i.Data}
		blocks = append(blocks, map[string]any{"type": "image", "source": source})
	}
	return blocks
}

// ImageRefusal is that of [chat.ImageDriver].
func (d *Driver) ImageRefusal() error { return nil }

// Interrupt is that of [chat.Driver].
func (d *Driver) Interrupt(chat.MayAct) error {
	return d.sendControl(map[string]any{"subtype": "interrupt", "cancel_queued": true})
}

// Close is that of [chat.Driver].
func (d *Driver) Close() error {
	if d.program != nil {
		d.program.Close()
	}
	return nil
}

// ask is an open approval, question or form of a server.
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
	return d.sendReply(id, open.replyFor(a))
}

func (d *Driver) sendReply(id string, response any) error {
	return d.program.Send(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": id, "response": response,
	}})
}

// replyFor converts an answer for Claude Code. It denies everything that is not allowed explicitly.
func (o ask) replyFor(a chat.Answer) map[string]any {
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
		if with, err := o.inputWithAnswers(a.Replies); err == nil {
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

// inputWithAnswers returns the form's input with the answers added.
func (o ask) inputWithAnswers(replies map[string][]string) (map[string]json.RawMessage, error) {
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
