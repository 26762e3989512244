// Package recording is what a session records: its output, who typed what under which grant, and what became of every input,
// with the screen before it. It must not know how a recording is written, which is package record's, nor who asks for it.
package recording

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/screen"
)

// closePatience is how long a session that is over waits for the disk. The user has the terminal back by then.
const closePatience = 2 * time.Second

// Observer owns the terminal model. Post may be called from any goroutine, everything else only in a function given to it.
type Observer interface {
	// Post has do run on the observer's goroutine; false says that this has ended.
	Post(do func(now time.Time)) bool
	Model() *screen.Screen
	// Frame is the screen as agents see it.
	Frame(now time.Time) *protocol.Frame
}

// Control decides who may type. Newest is its state after the pump's last turn; any goroutine may ask.
type Control interface{ Newest() control.State }

// Program names the program in the foreground, "" when nobody knows. Any goroutine may ask.
type Program interface{ Foreground() string }

// Config plugs a [Recording] into its session.
type Config struct {
	Session    record.Session // but for the name of its cast
	Title      string
	ReclaimKey keys.CtrlKey
	Observer   Observer
	Program    Program
	Control    Control // nil without agents
	// Index is the directory in which recordings are known, "" for none.
	Index string
	// Interrupted tells the user that the disk does not take the recording. It is called from any goroutine.
	Interrupted func(say string)
	Log         *slog.Logger
}

// Recording is the recording of a session. A nil one records nothing.
type Recording struct {
	*record.Recorder // nil before Begin
	conf             Config
	files            *record.Files

	mu    sync.Mutex
	names map[string]string // of agents by id, as they asked
}

// maxNames bounds the agents whose names are known.
const maxNames = 256

// Open opens the files that a session is recorded to; "" is for none.
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

// Discard removes the files of a session that did not come to be.
func (r *Recording) Discard() {
	if r != nil && r.Recorder == nil {
		r.files.Discard()
	}
}

// Begin begins to record. Nothing else but Discard may be called before.
func (r *Recording) Begin(c Config) {
	if r == nil {
		return
	}
	r.conf = c
	c.Session.Cast = filepath.Base(r.files.Name)
	r.Recorder = record.New(record.Config{
		Cast: r.files.Cast, Log: r.files.Log,
		Header: record.Header{
			Cols: c.Session.Cols, Rows: c.Session.Rows, Type: os.Getenv("TERM"), Command: commandLine(c.Session.Command, c.Session.Args), Title: c.Title,
		},
		Session: c.Session, Failed: r.failed,
		Room: func() { c.Observer.Post(func(time.Time) { r.resume() }) },
	})
	if err := r.note(c); err != nil {
		c.Log.Warn("the recording is not on the list of recordings", "file", r.files.Name, "error", err)
	}
}

// note makes the recording known to the user's other programs.
func (r *Recording) note(c Config) error {
	if c.Index == "" {
		return nil
	}
	file, err := filepath.Abs(r.files.Name)
	if err != nil {
		return err
	}
	return record.Note(c.Index, record.Known{File: file, Begin: r.Begun(), Session: c.Session})
}

// commandLine is a program with its arguments as one would type it to a shell.
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
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_./,:=@%+", c)
}

// Serve is the recorder's goroutine. It ends with End. A fault in it costs the recording and not the session.
func (r *Recording) Serve() {
	defer func() {
		if cause := recover(); cause != nil {
			r.conf.Log.Error("the recorder failed", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			r.failed(fmt.Errorf("a fault in the recorder: %v", cause))
		}
	}()
	_ = r.Run() // End tells
}

// failed tells the user that the disk does not take the recording.
func (r *Recording) failed(err error) {
	r.conf.Log.Error("record", "file", r.files.Name, "error", err)
	r.conf.Interrupted("the recording is interrupted, the session is not: " + notice.Clean(err.Error(), 100))
}

// Fed records what the model was fed. It runs on the observer's goroutine, where the model is what the recording has shown.
func (r *Recording) Fed(p []byte) {
	if r.Output(p) {
		r.resume()
	}
}

// resume goes on with what was interrupted, when the output is not in the middle of a sequence. It runs on the observer's
// goroutine.
func (r *Recording) resume() {
	if model := r.conf.Observer.Model(); model.Ground() {
		r.Resume(func() []byte { return model.AppendRedraw(nil) })
	}
}

// WindowResized notes the session's new size. It runs on the observer's goroutine.
func (r *Recording) WindowResized(cols, rows int) {
	if r != nil {
		r.Resized(cols, rows)
	}
}

// Typed notes that the user typed, or who else did from elsewhere: never what, nor how much.
func (r *Recording) Typed(by string) {
	if r != nil {
		r.UserTyped(notice.Clean(by, 64))
	}
}

// Listener notes the user's typing in a session that has no detector.
type Listener struct {
	recording *Recording
	scan      *keys.Scanner
}

// Listener is nil where nothing is recorded.
func (r *Recording) Listener() *Listener {
	if r == nil {
		return nil
	}
	return &Listener{r, keys.NewScanner(keys.Bindings{})}
}

// Heard notes what was read from the keyboard, except for what the terminal says by itself: that is not typed. An Escape key
// counts with the next one: an answer begins like it.
func (l *Listener) Heard(p []byte) {
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

// Requested records an agent's question, and err when it was refused at once. It runs on the pump's goroutine.
func (r *Recording) Requested(q control.Request, err error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	if len(r.names) >= maxNames {
		clear(r.names)
	}
	r.names[q.Agent.ID] = q.Agent.Name
	r.mu.Unlock()
	who := &record.Agent{ID: q.Agent.ID, Name: q.Agent.Name}
	r.Add(record.Entry{
		Kind: record.Request, Agent: who, Level: string(q.Level), Request: q.ID, Seconds: int64(q.For / time.Second), Why: q.Reason,
		Token: q.Agent.Token, Program: q.Program, Parent: q.Parent,
	})
	if err != nil {
		reason := protocol.CodeBusy
		if _, never := errors.AsType[*control.NeverError](err); never {
			reason = protocol.CodeUserRefused
		}
		r.Add(record.Entry{Kind: record.Refuse, Agent: who, Request: q.ID, Reason: string(reason), Why: err.Error()})
	}
}

// Changed records a change of control. note is the agent's own word as it gives the keyboard back. It runs on the pump's
// goroutine.
func (r *Recording) Changed(e control.Event, note string) {
	if r == nil {
		return
	}
	by := e.By
	if e.Policy || e.Rule != "" {
		by = e.Decider()
	}
	entry := record.Entry{
		Kind: record.End, Agent: &record.Agent{ID: e.Agent.ID, Name: e.Agent.Name}, Epoch: e.Epoch, Request: strings.Join(e.Requests, ","),
		Reason: string(e.Reason), Why: note, By: notice.Clean(by, 64), Dropped: e.Dropped, Unsubmitted: e.Unsubmitted,
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
	case len(e.Requests) > 0: // there was no grant yet
		entry.Kind, entry.Epoch = record.Refuse, 0
	}
	r.Add(entry)
}

// Said records what an agent wrote to the user, and Told what it was told.
func (r *Recording) Said(who control.Agent, text string) {
	if r != nil {
		r.Add(record.Entry{Kind: record.Said, Agent: &record.Agent{ID: who.ID, Name: who.Name}, Why: text})
	}
}

// Told is described with Said. by is "" for the user at the session's own terminal.
func (r *Recording) Told(who control.Agent, by, text string) {
	if r == nil {
		return
	}
	e := record.Entry{Kind: record.Told, By: by, Why: text}
	if who.ID != "" {
		e.Agent = &record.Agent{ID: who.ID, Name: who.Name}
	}
	r.Add(e)
}

// Talked records what somebody says in the conversation of a coding agent, before it is said: what is one of [record.Prompt],
// [record.Ask], [record.Answer] and [record.Halt]. Of from and by one says who.
func (r *Recording) Talked(what record.Kind, from control.Agent, by, request, text string) {
	if r == nil {
		return
	}
	e := record.Entry{Kind: what, By: by, Request: request, Text: text}
	if from.ID != "" {
		e.Agent = &record.Agent{ID: from.ID, Name: from.Name}
	}
	r.Add(e)
}

// Input follows one input of an agent's from its screen to its receipt. A nil one records nothing.
type Input struct {
	r     *Recording
	m     *protocol.Input
	epoch uint64 // 0: the agent has no grant and names none
	began time.Time
	bytes []byte                // that the program took
	sight atomic.Pointer[sight] // the observer looks while the pump may give the input up
}

// sight is what was on the screen before an input.
type sight struct {
	picture record.Picture
	rev     uint64
	program string
}

// Input begins to follow m.
func (r *Recording) Input(m *protocol.Input, epoch uint64) *Input {
	if r == nil {
		return nil
	}
	if st := r.conf.Control.Newest(); m.Epoch == 0 && (st.Phase != control.Granted || st.Agent.ID != m.AgentID) {
		epoch = 0
	}
	return &Input{r: r, m: m, epoch: epoch}
}

// Look keeps the screen as agents see it now. It runs on the observer's goroutine.
func (t *Input) Look(now time.Time) {
	if t == nil {
		return
	}
	f := t.r.conf.Observer.Frame(now)
	t.sight.Store(&sight{
		picture: record.Picture{
			Cols: f.Screen.Cols, Rows: f.Screen.Rows, Row: f.Screen.Cursor.Row, Col: f.Screen.Cursor.Col,
			Title: f.Screen.Title, Alt: f.Screen.Alt, Lines: f.Screen.Lines,
		},
		rev: f.Seq, program: t.r.conf.Program.Foreground(),
	})
}

// Wrote records what the program took. It runs on the pump's goroutine.
func (t *Input) Wrote(p []byte) {
	if t == nil {
		return
	}
	if t.began.IsZero() {
		t.began = time.Now()
	}
	t.bytes = append(t.bytes, p...)
	t.r.AgentInput(record.Author{Agent: t.name(), ID: t.m.AgentID, Grant: t.epoch, Request: t.m.RequestID}, p)
}

func (t *Input) name() string {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if name := t.r.names[t.m.AgentID]; name != "" {
		return name
	}
	return "agent"
}

// Done records what became of an input, as its receipt says. It runs on the pump's goroutine.
func (t *Input) Done(receipt *protocol.InputResult, does string, allowed bool) {
	if t == nil {
		return
	}
	e := record.Entry{
		Kind: record.Input, Agent: &record.Agent{ID: t.m.AgentID, Name: t.name()}, Epoch: t.epoch, Request: t.m.RequestID,
		Form: form(t.m), Bytes: t.bytes, Text: record.Readable(t.bytes), Written: receipt.WrittenBytes,
		Dropped: receipt.DroppedBytes, Fate: string(receipt.Status), Reason: string(receipt.Reason),
	}
	switch {
	case allowed && len(t.bytes) > 0:
		e.Why = "the user let it through"
	case t.r.holdsReclaimKey(t.bytes):
		e.Why = "with the reclaim key, for the program"
	}
	wanted := asked(t.m, does)
	if does != "" || string(t.bytes) != wanted {
		e.Asked = wanted
	}
	if !t.began.IsZero() {
		began := t.began.UTC().Truncate(time.Microsecond)
		e.Began = &began
	}
	if seen := t.sight.Load(); seen != nil {
		e.Picture, e.Rev, e.Program = &seen.picture, seen.rev, seen.program
	}
	if n := receipt.WrittenBytes; n < len(t.bytes) { // the program did not read the rest, which is Asked now
		e.Bytes, e.Asked = t.bytes[:n], wanted
		e.Text = record.Readable(e.Bytes)
	}
	t.r.Add(e)
}

// form is how an input was to be typed: the kinds of its parts.
func form(m *protocol.Input) string {
	var kinds []string
	for _, p := range m.All() {
		kinds = append(kinds, cmp.Or(string(p.InputKind), "raw"))
	}
	return strings.Join(kinds, ", then ")
}

// asked is what an agent sent: what the mouse does in words, names of keys, text.
func asked(m *protocol.Input, does string) string {
	var all []string
	for _, p := range m.All() {
		switch {
		case p.InputKind == protocol.InputMouse:
			all = append(all, does)
		case len(m.Parts) > 1 && p.InputKind != protocol.InputKeys:
			all = append(all, strconv.Quote(p.Data))
		default:
			all = append(all, p.Data)
		}
	}
	return strings.Join(all, ", then ")
}

// Flushed records that the last n bytes of an input which is recorded as typed were taken back from the program unread. It
// runs on the pump's goroutine.
func (t *Input) Flushed(written, n int, why protocol.Code) {
	if t == nil {
		return
	}
	t.r.Add(record.Entry{
		Kind: record.Flushed, Agent: &record.Agent{ID: t.m.AgentID, Name: t.name()}, Epoch: t.epoch, Request: t.m.RequestID,
		Written: written - n, Dropped: n, Reason: string(why),
	})
}

// holdsReclaimKey reports whether an agent typed the reclaim key, as one may under level drive.
func (r *Recording) holdsReclaimKey(typed []byte) (yes bool) {
	look := func(u keys.Unit) { yes = yes || u.Kind == keys.Reclaim }
	s := keys.NewScanner(keys.Bindings{Reclaim: r.conf.ReclaimKey})
	s.Scan(typed, look)
	s.Flush(look)
	return yes
}

// End ends the recording. All other parts have ended, the model is ours. The error says what is missing.
func (r *Recording) End(exit child.Exit) error {
	if r == nil {
		return nil
	}
	r.resume()
	r.Exited(exit.Code, exit.Signal)
	if err := r.Close(closePatience); err != nil {
		return fmt.Errorf("the recording %s is not complete: %w", strconv.Quote(r.files.Name), err)
	}
	return nil
}
