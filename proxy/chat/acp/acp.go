// Package acp speaks to coding agents by the Agent Client Protocol, version 1: JSON-RPC over the agent's standard input and output.
// It offers them neither files nor terminals of ours: what they do, they do by their own tools, and ask. It must not know who answers.
package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/stdio"
)

// Config is how to start an agent.
type Config struct {
	Name    string // for people
	Program string
	Args    []string
	Env     []string // added to ours
	Dir     string   // the agent's working directory, absolute
	Resume  string   // id of a conversation, "" for a new one
	SignIn  string   // what to do if the agent wants to know who the user is
}

// Driver drives an agent. One prompt runs at a time: of two, agents take the second as the end of the first.
type Driver struct {
	config Config
	report func(chat.Event)
	// program is set once, before anything is sent.
	program *stdio.Program

	mu          sync.Mutex
	calls       map[int]func(reply) // what to do with the answers to ours, by id
	n           int                 // ids so far
	asks        map[string]ask      // open requests, by the id that the core knows
	session     string              // "" until there is one
	running     chat.Prompt         // the prompt that runs; its id is "" for none
	queue       []chat.Prompt       // those after it, oldest first
	interrupted bool                // the turn that runs was
	dropped     []string            // ids of prompts that will not run, and of which nobody was told
	failed      string              // why the agent is of no use

	stream // belongs to the goroutine that reads
}

// New makes a driver for a conversation. Nothing runs before Start.
func New(c Config) *Driver {
	return &Driver{
		config: c, calls: map[int]func(reply){}, asks: map[string]ask{}, stream: stream{inputs: map[string]json.RawMessage{}, unknown: map[string]bool{}},
	}
}

// Start is that of [chat.Driver].
func (d *Driver) Start(report func(chat.Event)) error {
	d.report = report
	started := make(chan struct{})
	program, err := stdio.Start(stdio.Config{
		Program: d.config.Program, Args: d.config.Args, Env: append(os.Environ(), d.config.Env...), Dir: d.config.Dir,
		Line:    func(b []byte) { <-started; d.line(b) },
		TooLong: func(n int) { d.notice("a line of %d bytes was dropped", n) },
		Ended:   func(why string) { <-started; d.gone(why) },
	})
	if err != nil {
		return err
	}
	d.program = program
	close(started)
	return d.call("initialize", map[string]any{
		"protocolVersion": 1,
		"clientInfo":      map[string]any{"name": "gateway", "version": "1"},
		"clientCapabilities": map[string]any{
			"fs": map[string]any{"readTextFile": false, "writeTextFile": false}, "terminal": false,
		},
	}, d.initialized)
}

// initialized opens the conversation.
func (d *Driver) initialized(r reply) {
	var got struct {
		ProtocolVersion   int
		AgentCapabilities struct{ LoadSession bool }
	}
	switch err := d.read(r, &got); {
	case err != nil:
		d.useless("%v", err)
		return
	case got.ProtocolVersion != 1:
		d.useless("it speaks version %d of the protocol, and not 1", got.ProtocolVersion)
		return
	case d.config.Resume != "" && !got.AgentCapabilities.LoadSession:
		d.useless("it cannot go on with a conversation")
		return
	}
	method, params, then := "session/new", map[string]any{"cwd": d.config.Dir, "mcpServers": []any{}}, d.opened
	if d.config.Resume != "" {
		method, params["sessionId"], then = "session/load", d.config.Resume, d.loaded
	}
	_ = d.call(method, params, then) // it is gone: that is reported
}

// loaded waits for the end of what an agent tells again of the conversation: some do so behind their answer. A request that none knows is
// answered after that.
func (d *Driver) loaded(r reply) {
	if r.Error != nil {
		d.opened(r)
		return
	}
	_ = d.call("_gateway/loaded", map[string]any{}, func(reply) { d.opened(r) }) // it is gone: that is reported
}

// opened takes the first prompt on.
func (d *Driver) opened(r reply) {
	got := struct{ SessionID string }{d.config.Resume}
	if err := d.read(r, &got); err != nil {
		d.useless("%v", err)
		return
	}
	if got.SessionID == "" {
		d.useless("it opened a conversation without an id")
		return
	}
	d.mu.Lock()
	d.session = got.SessionID
	d.mu.Unlock()
	d.texts = 0
	d.report(chat.Ready{Conversation: got.SessionID})
	d.next()
}

// useless ends an agent that did not come as far as a conversation.
func (d *Driver) useless(format string, args ...any) {
	d.mu.Lock()
	d.failed = d.config.Name + ": " + fmt.Sprintf(format, args...)
	d.mu.Unlock()
	go d.program.Close() // its end is reported by this goroutine, which must go on reading
}

// Send is that of [chat.Driver].
func (d *Driver) Send(p chat.Prompt) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, p)
	return d.begin()
}

// begin sends the next prompt, if none runs.
func (d *Driver) begin() error {
	if d.session == "" || d.running.ID != "" || len(d.queue) == 0 {
		return nil
	}
	d.running, d.queue = d.queue[0], d.queue[1:]
	return d.callLocked("session/prompt", map[string]any{
		"sessionId": d.session, "prompt": []any{map[string]any{"type": "text", "text": d.running.Text}},
	}, d.finished)
}

func (d *Driver) next() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.begin() // it is gone: that is reported
}

// finished is the end of a turn.
func (d *Driver) finished(r reply) {
	d.flush()
	d.mu.Lock()
	interrupted := d.interrupted
	d.running, d.interrupted = chat.Prompt{}, false
	d.mu.Unlock()
	var got struct{ StopReason string }
	turn := chat.Turn{Outcome: chat.Done}
	switch err := d.read(r, &got); {
	case err != nil:
		turn = chat.Turn{Outcome: chat.Broken, Why: err.Error()}
	case got.StopReason == "cancelled" && interrupted:
		turn = chat.Turn{Outcome: chat.Interrupted, Why: "interrupted"}
	case got.StopReason != "end_turn" && got.StopReason != "cancelled": // by the agent itself, after a refusal
		turn = chat.Turn{Outcome: chat.Broken, Why: "it stopped: " + short(got.StopReason)}
	}
	d.report(chat.Finished{Turn: turn})
	d.next()
}

// Interrupt is that of [chat.Driver].
func (d *Driver) Interrupt() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.queue {
		d.dropped = append(d.dropped, p.ID)
	}
	d.queue = nil
	if d.running.ID == "" {
		return nil
	}
	d.interrupted = true
	return d.program.Send(map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]any{"sessionId": d.session}})
}

// Close is that of [chat.Driver].
func (d *Driver) Close() error {
	if d.program != nil {
		d.program.Close()
	}
	return nil
}

func (d *Driver) gone(why string) {
	d.flush()
	d.mu.Lock()
	failed := d.failed
	d.mu.Unlock()
	switch {
	case failed != "":
		why = failed
	case why != "":
		why = d.config.Name + " " + why
	}
	d.report(chat.Gone{Why: why})
}

// ask is an approval that is open.
type ask struct {
	id            json.RawMessage // of the agent's request
	allow, refuse string          // ids of its options, "" for none
}

var errNotAsked = errors.New("the agent did not ask that, or took it back")

// Answer is that of [chat.Driver].
func (d *Driver) Answer(id string, a chat.Answer) error {
	d.mu.Lock()
	open, ok := d.asks[id]
	delete(d.asks, id)
	d.mu.Unlock()
	if !ok {
		return errNotAsked
	}
	chosen := open.refuse
	if a.Verdict == chat.Once {
		chosen = open.allow
	}
	outcome := map[string]any{"outcome": "cancelled"}
	if chosen != "" {
		outcome = map[string]any{"outcome": "selected", "optionId": chosen}
	}
	return d.result(open.id, map[string]any{"outcome": outcome})
}

// option is an answer that an agent offers.
type option struct{ OptionID, Name, Kind string }

// permission asks the user whether a tool may run. The agent's names for its options mean nothing: their kinds do.
func (d *Driver) permission(id json.RawMessage, params json.RawMessage) error {
	var m struct {
		SessionID string
		ToolCall  toolCall
		Options   []option
	}
	err := json.Unmarshal(params, &m)
	open := ask{id: id, allow: of(m.Options, "allow_once"), refuse: of(m.Options, "reject_once")}
	d.mu.Lock()
	session := d.session
	d.mu.Unlock()
	if err == nil && (m.SessionID != session || session == "") {
		err = errors.New("it is about another conversation")
	}
	shown, nothing := d.shows(&m.ToolCall)
	if err == nil && nothing {
		err = errors.New("it does not say what it wants to do")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("refused: %w", err), d.result(id, map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}))
	}
	d.flush()
	d.n2++
	r := chat.Request{ID: fmt.Sprintf("ask-%d", d.n2), Tool: m.ToolCall.name(), Input: shown}
	if open.allow != "" {
		r.Allows = []chat.Choice{{Verdict: chat.Once}}
	}
	d.mu.Lock()
	d.asks[r.ID] = open
	d.mu.Unlock()
	d.report(chat.Asked{Request: r})
	return nil
}

// of is the id of the only option of a kind: of two, the words that tell them apart are the agent's.
func of(options []option, kind string) string {
	options = slices.DeleteFunc(slices.Clone(options), func(o option) bool { return o.Kind != kind })
	if len(options) != 1 {
		return ""
	}
	return options[0].OptionID
}

// short is text that may be of any length, for a notice.
func short(s string) string {
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "..."
	}
	return s
}
