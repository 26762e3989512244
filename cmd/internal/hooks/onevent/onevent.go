// Package onevent runs the user's programs on events of a session. Its callers do not wait: each
// rule runs one program at a time, and starts the next when that one has ended or was killed after
// [Limit]. It must not depend on sessions, only on names of events.
//
// A second process starts the program: this binary under another name. It enforces the limit even
// after the session's process has ended.
package onevent

import (
	"cmp"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// Limit bounds the run of a program.
	Limit = 10 * time.Second
	// queued is the number of events that may wait for a rule's program; the rule loses more.
	queued = 8
)

// The environment variables of a program, in addition to those of its event.
const (
	varEvent = "TERMINALPROXY_EVENT"
	varLost  = "TERMINALPROXY_LOST" // number of events that were lost before this one
)

// Rule runs a program for some events.
type Rule struct {
	Events []string
	// Run is a program, by its whole path or by a name in the PATH, and its arguments.
	Run []string
}

// Event is something that happened in a session.
type Event struct {
	Name string
	Env  []string // variables that describe it, NAME=VALUE
}

// Config configures a [Runner].
type Config struct {
	Rules []Rule
	Self  string // path of this binary, which calls [Supervise] if [IsSupervisor] reports true
	// Log gets lost events and failed programs; it may be nil.
	Log *slog.Logger

	limit time.Duration // for tests
}

// Runner runs the programs of the rules. Any goroutine may call its methods.
type Runner struct {
	rules    []*rule
	wg       sync.WaitGroup
	programs sync.WaitGroup // the running ones
}

// New makes a runner. Close it.
func New(conf Config) *Runner {
	conf.Log = cmp.Or(conf.Log, slog.New(slog.DiscardHandler))
	conf.limit = cmp.Or(conf.limit, Limit)
	r := new(Runner)
	for _, declared := range conf.Rules {
		running := &rule{
			Rule: declared, conf: conf, programs: &r.programs,
			events: make(chan Event, queued), closing: make(chan struct{}),
		}
		r.rules = append(r.rules, running)
		r.wg.Go(running.runQueue) // ends with Close
	}
	return r
}

// QueueEvent queues an event for its rules. It returns at once.
func (r *Runner) QueueEvent(e Event) {
	for _, one := range r.rules {
		if slices.Contains(one.Events, e.Name) {
			one.queueEvent(e)
		}
	}
}

// Close starts the supervisors of all queued events, each to follow the one before, and does not
// wait for their programs. QueueEvent must not be called afterwards.
func (r *Runner) Close() {
	for _, one := range r.rules {
		close(one.closing)
	}
	r.wg.Wait()
}

// rule is a rule with its queue.
type rule struct {
	Rule
	conf     Config
	programs *sync.WaitGroup
	events   chan Event
	closing  chan struct{}
	lost     atomic.Int64 // events since the last start of the program
}

func (r *rule) queueEvent(e Event) {
	select {
	case r.events <- e:
	default:
		if r.lost.Add(1) == 1 {
			r.conf.Log.Warn("events are lost to a rule whose program takes too long",
				"program", r.Run[0])
		}
	}
}

func (r *rule) runQueue() {
	var before *os.File
	defer func() { _ = before.Close() }()
	for {
		select {
		case <-r.closing:
			for range len(r.events) {
				before, _ = r.startProgram(<-r.events, before)
			}
			return
		default:
		}
		select {
		case <-r.closing:
		case e := <-r.events:
			var ended <-chan struct{}
			before, ended = r.startProgram(e, before)
			select {
			case <-ended:
			case <-r.closing:
			}
		}
	}
}

// startProgram starts a supervisor, whose program runs at the end of the file before, or at once if
// before is nil. The file running ends with the program, and ended is closed then.
func (r *rule) startProgram(e Event, before *os.File) (running *os.File, ended <-chan struct{}) {
	done := make(chan struct{})
	defer func() { _ = before.Close() }()
	running, held, err := os.Pipe()
	if err == nil {
		defer func() { _ = held.Close() }()
		err = r.startSupervisor(e, done, held, before)
	}
	if err != nil {
		r.conf.Log.Warn("a program for an event was not started",
			"program", r.Run[0], "event", e.Name, "error", err)
		close(done)
	}
	return running, done
}

// startSupervisor starts the process that runs the program. The process keeps held open until it
// ends.
func (r *rule) startSupervisor(e Event, done chan struct{}, held, before *os.File) error {
	cmd := exec.Command(r.conf.Self) //nolint:noctx // it outlives this process
	cmd.Args = append([]string{supervisorName, r.conf.limit.String(), alone}, r.Run...)
	cmd.ExtraFiles = []*os.File{held}
	if before != nil {
		cmd.Args[2], cmd.ExtraFiles = follows, append(cmd.ExtraFiles, before)
	}
	cmd.Dir = "/" // a relative name must not find a file of the session's directory
	cmd.Env = slices.Concat(os.Environ(), e.Env, []string{varEvent + "=" + e.Name})
	if lost := r.lost.Swap(0); lost > 0 {
		cmd.Env = append(cmd.Env, varLost+"="+strconv.FormatInt(lost, 10))
	}
	// no terminal, and no signals of the session
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	r.programs.Go(func() { // ends with the program, which the limit ends
		defer close(done)
		if err := cmd.Wait(); err != nil {
			r.conf.Log.Warn("a program for an event failed",
				"program", r.Run[0], "event", e.Name, "error", err)
		}
	})
	return nil
}
