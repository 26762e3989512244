// Package onevent runs programs of the user's own when something happens in a session. Nobody waits for them: each rule runs one at
// a time, and the next in line when that has ended or was killed after [Limit]. It knows words for what happened, and no session.
//
// A program is started by a second process, this same program under another name: it keeps to the limit also when the session, or the
// one who started it, has ended.
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
	// Limit is how long a program may run.
	Limit = 10 * time.Second
	// queued is how much waits for a rule's program; what happens then is lost to the rule.
	queued = 8
)

// The environment variables that a program gets, beside those of its event.
const (
	varEvent = "TERMINALPROXY_EVENT"
	varLost  = "TERMINALPROXY_LOST" // how much before this one was lost
)

// Rule is which events run a program.
type Rule struct {
	Events []string
	// Run is a program, by its whole path or by a name in the PATH, and its arguments.
	Run []string
}

// Event is what happened.
type Event struct {
	Name string
	Env  []string // variables that say more, NAME=VALUE
}

// Config is what a [Runner] needs.
type Config struct {
	Rules []Rule
	Self  string // path of this program, which calls [Supervise] when it is called as [Called] says
	// Log is told of what was lost or failed; nil is silence.
	Log *slog.Logger

	limit time.Duration // tests' own
}

// Runner runs what the rules say. Any goroutine may call its methods.
type Runner struct {
	rules    []*rule
	wg       sync.WaitGroup
	programs sync.WaitGroup // those that run
}

// New makes a runner. Close it.
func New(conf Config) *Runner {
	conf.Log = cmp.Or(conf.Log, slog.New(slog.DiscardHandler))
	conf.limit = cmp.Or(conf.limit, Limit)
	r := new(Runner)
	for _, of := range conf.Rules {
		one := &rule{Rule: of, conf: conf, programs: &r.programs, events: make(chan Event, queued), closing: make(chan struct{})}
		r.rules = append(r.rules, one)
		r.wg.Go(one.serve) // ends with Close
	}
	return r
}

// Tell says that something happened. It returns at once.
func (r *Runner) Tell(e Event) {
	for _, one := range r.rules {
		if slices.Contains(one.Events, e.Name) {
			one.tell(e)
		}
	}
}

// Close starts what waits, each to follow the one before, and waits for none. Nothing may be told any more.
func (r *Runner) Close() {
	for _, one := range r.rules {
		close(one.closing)
	}
	r.wg.Wait()
}

// rule is a rule with what waits for it.
type rule struct {
	Rule
	conf     Config
	programs *sync.WaitGroup
	events   chan Event
	closing  chan struct{}
	lost     atomic.Int64 // since the last program that was started
}

func (r *rule) tell(e Event) {
	select {
	case r.events <- e:
	default:
		if r.lost.Add(1) == 1 {
			r.conf.Log.Warn("events are lost to a rule whose program takes too long", "program", r.Run[0])
		}
	}
}

func (r *rule) serve() {
	var before *os.File
	defer func() { _ = before.Close() }()
	for {
		select {
		case <-r.closing:
			for range len(r.events) {
				before, _ = r.start(<-r.events, before)
			}
			return
		default:
		}
		select {
		case <-r.closing:
		case e := <-r.events:
			var ended <-chan struct{}
			before, ended = r.start(e, before)
			select {
			case <-ended:
			case <-r.closing:
			}
		}
	}
}

// start starts the program, which runs when the one before has ended: that is the end of the file before, nil for none. running is such
// a file of this one, ended is closed when it has ended.
func (r *rule) start(e Event, before *os.File) (running *os.File, ended <-chan struct{}) {
	done := make(chan struct{})
	defer func() { _ = before.Close() }()
	running, held, err := os.Pipe()
	if err == nil {
		defer func() { _ = held.Close() }()
		err = r.run(e, done, held, before)
	}
	if err != nil {
		r.conf.Log.Warn("a program for an event was not started", "program", r.Run[0], "event", e.Name, "error", err)
		close(done)
	}
	return running, done
}

// run starts the process that starts the program. held is open in it until it ends.
func (r *rule) run(e Event, done chan struct{}, held, before *os.File) error {
	cmd := exec.Command(r.conf.Self) //nolint:noctx // it outlives whoever starts it
	cmd.Args = append([]string{name, r.conf.limit.String(), alone}, r.Run...)
	cmd.ExtraFiles = []*os.File{held}
	if before != nil {
		cmd.Args[2], cmd.ExtraFiles = follows, append(cmd.ExtraFiles, before)
	}
	cmd.Dir = "/" // nothing of the directory in which the session happens to run is to be found by a name
	cmd.Env = slices.Concat(os.Environ(), e.Env, []string{varEvent + "=" + e.Name})
	if lost := r.lost.Swap(0); lost > 0 {
		cmd.Env = append(cmd.Env, varLost+"="+strconv.FormatInt(lost, 10))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, and no signal of the session's
	if err := cmd.Start(); err != nil {
		return err
	}
	r.programs.Go(func() { // ends with the program, which the limit ends
		defer close(done)
		if err := cmd.Wait(); err != nil {
			r.conf.Log.Warn("a program for an event failed", "program", r.Run[0], "event", e.Name, "error", err)
		}
	})
	return nil
}
