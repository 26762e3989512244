package proxy

import (
	"errors"
	"fmt"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/notice"
)

// holding is an input of an agent's as far as the user has to let it through: under a grant of level type, whatever would
// submit or signal. The input is held whole, text and all, so that the user sees everything that one key lets through. It
// belongs to the pump's goroutine.
type holding struct {
	s     *session
	m     *protocol.Input
	epoch uint64 // of the grant that it belongs to
	began time.Time
	from  uint64 // the screen's revision when the first byte was written
	keys  string // what was put to the user last, "" for nothing
	let   bool   // the user let that through
	does  string // what the mouse does, in words

	excuse func(error) bool // see [input.Job.Excuse]

	at *protocol.Cell // where the mouse acts; this belongs to the screen loop
}

// hold implements [input.Job.Hold]. What it put to the user and is asked about again, unchanged, was let through.
func (h *holding) hold(now time.Time, pieces []input.Piece, line input.Line) (bool, error) {
	h.does = pieces[0].Say
	if h.s.authority.State(now).Level != control.Type || !h.submits(pieces) {
		return false, nil
	}
	keys := spelled(pieces)
	if keys == h.keys {
		h.let = true
		return false, nil
	}
	patience := control.HoldFor
	if h.m.TimeoutMs > 0 {
		patience = time.Duration(h.m.TimeoutMs) * time.Millisecond
	}
	err := h.s.authority.Hold(now, control.Held{Keys: keys, Mouse: h.does != "", Line: before(line), Until: h.began.Add(patience)})
	if errors.Is(err, control.ErrNobody) {
		return false, &refusal{protocol.CodeForbidden, "the grant is of level type: what submits or signals (Enter, Ctrl-C, a click, ...) needs the user, and nobody is there; type the text without it, or ask for level drive"}
	}
	h.keys = keys
	return err == nil, err
}

// submits reports whether pieces hold what the level does not cover. The lines of a bracketed paste are text: the program
// asked for them to be marked as such.
func (h *holding) submits(pieces []input.Piece) bool {
	if h.does != "" {
		return commits(h.m)
	}
	if h.m.InputKind == protocol.InputPaste && string(pieces[0].Bytes) == pasteBegins {
		return false
	}
	for _, p := range pieces {
		if keys.Submits(p.Bytes) {
			return true
		}
	}
	return false
}

// spelled is what pieces would send, as the user reads it.
func spelled(pieces []input.Piece) string {
	if pieces[0].Say != "" {
		return pieces[0].Say
	}
	all := make([][]byte, len(pieces))
	for i, p := range pieces {
		all[i] = p.Bytes
	}
	return keys.Show(all...)
}

// before is what stands on the program's line of an agent's, as the user reads it.
func before(line input.Line) string {
	if len(line.Pieces) == 0 {
		return ""
	}
	text := keys.Show(line.Pieces...)
	if line.Lost > 0 {
		text = fmt.Sprintf("… (%d bytes) and then %s", line.Lost, text)
	}
	if line.Mixed {
		text += ", and you typed there too"
	}
	return text
}

// refused words the refusal of an input that was held when control ended, or until its time was over.
func (h *holding) refused(r input.Receipt) (*refusal, bool) {
	a := h.s.authority
	what := notice.Clean(h.keys, 80)
	switch {
	case errors.Is(r.Err, input.ErrLate):
		return &refusal{protocol.CodeTimeout, "the user did not let " + what + " through in time; nothing of it was typed"}, true
	case r.Held && r.Fate == input.Dropped && !a.Driven() && a.LastEnd().Reason == control.Reclaimed:
		return &refusal{protocol.CodeUserRefused, "the user did not let " + what + " through and took the keyboard back; nothing of it was typed"}, true
	}
	return nil, false
}

// approval is what the user reads while input is held: who would send what, to the last character.
func (s *status) approval(cols, rows int) string {
	verb := " wants to send "
	if s.state.Held.Mouse {
		verb = " wants to "
	}
	return notice.Rows(cols, rows-1, s.state.Agent.Name+verb+wish(s.state.Held),
		"Ctrl+G sends it · "+s.key+" refuses and stops "+s.state.Agent.Name)
}

// wish is what would be sent, and what stands before it on the line.
func wish(h control.Held) string {
	if h.Line == "" {
		return h.Keys
	}
	return h.Keys + " after " + h.Line
}

// approvalTitle is approval in the window's title, for a terminal on which no line is wanted. A title has no room for a long
// text, and says so.
func (s *status) approvalTitle() string {
	const most = 60
	text := wish(s.state.Held)
	if r := []rune(text); len(r) > most {
		text = fmt.Sprintf("%s… and %d characters more", string(r[:most]), len(r)-most)
	}
	return "[" + s.state.Agent.Name + ": Ctrl+G sends " + text + ", " + s.key + " refuses]"
}
