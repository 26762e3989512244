// Package acp speaks to coding agents by the Agent Client Protocol, version 1: JSON-RPC over the
// agent's standard input and output. It gives an agent no access to files and no terminals: the
// agent uses its own tools, and asks. The package does not know who answers.
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
	// Mode is the mode in which the agent begins, "" for its own. A conversation does not begin in
	// another one.
	Mode string
	// Notices: it puts what it tells the user about its model between the texts of that, as "Info:
	// ...", each in one part.
	Notices bool
}

// Driver drives an agent. It sends one prompt at a time, because agents take a second one as the
// end of the first, unless they can be steered.
type Driver struct {
	config Config
	report func(chat.Event)
	// program is set once, before anything is sent.
	program *stdio.Program

	mu          sync.Mutex
	calls       map[int]func(reply) // what to do with the answers to ours, by id
	callsSent   int                 // ids so far
	asks        map[string]ask      // open requests, by the id that the core knows
	session     string              // "" before it is opened
	running     chat.Prompt         // the prompt that runs; its id is "" between turns
	queue       []chat.Prompt       // those after it, oldest first
	interrupted bool                // the turn that runs was
	dropped     []string            // ids of prompts that will not run, yet to be reported
	failed      string              // why the agent is of no use
	steers      bool                // it takes prompts into the turn that runs
	images      bool                // it takes images with a prompt
	interrupts  int
	settings    []setting

	stream // belongs to the goroutine that reads
}

// New makes a driver for a conversation. Nothing runs before Start.
func New(c Config) *Driver {
	return &Driver{
		config: c,
		calls:  map[int]func(reply){},
		asks:   map[string]ask{},
		stream: newStream(),
	}
}

// Start is that of [chat.Driver].
func (d *Driver) Start(report func(chat.Event)) error {
	d.report = report
	if _, err := stdio.Start(stdio.Config{
		Program: d.config.Program,
		Args:    d.config.Args,
		Env:     stdio.Environment(d.config.Env...),
		Dir:     d.config.Dir,
		Began:   func(p *stdio.Program) { d.program = p }, Line: d.handleLine, Ended: d.handleExit,
		TooLong: func(n int) { d.reportNotice("a line of %d bytes was dropped", n) },
	}); err != nil {
		return err
	}
	_ = d.call("initialize", map[string]any{ // an ended agent is reported
		"protocolVersion": 1,
		"clientInfo":      map[string]any{"name": "gateway", "version": "1"},
		"clientCapabilities": map[string]any{
			"fs":          map[string]any{"readTextFile": false, "writeTextFile": false},
			"terminal":    false,
			"elicitation": map[string]any{"form": map[string]any{}},
		},
	}, d.handleInitialized)
	return nil
}

// handleInitialized checks the agent's abilities and opens the conversation.
func (d *Driver) handleInitialized(r reply) {
	var got struct {
		ProtocolVersion   int
		AgentCapabilities struct {
			LoadSession        bool
			PromptCapabilities struct{ Image bool }
		}
		Meta struct{ Steering struct{ Supported bool } } `json:"_meta"`
	}
	switch err := d.readResult(r, &got); {
	case err != nil:
		d.closeFailed("%v", err)
		return
	case got.ProtocolVersion != 1:
		d.closeFailed("it speaks version %d of the protocol, not 1", got.ProtocolVersion)
		return
	case d.config.Resume != "" && !got.AgentCapabilities.LoadSession:
		d.closeFailed("it cannot go on with a conversation")
		return
	}
	d.mu.Lock()
	d.steers, d.images = got.Meta.Steering.Supported, got.AgentCapabilities.PromptCapabilities.Image
	d.mu.Unlock()
	method, then := "session/new", d.onSessionOpened
	params := map[string]any{"cwd": d.config.Dir, "mcpServers": []any{}}
	if d.config.Resume != "" {
		method, params["sessionId"], then = "session/load", d.config.Resume, d.afterReplay
	}
	_ = d.call(method, params, then) // an ended agent is reported
}

// afterReplay waits until the agent has replayed the conversation, which some agents do after their
// answer. They answer an unknown request only after that.
func (d *Driver) afterReplay(r reply) {
	if r.Error != nil {
		d.onSessionOpened(r)
		return
	}
	// an ended agent is reported
	_ = d.call("_gateway/loaded", map[string]any{}, func(reply) { d.onSessionOpened(r) })
}

// onSessionOpened sets the mode, if the configuration names one, and starts the conversation.
func (d *Driver) onSessionOpened(r reply) {
	got := struct {
		SessionID string
		settingsState
	}{SessionID: d.config.Resume}
	if err := d.readResult(r, &got); err != nil {
		if d.config.Resume != "" && r.Error != nil && r.Error.Code != authRequired {
			err = fmt.Errorf("it cannot go on with the conversation %s: %w", d.config.Resume, err)
		}
		d.closeFailed("%v", err)
		return
	}
	if got.SessionID == "" {
		d.closeFailed("it opened a conversation without an id")
		return
	}
	d.mu.Lock()
	d.settings = got.listSettings()
	d.mu.Unlock()
	if d.config.Mode == "" {
		d.startConversation(got.SessionID)
		return
	}
	label, id, err := d.findMode(d.config.Mode)
	if err != nil {
		d.closeFailed("%v", err)
		return
	}
	params := map[string]any{"sessionId": got.SessionID, "modeId": id}
	_ = d.call("session/set_mode", params, func(r reply) { // an ended agent is reported
		if err := d.readResult(r, &struct{}{}); err != nil {
			d.closeFailed("it does not take the mode %s: %v", label, err)
			return
		}
		d.setOne(chat.Mode, label)
		d.startConversation(got.SessionID)
	})
}

// startConversation reports the conversation and sends the first prompt.
func (d *Driver) startConversation(session string) {
	d.mu.Lock()
	d.session = session
	d.mu.Unlock()
	d.texts = 0
	d.reportSettings()
	d.report(chat.Ready{Conversation: session})
	d.sendNextPrompt()
}

// closeFailed ends an agent that could not open a conversation.
func (d *Driver) closeFailed(format string, args ...any) {
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

func (d *Driver) handleExit(why string) {
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
	d.report(chat.AgentExited{Why: why})
}
