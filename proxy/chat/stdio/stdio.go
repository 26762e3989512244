// Package stdio runs a coding agent that speaks JSON over its standard input and output, a value to a line. Drivers of agents that
// speak otherwise take from it what all need: the agent's environment, and output cut into lines. It must not know what the values mean.
package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	// drain is how long output may come after the agent's end: programs that it left behind may hold the pipe.
	drain = time.Second
)

// Config is what to run.
type Config struct {
	Program string // found as a shell does
	Args    []string
	Env     []string
	Dir     string // "" is the current one
	// Began gets the program before anything else is called: it may be sent to from then on. It may be nil.
	Began func(*Program)
	// Line gets each line that comes, without its end, and TooLong the size of one that is dropped. Ended gets how the agent
	// ended, last, and once: "" for exit status 0, otherwise words to follow "it". They are called from one goroutine, and
	// must not keep the slice.
	Line    func([]byte)
	TooLong func(bytes int)
	Ended   func(why string)
	// Deaf says that the end of its input does not end it: Close sends the signal at once.
	Deaf bool
}

// Program is an agent that runs. Its methods may be called from any goroutine.
type Program struct {
	cmd   *exec.Cmd
	kill  context.CancelFunc
	deaf  bool
	ended chan struct{}

	mu     sync.Mutex
	queue  [][]byte
	queued int           // bytes
	closed bool          // nothing more will be written
	filled chan struct{} // holds a value when the queue or closed changed
}

// NotInstalledError says that there is no such program.
type NotInstalledError struct {
	Program string
	Cause   error
}

func (e *NotInstalledError) Error() string {
	return e.Program + " is not installed: " + e.Cause.Error()
}
func (e *NotInstalledError) Unwrap() error { return e.Cause }

var errEnded = errors.New("the agent has ended")

// Start runs it. With an error nothing is called.
//
// The agent has a session of its own: no terminal's Ctrl+C reaches it, and neither it nor its tools can read a keyboard.
func Start(c Config) (*Program, error) {
	path, err := exec.LookPath(c.Program)
	if err != nil {
		return nil, &NotInstalledError{Program: c.Program, Cause: errors.Unwrap(err)}
	}
	ctx, kill := context.WithCancel(context.Background())
	p := &Program{cmd: exec.CommandContext(ctx, path, c.Args...), kill: kill, deaf: c.Deaf, ended: make(chan struct{}), filled: make(chan struct{}, 1)}
	out, errs := &Lines{Line: c.Line, TooLong: c.TooLong}, &tail{}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = c.Env, c.Dir, out, errs, drain
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.cmd.Cancel = func() error { return p.signal(syscall.SIGKILL) }
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
	go func() { // ends with Close, or when the agent reads no more
		defer in.Close()
		for b, more := p.next(); more; b, more = p.next() {
			if _, err := in.Write(b); err != nil {
				return // it has ended: Wait says how
			}
		}
	}()
	go func() { // ends with the agent
		err := p.cmd.Wait()
		kill()
		p.shut()
		out.end()
		c.Ended(how(err, errs.String()))
		endRest()
		close(p.ended)
	}()
	return p, nil
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
	p.fill()
	return nil
}

func (p *Program) fill() {
	select {
	case p.filled <- struct{}{}:
	default:
	}
}

// next waits for what is to be written, until nothing more will be.
func (p *Program) next() (b []byte, more bool) {
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

func (p *Program) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.fill()
}

// Close ends the agent's input, and the agent by signals if it goes on. It returns when it is gone and Ended was called.
func (p *Program) Close() {
	p.shut()
	if p.deaf {
		_ = p.signal(syscall.SIGTERM) // it is gone
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-p.ended:
			return
		case <-time.After(patience):
			_ = p.signal(sig) // it is gone
		}
	}
	p.kill()
	<-p.ended
}

// signal reaches the agent and those of its tools that are in its process group.
func (p *Program) signal(sig syscall.Signal) error { return syscall.Kill(-p.cmd.Process.Pid, sig) }
