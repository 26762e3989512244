// Package stdio runs a coding agent that speaks JSON over its standard input and output, a value to
// a line. The driver of an agent in its own interface uses its environment and its reader of lines.
// The package does not know what the values mean.
package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// maxLine bounds a line, and maxQueue what waits for an agent that does not read, in bytes.
	maxLine  = 32 << 20
	maxQueue = 64 << 20
	// patience is how long an agent may take to end, and again when it was told to by a signal.
	patience = 2 * time.Second
	// drain is how long output may come after the agent's end: programs that it left behind may
	// hold the pipe.
	drain = time.Second
)

// Config is what to run.
type Config struct {
	Program string // found as a shell does
	Args    []string
	Env     []string
	Dir     string // "" is the current one
	// Began gets the program before anything else is called: it may be sent to from then on. It may
	// be nil.
	Began func(*Program)
	// Line gets each line without its end, and TooLong the size of a dropped line. Ended is called
	// last and once, with the way the agent ended: "" for exit status 0, otherwise words to follow
	// "it". One goroutine calls them. They must not keep the slice.
	Line    func([]byte)
	TooLong func(bytes int)
	Ended   func(why string)
}

// Program is an agent that runs. Its methods may be called from any goroutine.
type Program struct {
	cmd   *exec.Cmd
	kill  context.CancelFunc
	ended chan struct{}

	mu     sync.Mutex
	queue  [][]byte
	queued int           // bytes
	closed bool          // the queue is all that will be written
	filled chan struct{} // holds a value when the queue or closed changed
}

// NotInstalledError says that the program was not found.
type NotInstalledError struct {
	Program string
	Cause   error
}

func (e *NotInstalledError) Error() string {
	return e.Program + " is not installed: " + e.Cause.Error()
}
func (e *NotInstalledError) Unwrap() error { return e.Cause }

var errEnded = errors.New("the agent has ended")

// Start runs the agent. After an error only Began may have been called.
//
// The agent has a session of its own: no terminal's Ctrl+C reaches it, and neither it nor its tools
// can read a keyboard.
func Start(c Config) (*Program, error) {
	path, err := exec.LookPath(c.Program)
	if err != nil {
		return nil, &NotInstalledError{Program: c.Program, Cause: errors.Unwrap(err)}
	}
	ctx, kill := context.WithCancel(context.Background())
	p := &Program{
		cmd:    exec.CommandContext(ctx, path, c.Args...),
		kill:   kill,
		ended:  make(chan struct{}),
		filled: make(chan struct{}, 1),
	}
	out, errs := &Lines{Line: c.Line, TooLong: c.TooLong}, &tail{}
	p.cmd.Stdout, p.cmd.Stderr = out, errs
	p.prepareCommand(c)
	in, err := p.cmd.StdinPipe()
	if err != nil {
		kill()
		return nil, err
	}
	if c.Began != nil {
		c.Began(p)
	}
	if err := p.cmd.Start(); err != nil {
		kill()
		return nil, fmt.Errorf("start %s: %w", c.Program, err)
	}
	endRest, err := guard(p.cmd.Process.Pid)
	if err != nil {
		kill()
		return nil, errors.Join(fmt.Errorf("guard of %s: %w", c.Program, err), p.cmd.Wait())
	}
	go p.writeMessages(in) // ends with Close, or when the agent stops reading
	go func() {            // ends with the agent
		reason := p.waitForEnd(out, errs)
		c.Ended(reason)
		endRest()
		close(p.ended)
	}()
	return p, nil
}

// prepareCommand gives the program its surroundings, and a session of its own.
func (p *Program) prepareCommand(c Config) {
	p.cmd.Env, p.cmd.Dir, p.cmd.WaitDelay = c.Env, c.Dir, drain
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.cmd.Cancel = func() error { return p.signalGroup(syscall.SIGKILL) }
}

// waitForEnd waits until the agent is gone, and says how it ended.
func (p *Program) waitForEnd(out *Lines, errs *tail) (reason string) {
	err := p.cmd.Wait()
	p.kill()
	p.stopWriting()
	out.endLine()
	return describeExit(err, errs.String())
}

func (p *Program) writeMessages(in io.WriteCloser) {
	defer in.Close()
	for b, more := p.nextMessage(); more; b, more = p.nextMessage() {
		if _, err := in.Write(b); err != nil {
			return // it has ended: Wait says how
		}
	}
}

// Send writes a value, and does not wait for the agent to read it.
func (p *Program) Send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return errEnded
	case p.queued+len(b) > maxQueue:
		return errors.New("the agent does not read what it is sent")
	}
	p.queue, p.queued = append(p.queue, append(b, '\n')), p.queued+len(b)
	p.wakeWriter()
	return nil
}

func (p *Program) wakeWriter() {
	select {
	case p.filled <- struct{}{}:
	default:
	}
}

// nextMessage waits for the next value in the queue; more is false after stopWriting.
func (p *Program) nextMessage() (b []byte, more bool) {
	for {
		p.mu.Lock()
		if len(p.queue) > 0 {
			b, p.queue = p.queue[0], p.queue[1:]
			p.queued -= len(b) - 1
			p.mu.Unlock()
			return b, true
		}
		closed := p.closed
		p.mu.Unlock()
		if closed {
			return nil, false
		}
		<-p.filled
	}
}

func (p *Program) stopWriting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.wakeWriter()
}

// Close ends the agent's input, and the agent by signals if it goes on. It returns when it is gone
// and Ended was called.
func (p *Program) Close() {
	p.stopWriting()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-p.ended:
			return
		case <-time.After(patience):
			_ = p.signalGroup(sig) // it may be gone
		}
	}
	p.kill()
	<-p.ended
}

// signalGroup signals the agent and the tools in its process group.
func (p *Program) signalGroup(sig syscall.Signal) error { return syscall.Kill(-p.cmd.Process.Pid, sig) }
