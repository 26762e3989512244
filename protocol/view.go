package protocol

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// View asks for the rows of a session's screen as they change, for a viewer: [Rows], of which each
// is acknowledged with [Ack] before the next one comes. Unview ends that. A gateway passes both on
// without a request.
type View struct {
	RequestID string `json:"requestId,omitempty"`
	SessionID string `json:"sessionId"`
	// EveryMs is the fastest rhythm wanted; 0 is the proxy's own.
	EveryMs int64 `json:"everyMs,omitempty"`
	// Agents is a gateway's word to a proxy: agents look, and no person. It sends another View when
	// that changes.
	Agents bool `json:"agents,omitempty"`
}

// Unview ends what [View] began.
type Unview struct {
	SessionID string `json:"sessionId"`
}

// Ack says that the rows with that number were shown, or at least read: the next ones may come.
type Ack struct {
	SessionID string `json:"sessionId"`
	Seq       uint64 `json:"seq"`
}

// Rows is the screen for a viewer. Its rows carry SGR sequences and no others; what is kept from
// agents is kept from viewers.
type Rows struct {
	SessionID string `json:"sessionId"`
	// Seq is the number of this message: the proxy counts them from 1. Rev is the revision of the
	// screen.
	Seq uint64 `json:"seq"`
	Rev uint64 `json:"rev"`
	// Cols and Rows are the size of the screen in cells.
	Cols   int    `json:"cols"`
	Rows   int    `json:"rows"`
	Cursor Cursor `json:"cursor"`
	// Line is the number that the first row of the main screen will have in the history.
	Line uint64 `json:"line,omitempty"`
	// Lines are all rows, without blank ones at the end. Where Since is not 0 the message says
	// instead what changed since the one with that number: the rows moved up by Moved, down if it
	// is negative, and then Changed took the place of some.
	Lines   []string `json:"lines,omitempty"`
	Since   uint64   `json:"since,omitempty"`
	Moved   int      `json:"moved,omitempty"`
	Changed []Row    `json:"changed,omitempty"`
	// State is left out where it is that of Since.
	State *ViewState `json:"state,omitempty"`

	shared *frame // made once for all who get this message; nil for a message to one
}

// ViewState is what there is to know of a screen beside its rows.
type ViewState struct {
	Title   string  `json:"title,omitempty"`
	Alt     bool    `json:"alt,omitempty"`
	Palette []Color `json:"palette,omitempty"`
	// Clusters says that grapheme clusters decide on columns (mode 2027), and not each character by
	// itself.
	Clusters bool `json:"clusters,omitempty"`
	// Reverse says that the terminal's own colours have changed places (DECSCNM).
	Reverse bool `json:"reverse,omitempty"`
	// Mouse says what the program does with a person's mouse: one of the Mouse words, "" for
	// nothing.
	Mouse string `json:"mouse,omitempty"`
	// Wraps are the rows that continue in the next one: a copied text joins them.
	Wraps []Wrap `json:"wraps,omitempty"`
	// Links are hyperlinks that a page may open, without those with a secret in their target.
	Links    []Link   `json:"links,omitempty"`
	Keyboard Keyboard `json:"keyboard"`
	Blackout *Hidden  `json:"blackout,omitempty"`
	// Typed is an agent's newest input since a viewer looks; it may be nil.
	Typed *AgentTyped `json:"typed,omitempty"`
}

// What a program does with a person's mouse.
const (
	MouseScrolls = "scroll"  // takes the wheel for cursor keys
	MouseButtons = "buttons" // listens to the wheel and buttons
	MouseMotion  = "motion"  // and to movement while a button is down
)

// MaxTyped bounds the text of an [AgentTyped], in bytes.
const MaxTyped = 1024

// AgentTyped is an agent's input in words, for a viewer.
type AgentTyped struct {
	AgentName string `json:"agentName"`
	// Text has text in quotation marks and keys in angle brackets, its end left out where it is
	// long.
	Text string `json:"text"`
	// Count tells one input from the next.
	Count uint64 `json:"count"`
}

// Link is a hyperlink (OSC 8) in the columns of a row from From to before To.
type Link struct {
	Row    int    `json:"row"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	Target string `json:"target"`
}

// OpensOnPage reports whether a page offers to open the target of a hyperlink. Others could start
// programs, or run in the page.
func OpensOnPage(target string) bool {
	scheme, rest, ok := strings.Cut(target, ":")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return ok && strings.HasPrefix(rest, "//")
	case "mailto":
		return ok
	}
	return false
}

// Watch turns live output on; Unwatch turns it off.
type Watch struct {
	SessionID string `json:"sessionId"`
}

// Unwatch turns live output off.
type Unwatch struct {
	SessionID string `json:"sessionId"`
}

// Output is live output, sent only while it is watched.
type Output struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	// Seq is the number of bytes of live output before these: who finds a gap needs a repaint. The
	// bytes of a repaint do not count.
	Seq     uint64 `json:"seq"`
	DataB64 []byte `json:"dataB64"`
	// Repaint: these bytes paint the whole screen on a terminal of Cols times Rows that was just
	// cleared and reset.
	Repaint bool `json:"repaint,omitempty"`
	Cols    int  `json:"cols,omitempty"`
	Rows    int  `json:"rows,omitempty"`
}

// Share returns m for many peers: its frame is made once. The message must not change afterwards.
func (m *Rows) Share() *Rows {
	m.shared = new(frame)
	return m
}

// Difference returns m for a peer that has last, complete as m is: with only what differs, if that
// is shorter. last may be nil.
func (m *Rows) Difference(last *Rows) *Rows {
	part := *m
	part.shared = nil
	for len(part.Lines) > 0 && part.Lines[len(part.Lines)-1] == "" {
		part.Lines = part.Lines[:len(part.Lines)-1]
	}
	if last == nil || last.Cols != m.Cols || last.SessionID != m.SessionID {
		return &part
	}
	moved, changed, shorter := Delta(last.Lines, m.Lines, true)
	if !shorter {
		return &part
	}
	part.Lines, part.Since, part.Moved, part.Changed = nil, last.Seq, moved, changed
	if reflect.DeepEqual(last.State, m.State) {
		part.State = nil
	}
	return &part
}

// Complete returns m with all rows, last being the message that came before it from the same peer,
// or nil. ok is false if m is a difference to something else.
func (m *Rows) Complete(last *Rows) (full *Rows, ok bool) {
	out := *m
	out.shared = nil
	if m.Since == 0 {
		out.Lines = append(slices.Clip(m.Lines), make([]string, m.Rows-len(m.Lines))...)
		return &out, m.State != nil
	}
	if last == nil || last.Seq != m.Since || last.Cols != m.Cols || len(last.Lines) != m.Rows {
		return nil, false
	}
	out.Lines = Patch(Move(last.Lines, m.Moved), m.Changed)
	out.Since, out.Moved, out.Changed = 0, 0, nil
	if out.State == nil {
		out.State = last.State
	}
	return &out, true
}

// plainAck returns the [Ack] of a frame that has nothing but its fields, in their order and without
// blanks; nil for any other frame. One comes for every frame that a viewer gets, and this is the
// shortest way to read it.
func plainAck(frame []byte) *Ack {
	rest, ok := bytes.CutPrefix(frame, []byte(`{"type":"terminal.ack","sessionId":"`))
	if !ok {
		return nil
	}
	id, rest, _ := bytes.Cut(rest, []byte(`","seq":`))
	digits, _ := bytes.CutSuffix(rest, []byte("}"))
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	m := &Ack{SessionID: string(id), Seq: seq}
	if err != nil || len(digits) == len(rest) || digits[0] == '0' && len(digits) > 1 ||
		m.check() != nil {
		return nil
	}
	return m
}

func (m *View) check() error {
	return new(checks).optionalID("requestId", m.RequestID).id("sessionId", m.SessionID).
		between("everyMs", m.EveryMs, 0, MaxWaitMs).done()
}

func (m *Unview) check() error { return new(checks).id("sessionId", m.SessionID).done() }

func (m *Ack) check() error { return new(checks).id("sessionId", m.SessionID).done() }

func (m *Rows) check() error {
	c := new(checks).id("sessionId", m.SessionID).size(m.Cols, m.Rows).
		checkChanged("changed", m.Changed, m.Rows).
		between("moved", int64(m.Moved), -int64(m.Rows), int64(m.Rows)).
		between("cursor.row", int64(m.Cursor.Row), 0, int64(m.Rows)-1).
		between("cursor.col", int64(m.Cursor.Col), 0, int64(m.Cols)-1)
	if n := len(m.Lines); n > m.Rows {
		c.fail(CodeBadMessage, "lines", "has %d rows, rows is %d", n, m.Rows)
	}
	if m.State != nil {
		c.checkBlackout("state.blackout", m.State.Blackout)
		if t := m.State.Typed; t != nil {
			c.text("state.typed.agentName", t.AgentName, MaxName).
				text("state.typed.text", t.Text, MaxTyped)
		}
	}
	return c.done()
}

func (m *Watch) check() error { return new(checks).id("sessionId", m.SessionID).done() }

func (m *Unwatch) check() error { return new(checks).id("sessionId", m.SessionID).done() }

func (m *Output) check() error {
	c := new(checks).id("id", m.ID).id("sessionId", m.SessionID)
	if m.Repaint {
		c.size(m.Cols, m.Rows)
	}
	return c.done()
}
