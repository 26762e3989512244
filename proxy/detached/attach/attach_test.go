package attach

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/terminal/screen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ledger is a session whose parts write their calls into one list. Posted functions run at once.
type ledger struct {
	busy       bool       // the model is
	mu         sync.Mutex // a timer tries a repaint again
	lines      []string
	state      control.State
	cols, rows int
	over       bool
	clients    *Clients
	model      *screen.Screen
	output     []*protocol.Output
	reports    bool // the input is what a terminal sends by itself
}

func newLedger() *ledger {
	l := &ledger{cols: 80, rows: 24, model: screen.New(screen.Config{Cols: 80, Rows: 24})}
	l.clients = New(Config{SessionID: "sh-1", Terminal: l, Pump: l, Control: l, Copier: l, Model: l, Title: l, Remarks: remarks{l}, Link: l, Host: host{l}})
	return l
}

func (l *ledger) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// took returns the calls since the last time.
func (l *ledger) took() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func (l *ledger) Size() (cols, rows int, err error) { return l.cols, l.rows, nil }
func (l *ledger) SetSize(cols, rows int) {
	l.cols, l.rows = cols, rows
	l.note("size %dx%d", cols, rows)
}
func (l *ledger) SetWatched(yes bool) { l.note("look %v", yes) }

func (l *ledger) Post(do func(time.Time)) bool {
	if !l.over {
		do(time.Now())
	}
	return !l.over
}

func (l *ledger) TypeKeys(_ time.Time, p []byte) bool {
	if !l.reports {
		l.clients.NoteActivity()
	}
	l.note("type %s", p)
	return true
}

func (l *ledger) State(time.Time) control.State         { return l.state }
func (l *ledger) SetAttached(_ time.Time, anybody bool) { l.note("attached %v", anybody) }
func (l *ledger) NoteKey(time.Time)                     { l.note("key"); l.state.Question.Kind = question.None }
func (l *ledger) Repaint()                              { l.note("repaint") }
func (l *ledger) ResendScreen()                         { l.note("renew") }
func (l *ledger) NoteCaughtUp()                         { l.note("caught up") }
func (l *ledger) Model() *screen.Screen                 { return l.model }
func (l *ledger) RedrawTitle()                          { l.note("title") }
func (l *ledger) SendLive(m *protocol.Output)           { l.output = append(l.output, m) }

func (l *ledger) Send(m protocol.Message) {
	switch m := m.(type) {
	case *protocol.Done:
		l.note("done %s", m.RequestID)
	case *protocol.Detach:
		l.note("detached %s", m.ViewerID)
	default:
		l.note("%T", m)
	}
}

func (l *ledger) TryCall(_ time.Duration, do func(time.Time), late func()) (ran, over bool) {
	if l.busy {
		late()
		return false, false
	}
	ran = l.Post(do)
	return ran, !ran
}

type remarks struct{ *ledger }

func (r remarks) ShowDrivingAgent(agent string) { r.note("%s drives", agent) }

type host struct{ *ledger }

func (h host) SetAttached(n int) { h.note("%d attached", n) }

func (l *ledger) attach(viewer string, cols, rows int) bool {
	return l.clients.Handle(&protocol.Attach{RequestID: viewer, ViewerID: viewer, Cols: cols, Rows: rows})
}

func (l *ledger) types(viewer, typed string) {
	l.clients.Handle(&protocol.ViewerInput{ViewerID: viewer, DataB64: []byte(typed)})
}

func TestAPersonAttachesAndDetaches(t *testing.T) {
	l := newLedger()
	l.types("v-1", "nobody's")
	require.Empty(t, l.took())
	l.state = control.State{Phase: control.Granted, Agent: control.Agent{Name: "claude"}}
	require.True(t, l.attach("v-1", 90, 30))
	require.Equal(t, []string{"1 attached", "attached true", "size 90x30", "claude drives", "done v-1"}, l.took())
	l.attach("v-1", 1, 1) // a program may not handle less
	require.Equal(t, []string{"1 attached", "attached true", "size 20x5", "done v-1"}, l.took(), "told once")
	l.clients.Handle(&protocol.Detach{ViewerID: "v-1"})
	require.Equal(t, []string{"0 attached", "attached false"}, l.took())
	l.types("v-1", "gone")
	require.Empty(t, l.took())
	l.over = true
	require.False(t, l.attach("v-1", 90, 30), "the program has ended")
}

// The size stays with the last viewer who detaches, and with one whose terminal has it already.
func TestTheSizeStays(t *testing.T) {
	l := newLedger()
	l.attach("v-1", 90, 30)
	l.attach("v-2", 60, 20)
	l.took()
	l.types("v-2", "a")
	require.Equal(t, []string{"type a"}, l.took())
	l.reports = true
	l.types("v-1", "report")
	require.Equal(t, []string{"type report"}, l.took())
	l.reports = false
	l.types("v-1", "b")
	require.Equal(t, []string{"size 90x30", "type b"}, l.took())
	l.clients.Handle(&protocol.Detach{ViewerID: "v-2"})
	require.Equal(t, []string{"1 attached"}, l.took())
	l.clients.DetachAll(time.Now())
	require.Equal(t, []string{"look false", "0 attached", "attached false"}, l.took())
	l.types("v-1", "c")
	require.Empty(t, l.took())
}

// The key lets a viewer leave when the menu is off their screen.
func TestTheKeyThatDetaches(t *testing.T) {
	l := newLedger()
	l.attach("v-1", 80, 24)
	l.took()
	l.types("v-1", "d")
	require.Equal(t, []string{"type d"}, l.took(), "without the menu it is the program's")
	l.state.Question.Kind = question.Menu
	l.types("v-1", "d")
	require.Equal(t, []string{"key", "0 attached", "attached false", "repaint"}, l.took())
	l.clients.Output.NoteDrawn()
	require.Equal(t, []string{"detached v-1"}, l.took())
	l.clients.Output.NoteDrawn()
	require.Empty(t, l.took())
	for keys, want := range map[string]bool{
		"d": true, "\x1b[100u": true, "\x1b[100;1u": true, "dd": false, "": false, "\x1b[100;5u": false,
	} {
		require.Equal(t, want, isDetachKey([]byte(keys)), "%q", keys)
	}
}

// The stream continues where the repaint ends, in the same count.
func TestARepaintIsPartOfTheStream(t *testing.T) {
	l := newLedger()
	l.model.Resize(150, 120)
	l.model.Feed(bytes.Repeat([]byte("\x1b[38;2;101;102;103mx\x1b[38;2;104;105;106my"), 75*119))
	l.clients.Output.Write([]byte("abc"))
	require.True(t, l.clients.Output.Repaint())
	l.clients.Output.Write([]byte("def"))
	require.Greater(t, len(l.output), 3, "in pieces")
	var all []byte
	at := uint64(3)
	for i, m := range l.output[1:] {
		require.Equal(t, i == 0, m.Repaint)
		require.Equal(t, at, m.Seq)
		require.LessOrEqual(t, len(m.DataB64), repaintPiece)
		all = append(all, m.DataB64...)
		if !m.Repaint {
			at += uint64(len(m.DataB64))
		}
	}
	require.Equal(t, string(l.model.AppendRedraw(nil))+"def", string(all))
	require.Equal(t, []int{150, 120}, []int{l.output[1].Cols, l.output[1].Rows})
}

// A repaint waits for the end of a sequence, but not for ever.
func TestARepaintWaitsForTheEndOfASequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.model.Feed([]byte("\x1b[3"))
		require.False(t, l.clients.Output.Repaint())
		require.Empty(t, l.output)
		l.took()
		time.Sleep(groundPatience)
		synctest.Wait()
		require.Equal(t, []string{"repaint"}, l.took(), "it is tried again")
		require.True(t, l.clients.Output.Repaint())
		require.Len(t, l.output, 1)
		l.over = true // the model has ended
		require.True(t, l.clients.Output.Repaint())
		require.Len(t, l.output, 1)
		time.Sleep(groundPatience)
	})
}

// A repaint that finds the model behind is made when the model has caught up.
func TestARepaintDoesNotWaitForTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.busy = true
		require.False(t, l.clients.Output.Repaint())
		require.Empty(t, l.output)
		require.Contains(t, l.took(), "caught up")
		l.busy = false
		require.True(t, l.clients.Output.Repaint())
		require.Len(t, l.output, 1)
		time.Sleep(groundPatience)
	})
}
