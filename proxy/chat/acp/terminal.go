package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Terminals run programs in terminals of the user's session.
type Terminals interface {
	// Run starts a program; conversation is the id of the conversation for which. It may wait until
	// ctx ends. An error is a sentence for the agent.
	Run(ctx context.Context, conversation string, c Command) (Terminal, error)
}

// Command is what an agent wants to run.
type Command struct {
	Program string
	Args    []string
	Env     []string
	Dir     string // absolute
}

// Terminal is a program that runs in one, or has run. Its methods may be called from any goroutine.
type Terminal interface {
	// Output returns the printed text as a person reads it, at most its last most bytes; cut says
	// that the beginning is left out.
	Output(ctx context.Context, most int) (text string, cut bool, err error)
	// Ended is closed when the program has ended, and Exit is its status then.
	Ended() <-chan struct{}
	Exit() Exit
	// Kill ends the program; what it printed stays.
	Kill(ctx context.Context) error
	// Release ends the program if it runs, and frees the terminal before it returns.
	Release()
}

// Exit is how a program ended.
type Exit struct {
	Code   int
	Signal string // "" unless a signal ended it
}

// mostOutput bounds what a terminal gives back, in bytes, where the agent does not.
const mostOutput = 1 << 20

// terminals are those of an agent, by the ids that it knows. Each request is answered by a
// goroutine of its own; close waits for them.
type terminals struct {
	run  Terminals
	ctx  context.Context //nolint:containedctx // the agent's life
	stop context.CancelFunc
	*sync.WaitGroup

	mu   *sync.Mutex
	open map[string]openTerminal
	n    int
}

type openTerminal struct {
	Terminal
	most int // bytes of output
}

func newTerminals(run Terminals) terminals {
	t := terminals{run: run, WaitGroup: &sync.WaitGroup{}, mu: &sync.Mutex{}, open: map[string]openTerminal{}}
	t.ctx, t.stop = context.WithCancel(context.Background())
	return t
}

// close ends all that runs.
func (t *terminals) close() {
	t.stop()
	t.Wait()
	for _, one := range t.open {
		one.Release()
	}
	t.open = nil
}

// terminalParams are those of all requests about terminals.
type terminalParams struct {
	SessionID, TerminalID, Command, Cwd string
	Args                                []string
	Env                                 []struct{ Name, Value string }
	OutputByteLimit                     *int
}

// makeCommand returns the command to run in a new terminal, in dir unless the agent names another.
func (p *terminalParams) makeCommand(dir string) Command {
	c := Command{Program: p.Command, Args: p.Args, Dir: cmp.Or(p.Cwd, dir)}
	for _, v := range p.Env {
		c.Env = append(c.Env, v.Name+"="+v.Value)
	}
	return c
}

// outputLimit returns how many bytes of output are kept.
func (p *terminalParams) outputLimit() int {
	if p.OutputByteLimit != nil && *p.OutputByteLimit >= 0 {
		return min(mostOutput, *p.OutputByteLimit)
	}
	return mostOutput
}

// handleTerminal answers a request about a terminal.
func (d *Driver) handleTerminal(m message) error {
	var p terminalParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return errors.Join(err, d.respondError(m.ID, invalidParams, "the parameters could not be read"))
	}
	d.mu.Lock()
	session := d.session
	d.mu.Unlock()
	if session == "" || p.SessionID != session {
		return d.respondError(m.ID, invalidParams, "it is about another conversation")
	}
	do := map[string]func(openTerminal) (any, error){
		"terminal/output": d.terminals.readOutput, "terminal/wait_for_exit": d.terminals.waitForExit,
		"terminal/kill": d.terminals.killProgram, "terminal/release": d.terminals.releaseTerminal(p.TerminalID),
	}[m.Method]
	switch {
	case m.Method == "terminal/create":
		c := p.makeCommand(d.config.Dir)
		do = func(openTerminal) (any, error) {
			return d.terminals.createTerminal(session, c, p.outputLimit())
		}
	case do == nil:
		return d.respondError(m.ID, methodNotFound, "method not found")
	}
	d.terminals.mu.Lock()
	one, known := d.terminals.open[p.TerminalID]
	d.terminals.mu.Unlock()
	if !known && m.Method != "terminal/create" {
		return d.respondError(m.ID, invalidParams, "there is no such terminal")
	}
	d.terminals.Go(func() { // ends with the agent
		result, err := do(one)
		if err != nil {
			_ = d.respondError(m.ID, internalError, err.Error()) // an ended agent is reported
			return
		}
		_ = d.respond(m.ID, result)
	})
	return nil
}

func (t *terminals) createTerminal(conversation string, c Command, most int) (any, error) {
	one, err := t.run.Run(t.ctx, conversation, c)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	id := fmt.Sprintf("terminal-%d", t.n)
	t.open[id] = openTerminal{Terminal: one, most: most}
	return map[string]any{"terminalId": id}, nil
}

func (t *terminals) readOutput(one openTerminal) (any, error) {
	text, cut, err := one.Output(t.ctx, one.most)
	if err != nil {
		return nil, err
	}
	result := map[string]any{"output": text, "truncated": cut}
	select {
	case <-one.Ended():
		result["exitStatus"] = exitStatus(one.Exit())
	default:
	}
	return result, nil
}

func (t *terminals) waitForExit(one openTerminal) (any, error) {
	select {
	case <-one.Ended():
		return exitStatus(one.Exit()), nil
	case <-t.ctx.Done():
		return nil, t.ctx.Err()
	}
}

func (t *terminals) killProgram(one openTerminal) (any, error) {
	return map[string]any{}, one.Kill(t.ctx)
}

func (t *terminals) releaseTerminal(id string) func(openTerminal) (any, error) {
	return func(one openTerminal) (any, error) {
		t.mu.Lock()
		delete(t.open, id)
		t.mu.Unlock()
		one.Release()
		return map[string]any{}, nil
	}
}

func exitStatus(e Exit) map[string]any {
	if e.Signal != "" {
		return map[string]any{"exitCode": nil, "signal": e.Signal}
	}
	return map[string]any{"exitCode": e.Code, "signal": nil}
}
