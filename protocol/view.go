package protocol

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// View asks for the rows of a session's screen as they change, for a viewer. They come as [Rows];
// the next message is sent once the previous one is acknowledged with [Ack]. Unview ends that. A
// gateway forwards both without a request id.
type View struct {
	RequestID string `json:"requestId,omitempty"`
	SessionID string `json:"sessionId"`
	// EveryMs is the shortest interval wanted; 0 is the proxy's own.
	EveryMs int64 `json:"everyMs,omitempty"`
	// Agents is set by a gateway while only agents look, and no person. It sends another View when
	// that changes.
	Agents bool `json:"agents,omitempty"`
}

// Unview ends a [View].
type Unview struct {
	SessionID string `json:"sessionId"`
}

// Ack reports that the rows with that number were shown, or at least read: the next ones may be
// sent.
type Ack struct {
	SessionID string `json:"sessionId"`
	Seq       uint64 `json:"seq"`
}

// Rows is the screen for a viewer. Its rows carry SGR sequences and no others; what is hidden from
// agents is hidden from viewers.
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
	// Lines holds all rows, without blank ones at the end. If Since is not 0, the message has
	// instead what changed since the one with that number: the rows moved up by Moved, or down if
	// it is negative, and then those in Changed were replaced.
	Lines   []string `json:"lines,omitempty"`
	Since   uint64   `json:"since,omitempty"`
	Moved   int      `json:"moved,omitempty"`
	Changed []Row    `json:"changed,omitempty"`
	// State is left out if it is the same as in the message Since.
	State *ViewState `json:"state,omitempty"`

	shared *frame // encoded once for all receivers; nil for a message to one
}

// ViewState is the state of a screen besides its rows.
type ViewState struct {
	Title   string  `json:"title,omitempty"`
	Alt     bool    `json:"alt,omitempty"`
	Palette []Color `json:"palette,omitempty"`
	// Clusters is set if the width is that of grapheme clusters (mode 2027), and not of each
	// character by itself.
	Clusters bool `json:"clusters,omitempty"`
	// Reverse is set while the terminal's default colours are swapped (DECSCNM).
	Reverse bool `json:"reverse,omitempty"`
	// Mouse is what the program does with a person's mouse: one of the Mouse constants, "" for
	// nothing.
	Mouse string `json:"mouse,omitempty"`
	// Wraps lists the rows that continue in the next one, to join them in copied text.
	Wraps []Wrap `json:"wraps,omitempty"`
	// Links are the hyperlinks that a page may open, except those with a secret in their target.
	Links    []Link   `json:"links,omitempty"`
	Keyboard Keyboard `json:"keyboard"`
	Blackout *Hidden  `json:"blackout,omitempty"`
	// Typed is an agent's newest input since the first viewer looked; it may be nil.
	Typed *AgentTyped `json:"typed,omitempty"`
}

// What a program does with a person's mouse.
const (
	MouseScrolls = "scroll"  // turns the wheel into cursor keys
	MouseButtons = "buttons" // reads the wheel and buttons
	MouseMotion  = "motion"  // and movement while a button is down
)

// MaxTyped bounds the text of an [AgentTyped], in bytes.
const MaxTyped = 1024

// AgentTyped describes an agent's input to a viewer.
type AgentTyped struct {
	AgentName string `json:"agentName"`
	// Text has text in quotation marks and keys in angle brackets. It is cut if it is long.
	Text string `json:"text"`
	// Count distinguishes one input from the next.
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
	// Seq is the number of bytes of live output before these: a receiver that finds a gap needs a
	// repaint. The bytes of a repaint do not count.
	Seq     uint64 `json:"seq"`
	DataB64 []byte `json:"dataB64"`
	// Repaint is set if these bytes paint the whole screen on a terminal of Cols times Rows that
	// was just cleared and reset.
	Repaint bool `json:"repaint,omitempty"`
	Cols    int  `json:"cols,omitempty"`
	Rows    int  `json:"rows,omitempty"`
}

// Share prepares m for many peers: its frame is encoded once. The message must not change
// afterwards.
func (m *Rows) Share() *Rows {
	m.shared = new(frame)
	return m
}

// Difference returns m for a peer that has last: only what differs, if that is shorter. Both m and
// last are complete; last may be nil.
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

// Complete returns m with all rows. last is the previous message from the same peer, complete, or
// nil. ok is false if m is the difference to another message.
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

// plainAck decodes an [Ack] whose frame has only its fields, in order and without blanks; it
// returns nil for any other frame. An Ack comes for every frame that a viewer gets, and this is
// much cheaper than the general way.
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
		upTo("everyMs", m.EveryMs, MaxWaitMs).done()
}

func (m *Unview) check() error { return new(checks).id("sessionId", m.SessionID).done() }

func (m *Ack) check() error { return new(checks).id("sessionId", m.SessionID).done() }

func (m *Rows) check() error {
	c := new(checks).id("sessionId", m.SessionID).size(m.Cols, m.Rows).
		checkChanged("changed", m.Changed, m.Rows).
		between("moved", m.Moved, -m.Rows, m.Rows).
		between("cursor.row", m.Cursor.Row, 0, m.Rows-1).
		between("cursor.col", m.Cursor.Col, 0, m.Cols-1)
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
