// Package opencode speaks to opencode over HTTP, while its own interface runs in a terminal: it
// starts opencode's server on this machine, and the interface attaches to that. Both show the same
// conversation. An answer in one closes the dialog in the other; the first answer counts. The
// package does not know who answers.
package opencode

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/recent"
	"terminalproxy/proxy/chat/stdio"
)

const (
	name = "opencode"
	// user is the name under which the server knows us and the interface.
	user = "opencode"
	// maxJobs bounds the calls that wait for the server.
	maxJobs = 256
)

// Config is what to run.
type Config struct {
	Program string   // opencode's, found as a shell does
	Env     []string // added to ours
	Dir     string   // where the agent works, "" for the current directory
	Resume  string   // id of a conversation, "" for a new one
	Latest  bool     // go on with the latest conversation of Dir, if any
	// Claim is called with the id of the conversation, and again when the user goes on in another
	// one. It may be nil. An error ends Serve; later errors are only reported.
	Claim func(id string) error
}

// Driver drives one server. The order of life is [Serve], the interface with [Driver.Args] and
// [Driver.Env], Start, Close.
type Driver struct {
	server
	config   Config
	terminal chat.Terminal // nil without an interface
	program  *stdio.Program
	ended    chan struct{} // closed when the server is gone
	why      string        // it is, when ended is closed
	ctx      context.Context
	cancel   context.CancelFunc // ends running calls, with the server

	jobs   chan func()      // for the server, in their order
	todo   chan func()      // for the goroutine that reports
	report func(chat.Event) // called by that goroutine alone
	over   chan struct{}    // closed when that goroutine has ended
	turn                    // belongs to that goroutine

	mu          sync.Mutex
	session     string            // where the user talks
	made        bool              // we opened it, and it is still empty
	started     bool              // Start was called
	open        map[string]open   // requests, by the server's id
	answered    *recent.Map[bool] // requests, by us: the server may still name them as open
	sent        []*prompt         // on which the agent does not work yet, oldest first
	exited      string            // how the interface ended, where that was an error
	left        bool              // the interface has ended
	interrupted bool              // the turn that runs was
}

// prompt is a prompt sent by us.
type prompt struct {
	id      string // the core's
	part    string // the id that we gave its text
	message string // the id that the server gave it, "" while it is on the way
}

// open is a request that waits for an answer.
type open struct {
	session   string
	questions []string // ids of a form's questions, in their order
	form      bool
}

// listening matches the server's line once it takes calls.
var listening = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^opencode server listening on (http://127\.0\.0\.1:[0-9]+)/?$`)
})

// Serve starts the server, waits until it takes calls, and opens the conversation. ctx bounds the
// wait. The server ends with Close, and with this process. An error names what failed; then nothing
// runs.
func Serve(ctx context.Context, c Config) (*Driver, error) {
	d := &Driver{
		server:   newServer(),
		config:   c,
		ended:    make(chan struct{}),
		over:     make(chan struct{}),
		open:     map[string]open{},
		answered: recent.New[bool](namesMost),
		jobs:     make(chan func(), maxJobs),
		todo:     make(chan func()),
		turn:     newTurn(),
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	urls := make(chan string, 1)
	if err := d.startServer(urls); err != nil {
		d.cancel()
		return nil, err
	}
	if err := d.waitAndOpen(ctx, urls); err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// startServer starts the server, which sends its URL once it takes calls.
func (d *Driver) startServer(urls chan<- string) (err error) {
	c := d.config
	d.program, err = stdio.Start(stdio.Config{
		// The port is the system's choice, and the address not the user's configuration's.
		Program: c.Program,
		Args:    []string{"serve", "--port=0", "--hostname=127.0.0.1", "--mdns=false"},
		Deaf:    true,
		Env:     append(append(os.Environ(), c.Env...), d.Env()...),
		Dir:     c.Dir,
		Line: func(b []byte) {
			if m := listening().FindSubmatch(b); m != nil {
				select {
				case urls <- string(m[1]):
				default: // it says so once
				}
			}
		},
		TooLong: func(int) {},
		Ended:   func(why string) { d.why = why; d.cancel(); close(d.ended) },
	})
	return err
}

// waitAndOpen waits for the server, then opens and claims the conversation.
func (d *Driver) waitAndOpen(ctx context.Context, urls <-chan string) error {
	select {
	case d.url = <-urls:
	case <-d.ended:
		if d.why == "" {
			return errors.New("its server ended at once")
		}
		return errors.New("its server " + d.why)
	case <-ctx.Done():
		return fmt.Errorf("its server does not start: %w", context.Cause(ctx))
	}
	id, err := d.chooseConversation(ctx)
	if err != nil {
		return err
	}
	d.session = id
	if d.config.Claim == nil {
		return nil
	}
	return d.config.Claim(id)
}

// chooseConversation returns the id of the conversation to go on with, or of a new one.
func (d *Driver) chooseConversation(ctx context.Context) (string, error) {
	var got struct{ ID string }
	switch {
	case d.config.Resume != "":
		if !strings.HasPrefix(d.config.Resume, "ses") || strings.ContainsAny(d.config.Resume, "/?#%") {
			return "", fmt.Errorf("%.60q is not the id of a conversation", d.config.Resume)
		}
		err := d.call(ctx, http.MethodGet, "/session/"+d.config.Resume, nil, &got)
		if status, ok := errors.AsType[*statusError](err); ok && status.code == http.StatusNotFound {
			return "", &NoConversationError{d.config.Resume}
		}
		if err != nil {
			return "", fmt.Errorf("the conversation %s: %w", d.config.Resume, err)
		}
		return got.ID, nil
	case d.config.Latest:
		var all []struct{ ID string }
		if err := d.call(ctx, http.MethodGet, "/session?roots=true&limit=1", nil, &all); err != nil {
			return "", fmt.Errorf("its conversations: %w", err)
		}
		if len(all) > 0 {
			return all[0].ID, nil
		}
	}
	if err := d.call(ctx, http.MethodPost, "/session", map[string]any{}, &got); err != nil {
		return "", fmt.Errorf("a new conversation: %w", err)
	}
	d.made = true
	return got.ID, nil
}

// NoConversationError says that the server knows no conversation of that id.
type NoConversationError struct{ ID string }

func (e *NoConversationError) Error() string { return "there is no conversation " + e.ID }

// Hint says what to do about it.
func (e *NoConversationError) Hint() string {
	return "without --session a new conversation begins; --continue resumes the latest"
}

// Conversation is the id of the one in which the user talks.
func (d *Driver) Conversation() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session
}

// Args are those with which opencode's own interface shows the conversation.
func (d *Driver) Args() []string { return []string{"attach", d.url, "--session", d.Conversation()} }

// Env is what the interface needs besides. It holds the server's password: no command line does.
func (s *server) Env() []string {
	return []string{"OPENCODE_SERVER_USERNAME=" + user, "OPENCODE_SERVER_PASSWORD=" + s.password}
}

// Start is that of [chat.Driver].
func (d *Driver) Start(report func(chat.Event)) error {
	d.mu.Lock()
	d.started = true
	d.mu.Unlock()
	d.report = report
	var parts sync.WaitGroup
	parts.Go(d.listen)
	parts.Go(d.runCalls)
	go func() { // ends behind the two others, which end with the server
		parts.Wait()
		close(d.todo)
	}()
	go func() { // ends with the server
		defer close(d.over)
		for do := range d.todo {
			do()
		}
		<-d.ended
		d.report(chat.AgentExited{Why: d.exitReason()})
	}()
	return nil
}

// exitReason says why the server ended, or how its interface did if that ended first.
func (d *Driver) exitReason() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.left && d.exited == "", d.why == "":
		return ""
	case d.left:
		return name + " " + d.exited
	}
	return name + "'s server " + d.why
}

// runCalls makes the queued calls until the server is gone.
func (d *Driver) runCalls() {
	for {
		select {
		case job := <-d.jobs:
			job()
		case <-d.ctx.Done():
			return
		}
	}
}

var errBusy = errors.New("opencode does not read its messages")

// enqueueCall queues a call; then gets its error, which may be nil.
func (d *Driver) enqueueCall(method, path string, body any, then func(error)) error {
	return d.enqueueIfCurrent(func() bool { return true }, method, path, body, then)
}

// enqueueIfCurrent queues a call that is made only if still returns true when its turn comes.
func (d *Driver) enqueueIfCurrent(
	still func() bool, method, path string, body any, then func(error),
) error {
	if d.ctx.Err() != nil {
		return errors.New("the agent has ended")
	}
	job := func() {
		ctx, cancel := context.WithTimeout(d.ctx, callTime)
		defer cancel()
		err := chat.ErrTaken
		if still() {
			err = d.call(ctx, method, path, body, nil)
		}
		d.todo <- func() { then(err) }
	}
	select {
	case d.jobs <- job:
		return nil
	default:
		return errBusy
	}
}

// Send is that of [chat.Driver]. Also while it works, opencode takes a prompt, and reads it with
// its next step.
func (d *Driver) Send(p chat.Prompt) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made = false
	one := &prompt{id: p.ID, part: "prt_0" + strings.ReplaceAll(p.ID, "-", "")}
	path := "/session/" + d.session + "/prompt_async"
	body := map[string]any{"parts": promptParts(one.part, p)}
	err := d.enqueueIfCurrent(d.standingCheck(p.MayAct), http.MethodPost, path, body, func(err error) {
		if err != nil {
			d.reportNotice("the prompt did not arrive: %v", err)
			d.forgetPrompt(one)
			d.report(chat.PromptDropped{Prompt: p.ID})
		}
	})
	if err == nil {
		d.sent = append(d.sent, one)
	}
	return err
}

// promptParts converts a prompt for opencode.
func promptParts(id string, p chat.Prompt) []any {
	parts := []any{map[string]any{"type": "text", "id": id, "text": p.Text}}
	for _, i := range p.Images {
		url := "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
		file := map[string]any{"type": "file", "mime": i.Type, "filename": i.Name, "url": url}
		parts = append(parts, file)
	}
	return parts
}

// ImageRefusal is that of [chat.ImageDriver].
func (d *Driver) ImageRefusal() error { return nil }

// Interrupt is that of [chat.Driver].
func (d *Driver) Interrupt(mayAct chat.MayAct) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.interrupted = true
	path := "/session/" + d.session + "/abort"
	return d.enqueueIfCurrent(d.standingCheck(mayAct), http.MethodPost, path, nil, func(err error) {
		if err != nil {
			d.mu.Lock()
			d.interrupted = false
			d.mu.Unlock()
			d.reportNotice("not interrupted: %v", err)
		}
	})
}

var errNotAsked = errors.New("the agent did not ask that, or it was answered in opencode's own interface")

// Answer is that of [chat.Driver].
func (d *Driver) Answer(id string, a chat.Answer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked, ok := d.open[id]
	delete(d.open, id)
	if !ok {
		return errNotAsked
	}
	d.answered.Put(id, true, 0)
	path, body := asked.replyCall(id, a)
	return d.enqueueCall(http.MethodPost, path, body, func(err error) {
		switch status := (*statusError)(nil); {
		case errors.As(err, &status) && status.code == http.StatusNotFound:
			d.reportNotice("the answer came too late: opencode's own dialog was answered, or taken back, before it")
		case err != nil:
			d.reportNotice("the answer did not arrive: %v", err)
		}
	})
}

// replyCall returns the call that answers a request.
func (o open) replyCall(id string, a chat.Answer) (path string, body any) {
	if !o.form {
		reply := map[string]any{"reply": "reject"}
		switch {
		case a.Verdict == chat.Once:
			reply["reply"] = "once"
		case a.Words != "":
			reply["message"] = a.Words
		}
		return "/permission/" + id + "/reply", reply
	}
	if a.Replies == nil {
		return "/question/" + id + "/reject", nil
	}
	answers := [][]string{}
	for _, q := range o.questions {
		answers = append(answers, a.Replies[q])
	}
	return "/question/" + id + "/reply", map[string]any{"answers": answers}
}

// Close is that of [chat.Driver]. It deletes a conversation that we opened and that is still empty.
func (d *Driver) Close() error {
	d.mu.Lock()
	made, started, session := d.made, d.started, d.session
	d.mu.Unlock()
	if made {
		ctx, cancel := context.WithTimeout(d.ctx, time.Second)
		_ = d.call(ctx, http.MethodDelete, "/session/"+session, nil, nil) // it is only tidier
		cancel()
	}
	d.program.Close()
	d.client.CloseIdleConnections()
	if started {
		<-d.over
	}
	return nil
}
