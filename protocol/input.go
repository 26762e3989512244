package protocol

import "slices"

// Input is keystrokes for the program.
type Input struct {
	RequestID string    `json:"requestId"`
	Data      string    `json:"data"`
	SessionID string    `json:"sessionId,omitempty"`
	AgentID   string    `json:"agentId,omitempty"`
	Epoch     uint64    `json:"epoch,omitempty"`
	InputKind InputKind `json:"kind,omitempty"`
	// At or On say where the mouse acts: a cell, or a text that stands on the screen once. To is
	// the end of a drag.
	At *Cell  `json:"at,omitempty"`
	On string `json:"on,omitempty"`
	To *Cell  `json:"to,omitempty"`
	// Parts, in place of Data and what belongs to it, are typed one after another, each when the
	// program has had time for the one before; at most MaxParts. They are one input: a receipt, a
	// condition and the user's word are for all of them.
	Parts  []InputPart `json:"parts,omitempty"`
	Expect *Expect     `json:"expect,omitempty"`
	// SettleMs: answer when the screen has been quiet for this long after the last byte; 0 answers
	// at once.
	SettleMs int64 `json:"settleMs,omitempty"`
	// TimeoutMs bounds the wait for the user to stop typing and for the screen to settle.
	TimeoutMs int64 `json:"timeoutMs,omitempty"`
}

// InputPart is typed at once. A mouse can only be the first of several.
type InputPart struct {
	InputKind InputKind `json:"kind,omitempty"`
	Data      string    `json:"data"`
	At        *Cell     `json:"at,omitempty"`
	On        string    `json:"on,omitempty"`
	To        *Cell     `json:"to,omitempty"`
	// Until, in a part of Parts, must come true after the part: the next part is typed then, and
	// the receipt sent after the last one. Otherwise the rest is not typed. Stop are conditions
	// that end the wait for Until without meeting it.
	Until *Until  `json:"until,omitempty"`
	Stop  []Until `json:"stop,omitempty"`
}

// HasSteps reports whether m has a part with Until.
func (m *Input) HasSteps() bool {
	return slices.ContainsFunc(m.Parts, func(p InputPart) bool { return p.Until != nil })
}

// All is the parts of m: the one that its own fields are where it has no Parts.
func (m *Input) All() []InputPart {
	if len(m.Parts) > 0 {
		return m.Parts
	}
	return []InputPart{{InputKind: m.InputKind, Data: m.Data, At: m.At, On: m.On, To: m.To}}
}

// Size is how much m types, in bytes of data.
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
	// Ended says why control ended, if Status is dropped or control has ended by now.
	Ended Reason `json:"ended,omitempty"`
	// UnsubmittedBytes is what was typed under the grant that ended since the last Enter: the
	// program may still hold it.
	UnsubmittedBytes int `json:"unsubmittedBytes,omitempty"`
	// LeftOnLine quotes what stands on the program's line after control ended, where the program is
	// at a line prompt.
	LeftOnLine string `json:"leftOnLine,omitempty"`
	// At is where the mouse acted.
	At *Cell `json:"at,omitempty"`
	// FromSeq is the screen's revision when the first byte was written. If Seq is the same, the
	// screen did not react.
	FromSeq uint64 `json:"fromSeq,omitempty"`
	// Parts says for an input with Parts, in order, how far each came; the byte counts above are
	// their sums.
	Parts []PartResult `json:"parts,omitempty"`
	Seq   uint64       `json:"seq,omitempty"`
	Frame *Frame       `json:"frame,omitempty"`
	// Notes are messages of the user's to this agent which it has not had yet.
	Notes []string `json:"notes,omitempty"`
}

// PartResult says what became of one part of an [Input].
type PartResult struct {
	// InputKind is how it was typed: text or paste for InputLines.
	InputKind    InputKind `json:"kind,omitempty"`
	WrittenBytes int       `json:"writtenBytes,omitempty"`
	DroppedBytes int       `json:"droppedBytes,omitempty"`
	// FromSeq is the screen's revision when the part's first byte was written, 0 if the part was
	// not: what the part caused is newer.
	FromSeq uint64 `json:"fromSeq,omitempty"`
	// Until says how the condition after the part ended, nil if it was not waited for to its end.
	Until *UntilResult `json:"until,omitempty"`
}

// UntilResult says how the condition after a part of an [Input] ended. Matched, Came, Stopped and
// Stood are those of a [WaitResult].
type UntilResult struct {
	Met     bool   `json:"met"`
	Matched string `json:"matched,omitempty"`
	Came    *Until `json:"came,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	Stood   string `json:"stood,omitempty"`
	// Line is the line of the screen or of the output that has Matched, at most MaxShown characters
	// from its start or from the match; for Waiting it is the cursor's.
	Line string `json:"line,omitempty"`
}
