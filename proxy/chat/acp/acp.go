// Package acp speaks to coding agents by the Agent Client Protocol, version 1: JSON-RPC over the agent's standard input and output.
// It gives an agent no access to files, and terminals only if there are [Terminals]: for all else the agent uses tools of its own, and
// asks. It must not know who answers.
package acp

import (
	"fmt"
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
	// Mode is the mode in which the agent begins, "" for its own. A conversation does not begin in another one.
	Mode string
	// Notices: it puts what it tells the user about its model between the texts of that, as "Info: ...", each in one part.
	Notices bool
	// Terminals run what the agent wants to run in a terminal of ours; nil offers none.
	Terminals Terminals
}

// Driver drives an agent. One prompt runs at a time: of two, agents take the second as the end of the first, unless they can be steered.
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
	steers      bool                // it takes prompts into the turn that runs
	images      bool                // it takes images with a prompt
	interrupts  int
	settings    []setting
	terminals   terminals

	stream // belongs to the goroutine that reads
}

// New makes a driver for a conversation. Nothing runs before Start.
func New(c Config) *Driver {
	return &Driver{
		config: c, calls: map[int]func(reply){}, asks: map[string]ask{}, terminals: newTerminals(c.Terminals),
		stream: newStream(),
	}
}

// Start is that of [chat.Driver].
func (d *Driver) Start(report func(chat.Event)) error {
	d.report = report
	if _, err := stdio.Start(stdio.Config{
		Program: d.config.Program, Args: d.config.Args, Env: stdio.Environment(d.config.Env...), Dir: d.config.Dir,
		Began: func(p *stdio.Program) { d.program = p }, Line: d.line, Ended: d.gone,
		TooLong: func(n int) { d.notice("a line of %d bytes was dropped", n) },
	}); err != nil {
		return err
	}
	_ = d.call("initialize", map[string]any{ // it is gone: that is reported, and how it ended
		"protocolVersion": 1,
		"clientInfo":      map[string]any{"name": "gateway", "version": "1"},
		"clientCapabilities": map[string]any{
			"fs":       map[string]any{"readTextFile": false, "writeTextFile": false},
			"terminal": d.config.Terminals != nil, "elicitation": map[string]any{"form": map[string]any{}},
		},
	}, d.initialized)
	return nil
}

// initialized opens the conversation.
func (d *Driver) initialized(r reply) {
	var got struct {
		ProtocolVersion   int
		AgentCapabilities struct {
			LoadSession        bool
			PromptCapabilities struct{ Image bool }
		}
		Meta struct{ Steering struct{ Supported bool } } `json:"_meta"`
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
	d.mu.Lock()
	d.steers, d.images = got.Meta.Steering.Supported, got.AgentCapabilities.PromptCapabilities.Image
	d.mu.Unlock()
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

// opened has the agent ask a person.
func (d *Driver) opened(r reply) {
	got := struct {
		SessionID string
		standing
	}{SessionID: d.config.Resume}
	if err := d.read(r, &got); err != nil {
		if d.config.Resume != "" && r.Error != nil && r.Error.Code != authRequired {
			err = fmt.Errorf("it cannot go on with the conversation %s: %w", d.config.Resume, err)
		}
		d.useless("%v", err)
		return
	}
	if got.SessionID == "" {
		d.useless("it opened a conversation without an id")
		return
	}
	d.mu.Lock()
	d.settings = got.settings()
	d.mu.Unlock()
	if d.config.Mode == "" {
		d.begun(got.SessionID)
		return
	}
	label, id, err := d.findMode(d.config.Mode)
	if err != nil {
		d.useless("%v", err)
		return
	}
	_ = d.call("session/set_mode", map[string]any{"sessionId": got.SessionID, "modeId": id}, func(r reply) { // it is gone: that is reported
		if err := d.read(r, &struct{}{}); err != nil {
			d.useless("it does not take the mode %s: %v", label, err)
			return
		}
		d.now(chat.Mode, label)
		d.begun(got.SessionID)
	})
}

// begun takes the first prompt on.
func (d *Driver) begun(session string) {
	d.mu.Lock()
	d.session = session
	d.mu.Unlock()
	d.texts = 0
	d.tellSettings()
	d.report(chat.Ready{Conversation: session})
	d.next()
}

// useless ends an agent that did not come as far as a conversation.
func (d *Driver) useless(format string, args ...any) {
	d.mu.Lock()
	d.failed = d.config.Name + ": " + fmt.Sprintf(format, args...)
	d.mu.Unlock()
	go d.program.Close() // its end is reported by this goroutine, which must go on reading
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
	d.terminals.close()
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
