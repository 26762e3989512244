package observer

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/secretprompt"
	"terminalproxy/proxy/terminal/child"
)

// The line settings of programs.
var (
	cooked = child.Line{Canonical: true, Echo: true}
	noEcho = child.Line{Canonical: true}
	sudoRS = child.Line{EchoNewline: true}
	raw    = child.Line{}
)

// stage is an observer without its goroutine, and everything around it. The test plays the
// goroutine, the program, the session and the recorder.
type stage struct {
	*Observer
	testing.TB
	now     time.Time
	line    child.Line
	broken  bool
	gone    bool // the first shell
	front   int  // another program
	program string
	asks    int // after the program's name
	looks   int // at the program, of any kind
	blocked child.Blocked
	writes  atomic.Uint64
	edits   bool      // a known program edits a line
	newRow  bool      // the cursor is not behind text
	pressed time.Time // the last time a person typed
	keyed   secretprompt.Typed
	driven  bool
	asked   []prompt
	said    []protocol.Blackout
	mu      sync.Mutex
	frames  []protocol.Frame // published; under mu
	views   []protocol.Rows
	fed     string    // to the recorder
	due     time.Time // when the line is to be served, zero for never
	serves  []time.Time
	spent   int      // how often much memory was
	dark    []string // why nothing is recorded; "" while recording

	// Of a play: an agent that follows, the last answer, the waits that were met, and the revision
	// before the step.
	follower follower
	answer   any
	met      []string
	seen     uint64
}

func newStage(t testing.TB, cols, rows int) *stage {
	s := &stage{TB: t, now: time.Unix(1000, 0), line: cooked, program: "bash"}
	s.Observer = New(Config{
		Cols: cols, Rows: rows, Program: stagedProgram{s}, Recorder: s, Agents: &Agents{Session: stagedSession{s}, Scrollback: 1000},
	})
	return s
}

// newWatched is an observer without its goroutine, with an idle program and session.
func newWatched(cols, rows int) *Observer { return newStage(nil, cols, rows).Observer }

type stagedProgram struct{ s *stage }

func (p stagedProgram) Line() (child.Line, error) {
	p.s.looks++
	if p.s.broken {
		return child.Line{}, errors.New("no terminal")
	}
	return p.s.line, nil
}

func (p stagedProgram) ForegroundChain() []string          { p.s.asks++; return []string{p.s.program} }
func (p stagedProgram) Arguments() []string                { return []string{p.s.program} }
func (p stagedProgram) Foreground() string                 { return p.s.program }
func (p stagedProgram) ForegroundGroup() int               { return 7 + p.s.front }
func (p stagedProgram) IsGroupAlive(group int) bool        { return !p.s.gone || group != 7 }
func (p stagedProgram) CountWrites() (begun, ended uint64) { n := p.s.writes.Load(); return n, n }
func (p stagedProgram) CountUnread() int                   { return 0 }
func (p stagedProgram) IsOutputStopped() bool              { return false }
func (p stagedProgram) HasOutput() bool                    { return false }
func (p stagedProgram) CountQueued() (int, bool)           { return 0, false }

func (p stagedProgram) BlockedOn() (child.Blocked, bool) {
	p.s.looks++
	return p.s.blocked, p.s.blocked.Group != 0
}

type stagedSession struct{ s *stage }

func (o stagedSession) Keyboard() protocol.Keyboard {
	return protocol.Keyboard{Holder: protocol.HolderUser}
}
func (o stagedSession) SendRows(m *protocol.Rows)       { o.s.views = append(o.s.views, *m) }
func (o stagedSession) IsDriven() bool                  { return o.s.driven }
func (o stagedSession) TypedByUser() secretprompt.Typed { return o.s.keyed }
func (o stagedSession) IsUnattended() bool              { return false }
func (o stagedSession) IsResting() bool                 { return false }

func (o stagedSession) NoteOutput()          {}
func (o stagedSession) NoteMemoryUse()       { o.s.spent++ }
func (o stagedSession) NoteTitleChange()     {}
func (o stagedSession) SetMouseReports(bool) {}

func (o stagedSession) Publish(f *protocol.Frame, _ string) {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	o.s.frames = append(o.s.frames, *f)
}

func (o stagedSession) SendBlackout(on bool, why string, secret protocol.SecretPrompt) {
	o.s.said = append(o.s.said, protocol.Blackout{On: on, Why: why, Secret: secret})
}

func (o stagedSession) NoteSecretPrompt(kind protocol.SecretPrompt, dismissed bool) {
	o.s.asked = append(o.s.asked, prompt{kind, dismissed})
}

func (o stagedSession) Line() Line { return stagedLine(o) }

type stagedLine struct{ s *stage }

func (l stagedLine) NoteScreenChange(time.Time)   {}
func (l stagedLine) IsEditing(timed bool) bool    { return l.s.edits && !timed }
func (l stagedLine) IsBehindText() bool           { return !l.s.newRow }
func (l stagedLine) LastKeyTime() time.Time       { return l.s.pressed }
func (l stagedLine) NextServe() (time.Time, bool) { return l.s.due, !l.s.due.IsZero() }

func (l stagedLine) Serve(now time.Time) {
	if !l.s.due.IsZero() && !now.Before(l.s.due) {
		l.s.serves, l.s.due = append(l.s.serves, now), time.Time{}
	}
}

// RecordOutput implements Recorder, as does RecordBlackout.
func (s *stage) RecordOutput(p []byte) { s.fed += string(p) }

func (s *stage) RecordBlackout(_ bool, why string) { s.dark = append(s.dark, why) }

// print feeds the program's output, one read for each chunk.
func (s *stage) print(chunks ...string) {
	for _, chunk := range chunks {
		s.privacy.feedModel(s.now, []byte(chunk))
		s.NoteScreenChange(s.now)
	}
}

// typeKey types one of the user's keys, which the program answers.
func (s *stage) typeKey(answers ...string) {
	for _, answer := range answers {
		s.writes.Add(1)
		s.keyed.AddText([]byte("k"))
		s.print(answer)
	}
}

func (s *stage) passes(d time.Duration) {
	s.now = s.now.Add(d)
	s.privacy.checkPrompt(s.now)
}

// allVisible returns everything that an agent can read: frame, history, rolling text.
func (s *stage) allVisible() string {
	f := s.Frame(s.now)
	text := strings.Join(s.pastRows(0, s.model.HistoryLen()), "\n")
	s.addColours(f)
	plain := s.Frame(s.now)
	return strings.Join(append(append(f.Screen.Lines, plain.Screen.Lines...), text, s.rollingText()), "\n")
}
