// Package attach is for the people who attach, from elsewhere, to a session without a user's
// terminal. It keeps whose terminal gives the session its size, has their keys typed, and sends the
// live output to those who watch. It must not know agents, nor how a message gets here.
package attach

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/screen"
)

// leastCols and leastRows bound what a person's terminal makes of a session, in cells: bash ends
// with SIGFPE on 2 columns. A smaller terminal shows a part.
const (
	leastCols = 20
	leastRows = 5
)

// Terminal is what the session has in place of a user's terminal. It never waits.
type Terminal interface {
	// Size is the session's in cells, and SetSize changes it.
	Size() (cols, rows int, err error)
	SetSize(cols, rows int)
	// SetWatched says whether a person watches: there is output only then.
	SetWatched(yes bool)
}

// Pump reads the keyboard and alone writes to the program.
type Pump interface {
	// Post has do run on the pump's goroutine; false says that the program has ended.
	Post(do func(now time.Time)) bool
	// TypeKeys takes what a person typed as if it came from a keyboard here; false says that more
	// than a person types is waiting for the program. It belongs to the pump's goroutine.
	TypeKeys(now time.Time, p []byte) bool
}

// Control decides who may type. It belongs to the pump's goroutine.
type Control interface {
	State(now time.Time) control.State
	// SetAttached says whether anybody is attached who can be asked.
	SetAttached(now time.Time, anybody bool)
	// NoteKey says that a person typed.
	NoteKey(now time.Time)
}

// Copier carries the program's output to those who watch. Its methods may be called from any
// goroutine.
type Copier interface {
	// Repaint has what the proxy shows drawn again, and tries the whole screen again where it is
	// due; ResendScreen has the whole screen sent.
	Repaint()
	ResendScreen()
	// NoteCaughtUp says that the terminal model has, so that what could not be made of it can be.
	NoteCaughtUp()
}

// Model is the way to the terminal model. It may be called from any goroutine but the model's own.
type Model interface {
	// TryCall has do run on the model's goroutine and waits for it, but for at most limit. When
	// that has passed do is not run any more, unless it has begun; then late is called there when
	// do would have been. over says that this goroutine has ended.
	TryCall(limit time.Duration, do func(now time.Time), late func()) (ran, over bool)
	// Model is the terminal model, for use within TryCall.
	Model() *screen.Screen
}

// Title is the window's title. RedrawTitle has it written again; it is called within
// [Model.TryCall].
type Title interface{ RedrawTitle() }

// Remarks tells an attached person something. It never waits.
type Remarks interface {
	// ShowDrivingAgent tells who has just attached that an agent drives.
	ShowDrivingAgent(agent string)
}

// Link is the way to the people. It never waits.
type Link interface {
	Send(m protocol.Message)
	// SendLive sends output, which may be left out where the way is too slow.
	SendLive(m *protocol.Output)
}

// Host wants to know how many people are attached.
type Host interface{ SetAttached(n int) }

// Config plugs [Clients] into a session.
type Config struct {
	SessionID string
	Terminal  Terminal
	Pump      Pump
	Control   Control
	Copier    Copier
	Model     Model
	Title     Title
	Remarks   Remarks
	Link      Link
	Host      Host
}

// client is the terminal of an attached person.
type client struct {
	cols, rows int
	turn       uint64 // grows with everything that people do
}

// Clients are the people attached to a session. Its fields belong to the pump's goroutine.
type Clients struct {
	Config
	Output  Output
	clients map[string]*client // by viewer
	turns   uint64             // counts what people did
	typist  string             // whose keys are being read
}

// New makes the clients of a session without attached people.
func New(c Config) *Clients {
	a := &Clients{Config: c, clients: make(map[string]*client)}
	a.Output.Config = &a.Config
	return a
}

// Handle does what a message from an attached person says; false says that it comes too late for
// its request, since the program has ended. It may be called from any goroutine and does not wait.
func (a *Clients) Handle(m protocol.Message) (ok bool) {
	switch m := m.(type) {
	case *protocol.Watch:
		a.Terminal.SetWatched(true)
		a.Copier.ResendScreen()
	case *protocol.Unwatch:
		a.Terminal.SetWatched(false)
	case *protocol.Attach:
		return a.Pump.Post(func(now time.Time) { a.addClient(now, m) })
	case *protocol.Detach:
		a.Pump.Post(func(now time.Time) { a.removeClient(now, m.ViewerID) })
	case *protocol.ViewerInput:
		a.Pump.Post(func(now time.Time) { a.typeInput(now, m) })
	}
	return true
}

// addClient adds a person, or notes the new size of their terminal. It and the following run on the
// pump's goroutine.
func (a *Clients) addClient(now time.Time, m *protocol.Attach) {
	_, known := a.clients[m.ViewerID]
	a.clients[m.ViewerID] = &client{cols: max(m.Cols, leastCols), rows: max(m.Rows, leastRows)}
	a.Host.SetAttached(len(a.clients))
	a.Control.SetAttached(now, true)
	a.turnTo(m.ViewerID)
	if st := a.Control.State(now); !known && st.Phase == control.Granted {
		a.Remarks.ShowDrivingAgent(st.Agent.Name)
	}
	a.Link.Send(&protocol.Done{RequestID: m.RequestID})
}

// removeClient lets a person go. The others then have the size of the terminal of the one who acted
// last.
func (a *Clients) removeClient(now time.Time, viewer string) {
	delete(a.clients, viewer)
	a.Host.SetAttached(len(a.clients))
	if len(a.clients) == 0 {
		a.Control.SetAttached(now, false)
		return
	}
	var last *client
	for _, c := range a.clients {
		if last == nil || c.turn > last.turn {
			last = c
		}
	}
	a.fitSession(last)
}

// DetachAll lets everybody go: the way to them is lost. Those still there attach again. It belongs
// to the pump's goroutine.
func (a *Clients) DetachAll(now time.Time) {
	a.Terminal.SetWatched(false)
	clear(a.clients)
	a.Host.SetAttached(0)
	a.Control.SetAttached(now, false)
}

// NoteActivity says that the keys that are being read do something, unlike what a terminal says by
// itself. It belongs to the pump's goroutine, within [Pump.TypeKeys].
func (a *Clients) NoteActivity() { a.turnTo(a.typist) }

// turnTo gives the session the size of the terminal of a person who does something: what they do,
// they see whole.
func (a *Clients) turnTo(viewer string) {
	c := a.clients[viewer]
	if c == nil {
		return
	}
	a.turns++
	c.turn = a.turns
	a.fitSession(c)
}

// fitSession gives the session the size of a person's terminal.
func (a *Clients) fitSession(c *client) {
	if cols, rows, err := a.Terminal.Size(); err == nil && cols == c.cols && rows == c.rows {
		return
	}
	a.Terminal.SetSize(c.cols, c.rows)
}

// typeInput types the keys of a person, as if they came from a keyboard here.
func (a *Clients) typeInput(now time.Time, m *protocol.ViewerInput) {
	switch {
	case a.clients[m.ViewerID] == nil:
	case isDetachKey(m.DataB64) && a.Control.State(now).Question.Kind == question.Menu:
		a.Control.NoteKey(now) // the menu is answered
		a.removeClient(now, m.ViewerID)
		// when it is known that the menu is closed
		a.Pump.Post(func(time.Time) { a.Output.queueDetach(m.ViewerID) })
	default:
		a.typist = m.ViewerID
		a.Pump.TypeKeys(now, m.DataB64)
		a.typist = ""
	}
}

// isDetachKey reports whether a person pressed the key that detaches, in the menu: d.
func isDetachKey(typed []byte) bool {
	letter, ok := keys.Letter(typed)
	return ok && letter == 'd'
}
