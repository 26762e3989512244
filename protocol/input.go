package protocol

import "slices"

// Limits of an [Input]. Sizes are bytes.
const (
	MaxInput = 48 << 10 // data of one terminal.input, of all its parts together
	MaxParts = 48       // parts of one terminal.input
	MaxSteps = 16       // parts of one terminal.input with until
)

// InputKind is how the data of a terminal.input becomes bytes.
type InputKind string

// The kinds of input. Raw data is written as given.
const (
	InputRaw InputKind = ""
	// names of keys, separated by blanks, encoded for the current modes.
	InputKeys  InputKind = "keys"
	InputText  InputKind = "text"  // typed as given, without Enter
	InputPaste InputKind = "paste" // cleaned, and bracketed if the program asked for that
	InputMouse InputKind = "mouse" // a mouse action, encoded as the program asked for
	InputLines InputKind = "lines" // as paste if the program asked for brackets, else as text
)

// Status is the outcome of an input.
type Status string

// The outcomes of an input.
const (
	StatusWritten Status = "written" // every byte reached the program
	StatusRefused Status = "refused" // nothing was written
	StatusDropped Status = "dropped" // control ended midway
)

// Input is keystrokes for the program.
type Input struct {
	RequestID string    `json:"requestId"`
	Data      string    `json:"data"`
	SessionID string    `json:"sessionId,omitempty"`
	AgentID   string    `json:"agentId,omitempty"`
	Epoch     uint64    `json:"epoch,omitempty"`
	InputKind InputKind `json:"kind,omitempty"`
	// At or On is where the mouse acts: a cell, or a text that occurs on the screen once. To is the
	// end of a drag.
	At *Cell  `json:"at,omitempty"`
	On string `json:"on,omitempty"`
	To *Cell  `json:"to,omitempty"`
	// Parts, which replaces Data and its fields, is typed one part after another, each when the
	// program has had time for the previous one; at most MaxParts. Together they are one input,
	// with one receipt, one condition and one consent of the user.
	Parts  []InputPart `json:"parts,omitempty"`
	Expect *Expect     `json:"expect,omitempty"`
	// SettleMs delays the answer until the screen has been quiet for this long after the last byte;
	// 0 answers at once.
	SettleMs int64 `json:"settleMs,omitempty"`
	// TimeoutMs bounds the wait for the user to stop typing and for the screen to settle.
	TimeoutMs int64 `json:"timeoutMs,omitempty"`
}

// InputPart is a part of an input that is typed at once. Only the first of several can be of the
// kind mouse.
type InputPart struct {
	InputKind InputKind `json:"kind,omitempty"`
	Data      string    `json:"data"`
	At        *Cell     `json:"at,omitempty"`
	On        string    `json:"on,omitempty"`
	To        *Cell     `json:"to,omitempty"`
	// Until, in a part of Parts, must come true after the part, before the next part is typed or,
	// after the last one, the receipt is sent. Otherwise the rest is not typed. Stop are conditions
	// that end the wait for Until without meeting it.
	Until *Until  `json:"until,omitempty"`
	Stop  []Until `json:"stop,omitempty"`
}

// HasSteps reports whether m has a part with Until.
func (m *Input) HasSteps() bool {
	return slices.ContainsFunc(m.Parts, func(p InputPart) bool { return p.Until != nil })
}

// All returns the parts of m. Without Parts, m's own fields are the only part.
func (m *Input) All() []InputPart {
	if len(m.Parts) > 0 {
		return m.Parts
	}
	return []InputPart{{InputKind: m.InputKind, Data: m.Data, At: m.At, On: m.On, To: m.To}}
}

// Size returns how many bytes of data m holds.
func (m *Input) Size() (n int) {
	for _, p := range m.All() {
		n += len(p.Data)
	}
	return n
}

// InputResult is the receipt of an [Input].
type InputResult struct {
	ID           string `json:"id"`
	RequestID    string `json:"requestId"`
	SessionID    string `json:"sessionId"`
	Status       Status `json:"status"`
	Reason       Code   `json:"reason,omitempty"`
	Message      string `json:"message,omitempty"`
	WrittenBytes int    `json:"writtenBytes,omitempty"`
	DroppedBytes int    `json:"droppedBytes,omitempty"`
	// Ended is why control ended, if Status is dropped or control has ended by now.
	Ended Reason `json:"ended,omitempty"`
	// UnsubmittedBytes counts the bytes typed since the last Enter under the grant that ended: they
	// may still be on the program's line.
	UnsubmittedBytes int `json:"unsubmittedBytes,omitempty"`
	// LeftOnLine quotes what is left on the program's line after control ended, if the program is
	// at a line prompt.
	LeftOnLine string `json:"leftOnLine,omitempty"`
	// At is where the mouse acted.
	At *Cell `json:"at,omitempty"`
	// FromSeq is the screen's revision when the first byte was written. If Seq is the same, the
	// screen did not react.
	FromSeq uint64 `json:"fromSeq,omitempty"`
	// Parts holds the outcome of each part in order, for an input with Parts; the byte counts above
	// are their sums.
	Parts []PartResult `json:"parts,omitempty"`
	Seq   uint64       `json:"seq,omitempty"`
	Frame *Frame       `json:"frame,omitempty"`
	// Notes are messages of the user to this agent that it has not received yet.
	Notes []string `json:"notes,omitempty"`
}

// PartResult is the outcome of one part of an [Input].
type PartResult struct {
	// InputKind is how it was typed: text or paste for InputLines.
	InputKind    InputKind `json:"kind,omitempty"`
	WrittenBytes int       `json:"writtenBytes,omitempty"`
	DroppedBytes int       `json:"droppedBytes,omitempty"`
	// FromSeq is the screen's revision when the part's first byte was written, 0 if none was: the
	// effects of the part are newer.
	FromSeq uint64 `json:"fromSeq,omitempty"`
	// Until is how the condition after the part ended, nil if the wait for it did not end.
	Until *UntilResult `json:"until,omitempty"`
}

// UntilResult is how the condition after a part of an [Input] ended. Matched, Came, Stopped and
// Stood are as in a [WaitResult].
type UntilResult struct {
	Met     bool   `json:"met"`
	Matched string `json:"matched,omitempty"`
	Came    *Until `json:"came,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	Stood   string `json:"stood,omitempty"`
	// Line is the line of the screen or of the output that contains Matched, at most MaxShown
	// characters from its start or from the match; for Waiting it is the cursor's line.
	Line string `json:"line,omitempty"`
}

// Expect are conditions that must all hold when the first byte of an input would be written.
type Expect struct {
	Seq        *uint64 `json:"seq,omitempty"`
	Hash       string  `json:"hash,omitempty"`
	Text       string  `json:"text,omitempty"`
	CursorRow  *int    `json:"cursorRow,omitempty"`
	Foreground string  `json:"foreground,omitempty"`
}

// Cell is a place on the screen.
type Cell struct {
	Row int `json:"row"`
	Col int `json:"col"`
}

func (m *Input) check() error {
	return new(checks).id("requestId", m.RequestID).checkParts(m).
		optionalID("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).checkExpect(m.Expect).
		upTo("settleMs", m.SettleMs, MaxWaitMs).
		upTo("timeoutMs", m.TimeoutMs, MaxTimeoutMs).done()
}

func (m *InputResult) check() error {
	return new(checks).id("id", m.ID).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		oneOf("status", string(m.Status),
			string(StatusWritten), string(StatusRefused), string(StatusDropped)).
		checkCell("at", m.At).checkFrame(m.Frame).checkNotes(m.Notes).done()
}

func (c *checks) checkExpect(e *Expect) *checks {
	if e == nil {
		return c
	}
	c.text("expect.hash", e.Hash, MaxID).text("expect.text", e.Text, MaxPattern).
		text("expect.foreground", e.Foreground, MaxName)
	if e.CursorRow != nil {
		c.between("expect.cursorRow", *e.CursorRow, 0, MaxSize-1)
	}
	return c
}

// checkParts checks the parts of an input. The proxy itself parses mouse actions and names of keys.
func (c *checks) checkParts(m *Input) *checks {
	if len(m.Parts) == 0 {
		return c.checkPart("", m.All()[0])
	}
	if len(m.Parts) > MaxParts {
		c.fail(CodeTooLarge, "parts", "has %d parts, the limit is %d", len(m.Parts), MaxParts)
	}
	if n := m.Size(); n > MaxInput {
		c.fail(CodeTooLarge, "parts", "has %d bytes of data, the limit is %d", n, MaxInput)
	}
	steps := 0
	for i, p := range m.Parts {
		if c.checkPart("parts.", p); i > 0 && p.InputKind == InputMouse {
			c.fail(CodeBadMessage, "parts", "has a mouse part after another: it acts on the "+
				"screen as it was seen, so it comes first")
		}
		if p.Until != nil {
			steps++
		}
		c.checkStep(p, i == len(m.Parts)-1)
	}
	if steps > MaxSteps {
		c.fail(CodeTooLarge, "parts", "has until %d times, the limit is %d: send the rest in "+
			"another input", steps, MaxSteps)
	}
	return c
}

// checkStep checks the conditions after a part.
func (c *checks) checkStep(p InputPart, last bool) *checks {
	if p.Until == nil {
		if len(p.Stop) > 0 {
			c.fail(CodeBadMessage, "parts.stop", "belongs to until: what must come true")
		}
		return c
	}
	c.checkUntil("parts.until", p.Until).checkFurther("parts.stop", p.Stop)
	switch {
	case p.Until.Control:
		c.fail(CodeBadMessage, "parts.until.control", "is for a wait: an input has its grant")
	case p.Until.Exit && !last:
		c.fail(CodeBadMessage, "parts.until.exit", "is for the last part: no other can be typed "+
			"after the program's end")
	}
	return c
}

func (c *checks) checkPart(in string, p InputPart) *checks {
	c.required(in+"data", p.Data, MaxInput).
		oneOf(in+"kind", string(p.InputKind), "", string(InputKeys), string(InputText),
			string(InputPaste), string(InputMouse), string(InputLines))
	switch {
	case p.InputKind == InputMouse:
	case p.At != nil:
		c.fail(CodeBadMessage, in+"at", "belongs to the kind mouse")
	case p.On != "":
		c.fail(CodeBadMessage, in+"on", "belongs to the kind mouse")
	case p.To != nil:
		c.fail(CodeBadMessage, in+"to", "belongs to the kind mouse")
	}
	return c.checkCell(in+"at", p.At).text(in+"on", p.On, MaxPattern).checkCell(in+"to", p.To)
}

func (c *checks) checkCell(field string, at *Cell) *checks {
	if at == nil {
		return c
	}
	return c.between(field+".row", at.Row, 0, MaxSize-1).
		between(field+".col", at.Col, 0, MaxSize-1)
}
