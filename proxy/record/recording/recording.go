// Package recording records a session: its output, who typed what under which grant, and the result
// of every input with the screen before it. It must not know how a recording is written, which
// package record does, nor who asks for it.
package recording

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/desk"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/screen"
)

// closePatience is how long an ended session waits for the disk. The user has the terminal back by
// then.
const closePatience = 2 * time.Second

// Observer owns the terminal model. Post is safe for concurrent use; all other methods run in a
// function given to it.
type Observer interface {
	// Post runs do on the observer's goroutine; false means that this has ended.
	Post(do func(now time.Time)) bool
	Model() *screen.Screen
	// Frame returns the screen as agents see it.
	Frame(now time.Time) *protocol.Frame
}

// Control decides who may type. NewestState returns its state after the pump's last turn; it is
// safe for concurrent use.
type Control interface{ NewestState() control.State }

// Program returns the name of the foreground program, or "". It is safe for concurrent use.
type Program interface{ Foreground() string }

// Config holds the session's parts for a [Recording].
type Config struct {
	Session    record.Session // without the name of its cast
	Title      string
	ReclaimKey keys.CtrlKey
	Observer   Observer
	Program    Program
	Control    Control // nil without agents
	// Index is the directory that lists recordings, or "".
	Index string
	// Interrupted tells the user that the disk does not take the recording. It is called on any
	// goroutine.
	Interrupted func(message string)
	Log         *slog.Logger
}

// Recording is the recording of a session. A nil one records nothing.
type Recording struct {
	*record.Recorder // nil before StartRecording
	conf             Config
	files            *record.Files

	mu    sync.Mutex
	names map[string]string // of agents by id, as of their requests
}

// maxNames bounds the remembered names.
const maxNames = 256

// Open opens the files for the recording of a session. The name "" means that it is not recorded.
func Open(name string) (*Recording, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // a nil recording records nothing
	}
	files, err := record.OpenFiles(name)
	if err != nil {
		return nil, err
	}
	return &Recording{files: files, names: make(map[string]string)}, nil
}

// Discard removes the files of a session that did not start.
func (r *Recording) Discard() {
	if r != nil && r.Recorder == nil {
		r.files.Discard()
	}
}

// StartRecording starts the recording. Only Discard may be called before it.
func (r *Recording) StartRecording(c Config) {
	if r == nil {
		return
	}
	r.conf = c
	c.Session.Cast = filepath.Base(r.files.Name)
	r.Recorder = record.New(record.Config{
		Cast: r.files.Cast, Log: r.files.Log,
		Header: record.Header{
			Cols:    c.Session.Cols,
			Rows:    c.Session.Rows,
			Type:    os.Getenv("TERM"),
			Command: commandLine(c.Session.Command, c.Session.Args),
			Title:   c.Title,
		},
		Session: c.Session, Failed: r.reportFailure,
		Room: func() { c.Observer.Post(func(time.Time) { r.resumeIfAtGround() }) },
	})
	if err := r.addToIndex(c); err != nil {
		c.Log.Warn("the recording is not on the list of recordings",
			"file", r.files.Name,
			"error", err,
		)
	}
}

// addToIndex lists the recording for the user's other programs.
func (r *Recording) addToIndex(c Config) error {
	if c.Index == "" {
		return nil
	}
	file, err := filepath.Abs(r.files.Name)
	if err != nil {
		return err
	}
	return record.RegisterRecording(c.Index, record.Known{
		File:    file,
		Begin:   r.BeginTime(),
		Session: c.Session,
	})
}

// commandLine returns a program with its arguments as typed in a shell.
func commandLine(command string, args []string) string {
	words := make([]string, 0, 1+len(args))
	for _, w := range append([]string{command}, args...) {
		if w == "" || strings.ContainsFunc(w, func(c rune) bool { return !plainInShell(c) }) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func plainInShell(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.ContainsRune("-_./,:=@%+", c)
}

// Serve runs the recorder until EndRecording. A fault in it costs the recording and not the
// session.
func (r *Recording) Serve() {
	defer func() {
		if cause := recover(); cause != nil {
			r.conf.Log.Error("the recorder failed",
				"cause", fmt.Sprint(cause),
				"stack", string(debug.Stack()),
			)
			r.reportFailure(fmt.Errorf("a fault in the recorder: %v", cause))
		}
	}()
	_ = r.Run() // EndRecording reports its error
}

// reportFailure tells the user that the disk does not take the recording.
func (r *Recording) reportFailure(err error) {
	r.conf.Log.Error("record", "file", r.files.Name, "error", err)
	r.conf.Interrupted(
		"the recording is interrupted, the session is not: " + notice.Clean(err.Error(), 100),
	)
}

// RecordOutput records what the model was fed. It runs on the observer's goroutine, when the model
// equals the recorded screen.
func (r *Recording) RecordOutput(p []byte) {
	if r.WriteOutput(p) {
		r.resumeIfAtGround()
	}
}

// resumeIfAtGround resumes an interrupted recording, unless the output is within a sequence. It
// runs on the observer's goroutine.
func (r *Recording) resumeIfAtGround() {
	if model := r.conf.Observer.Model(); model.IsAtGround() {
		r.ResumeOutput(func() []byte { return model.AppendRedraw(nil) })
	}
}

// WindowResized notes the session's new size. It runs on the observer's goroutine.
func (r *Recording) WindowResized(cols, rows int) {
	if r != nil {
		r.RecordResize(cols, rows)
	}
}

// RecordTyped notes that the user typed, or the person by from elsewhere: never what, nor how much.
func (r *Recording) RecordTyped(by string) {
	if r != nil {
		r.UserTyped(notice.Clean(by, 64))
	}
}

// Listener notes the user's typing in a session without a detector.
type Listener struct {
	recording *Recording
	scan      *keys.Scanner
}

// Listener returns nil if the session is not recorded.
func (r *Recording) Listener() *Listener {
	if r == nil {
		return nil
	}
	return &Listener{r, keys.NewScanner(keys.Bindings{})}
}

// RecordKeyboard notes input from the keyboard, except what the terminal sends by itself. An Escape
// key counts with the next key, because a terminal's answer begins like it.
func (l *Listener) RecordKeyboard(p []byte) {
	if l == nil {
		return
	}
	l.scan.Scan(p, func(u keys.Unit) {
		switch u.Kind {
		case keys.Reply, keys.Focus, keys.Motion, keys.Release:
		default:
			l.recording.UserTyped("")
		}
	})
}

// RecordRequest records an agent's request for control, and err if it was refused at once. It runs
// on the pump's goroutine.
func (r *Recording) RecordRequest(q control.Request, err error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	if len(r.names) >= maxNames {
		clear(r.names)
	}
	r.names[q.Agent.ID] = q.Agent.Name
	r.mu.Unlock()
	agent := &record.Agent{ID: q.Agent.ID, Name: q.Agent.Name}
	r.AddEntry(record.Entry{
		Kind:    record.Request,
		Agent:   agent,
		Level:   string(q.Level),
		Request: q.ID,
		Seconds: int64(q.For / time.Second),
		Why:     q.Reason,
		Token:   q.Agent.Token,
		Program: q.Program,
		Parent:  q.Parent,
	})
	if err != nil {
		reason := protocol.CodeBusy
		if _, never := errors.AsType[*control.NeverError](err); never {
			reason = protocol.CodeUserRefused
		}
		r.AddEntry(record.Entry{
			Kind:    record.Refuse,
			Agent:   agent,
			Request: q.ID,
			Reason:  string(reason),
			Why:     err.Error(),
		})
	}
}

// RecordControl records a change of control. note is the agent's message as it gives the keyboard
// back. It runs on the pump's goroutine.
func (r *Recording) RecordControl(e control.Event, note string) {
	if r == nil {
		return
	}
	by := e.By
	if e.Policy || e.Rule != "" {
		by = e.Decider()
	}
	entry := record.Entry{
		Kind:        record.End,
		Agent:       &record.Agent{ID: e.Agent.ID, Name: e.Agent.Name},
		Epoch:       e.Epoch,
		Request:     strings.Join(e.Requests, ","),
		Reason:      string(e.Reason),
		Why:         note,
		By:          notice.Clean(by, 64),
		Dropped:     e.Dropped,
		Unsubmitted: e.Unsubmitted,
	}
	if e.Withdrawn {
		entry.Reason = string(protocol.CodeWithdrawn)
	}
	switch {
	case e.Granted:
		entry.Kind, entry.Level = record.Grant, string(e.Level)
		if !e.Until.IsZero() {
			until := e.Until.UTC()
			entry.Until = &until
		}
	case len(e.Requests) > 0: // the request never became a grant
		entry.Kind, entry.Epoch = record.Refuse, 0
	}
	r.AddEntry(entry)
}

// RecordAgentMessage records an agent's message to the user, and RecordUserMessage one to an agent.
func (r *Recording) RecordAgentMessage(agent control.Agent, text string) {
	if r != nil {
		r.AddEntry(record.Entry{
			Kind:  record.Said,
			Agent: &record.Agent{ID: agent.ID, Name: agent.Name},
			Why:   text,
		})
	}
}

// RecordUserMessage is described at RecordAgentMessage. by is "" for the user at the session's own
// terminal.
func (r *Recording) RecordUserMessage(agent control.Agent, by, text string) {
	if r == nil {
		return
	}
	e := record.Entry{Kind: record.Told, By: by, Why: text}
	if agent.ID != "" {
		e.Agent = &record.Agent{ID: agent.ID, Name: agent.Name}
	}
	r.AddEntry(e)
}

// RecordSecret records what became of a program's question for a secret. It may be called on any
// goroutine.
func (r *Recording) RecordSecret(o desk.Outcome) {
	if r == nil {
		return
	}
	e := record.Entry{
		Kind: record.Secret, Program: o.Program, Asked: o.Command, Text: o.Prompt, Fate: o.Fate, By: o.By,
		Parent: strings.Join(o.Chain, " "), Seconds: int64(o.Took / time.Second),
	}
	if o.Agent != "" {
		e.Agent = &record.Agent{Name: o.Agent}
	}
	r.AddEntry(e)
}

// RecordPrompt records words in the conversation of a coding agent before they are said: kind is
// one of [record.Prompt], [record.Ask], [record.Answer] and [record.Halt]. The speaker is either
// from or by.
func (r *Recording) RecordPrompt(kind record.Kind, from control.Agent, by, request, text string) {
	if r == nil {
		return
	}
	e := record.Entry{Kind: kind, By: by, Request: request, Text: text}
	if from.ID != "" {
		e.Agent = &record.Agent{ID: from.ID, Name: from.Name}
	}
	r.AddEntry(e)
}

// EndRecording ends the recording, after all other parts have ended: it uses the model. The error
// says that the recording is incomplete.
func (r *Recording) EndRecording(exit child.Exit) error {
	if r == nil {
		return nil
	}
	r.resumeIfAtGround()
	r.RecordExit(exit.Code, exit.Signal)
	if err := r.Close(closePatience); err != nil {
		return fmt.Errorf("the recording %s is not complete: %w", strconv.Quote(r.files.Name), err)
	}
	return nil
}
