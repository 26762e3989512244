package proxy

import (
	"cmp"
	"fmt"
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
	"terminalproxy/proxy/overlay"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/requests"
)

// closePatience is how long a session that is over waits for the disk. The user has the terminal back by then.
const closePatience = 2 * time.Second

// recording plugs the recorder into the session. A nil one records nothing.
type recording struct {
	*record.Recorder // nil until the program runs
	s                *session
	files            *record.Files

	mu    sync.Mutex
	names map[string]string // of agents by id, as they asked
}

// maxNames bounds the agents whose names are known.
const maxNames = 256

// openRecording opens the files that the session is recorded to, if it is.
func (s *session) openRecording() error {
	if s.conf.Record == "" {
		return nil
	}
	files, err := record.OpenFiles(s.conf.Record)
	if err != nil {
		return &UserError{Status: 2, Say: "--record: " + err.Error(), Cause: err}
	}
	s.recording = &recording{s: s, files: files, names: make(map[string]string)}
	return nil
}

// discard removes the files of a session that did not come to be.
func (r *recording) discard() {
	if r != nil && r.Recorder == nil {
		r.files.Discard()
	}
}

// wireRecording begins to record.
func (s *session) wireRecording(cols, rows int, kbd *keyboard) {
	r := s.recording
	if r == nil {
		return
	}
	title := filepath.Base(s.conf.Command)
	if s.conf.Agent != nil {
		title = s.conf.Agent.Name
	}
	r.Recorder = record.New(record.Config{
		Cast: r.files.Cast, Log: r.files.Log,
		Header: record.Header{Cols: cols, Rows: rows, Type: os.Getenv("TERM"), Command: commandLine(s.conf.Command, s.conf.Args), Title: title},
		Session: record.Session{
			ID: s.id, Command: s.conf.Command, Args: s.conf.Args, Cwd: s.dir(), Cols: cols, Rows: rows, Cast: filepath.Base(r.files.Name),
		},
		Failed: r.failed,
		Room:   func() { s.observer.Post(func(time.Time) { r.resume() }) },
	})
	if s.conf.Agent == nil { // with agents, the detector has told the user's keys from what the terminal says
		kbd.heard = r.listener()
	}
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

// run is the recorder's goroutine. It ends with close. A fault in it costs the recording and not the session.
func (r *recording) run() {
	defer func() {
		if cause := recover(); cause != nil {
			r.s.log.Error("the recorder failed", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			r.failed(fmt.Errorf("a fault in the recorder: %v", cause))
		}
	}()
	_ = r.Run() // close tells
}

// failed tells the user that the disk does not take the recording.
func (r *recording) failed(err error) {
	r.s.log.Error("record", "file", r.files.Name, "error", err)
	if r.s.status != nil {
		r.s.status.Say("the recording is interrupted, the session is not: "+notice.Clean(err.Error(), 100), overlay.TroubleFor)
	}
}

// Fed records what the model was fed. It runs on the observer's goroutine, where the model is what the recording has shown.
func (r *recording) Fed(p []byte) {
	if r.Output(p) {
		r.resume()
	}
}

// resume goes on with what was interrupted, when the output is not in the middle of a sequence. It runs on the observer's
// goroutine.
func (r *recording) resume() {
	if model := r.s.observer.Model(); model.Ground() {
		r.Resume(func() []byte { return model.AppendRedraw(nil) })
	}
}

func (r *recording) resized(cols, rows int) {
	if r != nil {
		r.Resized(cols, rows)
	}
}

// typed notes that the user typed.
func (r *recording) typed() {
	if r != nil {
		r.UserTyped()
	}
}

// listener notes the user's typing in a session that has no detector: what the terminal says by itself is not typed.
func (r *recording) listener() func(p []byte) {
	scan := keys.NewScanner(keys.ReclaimKey{})
	look := func(u keys.Unit) {
		switch u.Kind {
		case keys.Reply, keys.Focus, keys.Motion, keys.Release:
		default:
			r.UserTyped()
		}
	}
	return func(p []byte) { scan.Scan(p, look) } // an Escape key counts with the next one: an answer begins like it
}

// Requested records an agent's question, and err when it was refused at once. It runs on the pump's goroutine.
func (r *recording) Requested(q control.Request, err error) {
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
	})
	if err != nil {
		r.Add(record.Entry{Kind: record.Refuse, Agent: who, Request: q.ID, Reason: string(protocol.CodeBusy), Why: err.Error()})
	}
}

// Changed records a change of control. note is the agent's own word as it gives the keyboard back. It runs on the pump's
// goroutine.
func (r *recording) Changed(e control.Event, dropped, unsubmitted int, note string) {
	if r == nil {
		return
	}
	entry := record.Entry{
		Kind: record.End, Agent: &record.Agent{ID: e.Agent.ID, Name: e.Agent.Name}, Epoch: e.Epoch, Request: strings.Join(e.Requests, ","),
		Reason: string(e.Reason), Why: note, By: notice.Clean(e.By, 64), Dropped: dropped, Unsubmitted: unsubmitted,
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
func (r *recording) Said(who control.Agent, text string) {
	if r != nil {
		r.Add(record.Entry{Kind: record.Said, Agent: &record.Agent{ID: who.ID, Name: who.Name}, Why: text})
	}
}

// Told is described with Said. by is "" for the user at the session's own terminal.
func (r *recording) Told(who control.Agent, by, text string) {
	if r == nil {
		return
	}
	e := record.Entry{Kind: record.Told, By: by, Why: text}
	if who.ID != "" {
		e.Agent = &record.Agent{ID: who.ID, Name: who.Name}
	}
	r.Add(e)
}

// typedInput follows one input of an agent's from its screen to its receipt. A nil one records nothing.
type typedInput struct {
	r     *recording
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
func (r *recording) Input(m *protocol.Input, epoch uint64) requests.Record {
	if r == nil {
		return (*typedInput)(nil)
	}
	if st := r.s.authority.Newest(); m.Epoch == 0 && (st.Phase != control.Granted || st.Agent.ID != m.AgentID) {
		epoch = 0
	}
	return &typedInput{r: r, m: m, epoch: epoch}
}

// Look keeps the screen as agents see it now. It runs on the observer's goroutine.
func (t *typedInput) Look(now time.Time) {
	if t == nil {
		return
	}
	f := t.r.s.observer.Frame(now)
	t.sight.Store(&sight{
		picture: record.Picture{
			Cols: f.Screen.Cols, Rows: f.Screen.Rows, Row: f.Screen.Cursor.Row, Col: f.Screen.Cursor.Col,
			Title: f.Screen.Title, Alt: f.Screen.Alt, Lines: f.Screen.Lines,
		},
		rev: f.Seq, program: t.r.s.child.Foreground(),
	})
}

// Wrote records what the program took. It runs on the pump's goroutine.
func (t *typedInput) Wrote(p []byte) {
	if t == nil {
		return
	}
	if t.began.IsZero() {
		t.began = time.Now()
	}
	t.bytes = append(t.bytes, p...)
	t.r.AgentInput(record.Author{Agent: t.name(), ID: t.m.AgentID, Grant: t.epoch, Request: t.m.RequestID}, p)
}

func (t *typedInput) name() string {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if name := t.r.names[t.m.AgentID]; name != "" {
		return name
	}
	return "agent"
}

// Done records what became of an input, as its receipt says. It runs on the pump's goroutine.
func (t *typedInput) Done(receipt *protocol.InputResult, does string, allowed bool) {
	if t == nil {
		return
	}
	e := record.Entry{
		Kind: record.Input, Agent: &record.Agent{ID: t.m.AgentID, Name: t.name()}, Epoch: t.epoch, Request: t.m.RequestID,
		Form: cmp.Or(string(t.m.InputKind), "raw"), Bytes: t.bytes, Text: record.Readable(t.bytes), Written: receipt.WrittenBytes,
		Dropped: receipt.DroppedBytes, Fate: string(receipt.Status), Reason: string(receipt.Reason),
	}
	switch {
	case allowed && len(t.bytes) > 0:
		e.Why = "the user let it through"
	case t.r.holdsReclaimKey(t.bytes):
		e.Why = "with the reclaim key, for the program"
	}
	switch {
	case t.m.InputKind == protocol.InputMouse:
		e.Asked = cmp.Or(does, requests.Wished(t.m))
	case string(t.bytes) != t.m.Data:
		e.Asked = t.m.Data
	}
	if !t.began.IsZero() {
		began := t.began.UTC().Truncate(time.Microsecond)
		e.Began = &began
	}
	if seen := t.sight.Load(); seen != nil {
		e.Picture, e.Rev, e.Program = &seen.picture, seen.rev, seen.program
	}
	if n := receipt.WrittenBytes; n < len(t.bytes) { // the program did not read the rest, which is Asked now
		e.Bytes, e.Asked = t.bytes[:n], cmp.Or(e.Asked, t.m.Data)
		e.Text = record.Readable(e.Bytes)
	}
	t.r.Add(e)
}

// Flushed records that the last n bytes of an input which is recorded as typed were taken back from the program unread. It
// runs on the pump's goroutine.
func (t *typedInput) Flushed(written, n int, why protocol.Code) {
	if t == nil {
		return
	}
	t.r.Add(record.Entry{
		Kind: record.Flushed, Agent: &record.Agent{ID: t.m.AgentID, Name: t.name()}, Epoch: t.epoch, Request: t.m.RequestID,
		Written: written - n, Dropped: n, Reason: string(why),
	})
}

// holdsReclaimKey reports whether an agent typed the reclaim key, as one may under level drive.
func (r *recording) holdsReclaimKey(typed []byte) (yes bool) {
	look := func(u keys.Unit) { yes = yes || u.Kind == keys.Reclaim }
	s := keys.NewScanner(r.s.reclaimKey)
	s.Scan(typed, look)
	s.Flush(look)
	return yes
}

// close ends the recording. All other parts have ended, the model is ours. The error says what is missing.
func (r *recording) close(exit child.Exit) error {
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
