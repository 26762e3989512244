package requests

import (
	"errors"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/line"
)

// typing follows an agent's input to its receipt. Under a grant of level type the user has to let through whatever would submit
// or signal: the input is held whole then, or what is left of it, so that the user sees everything that one key lets through. It
// belongs to the pump's goroutine.
type typing struct {
	h       *Handler
	m       *protocol.Input
	epoch   uint64 // of the grant that it belongs to
	began   time.Time
	steps   []step
	keys    string // what was put to the user last, "" for nothing
	asked   string // the whole of that question, as far as the answer is about it
	allowed bool   // the user let that through
	through int    // how often the user had typed by then
	shifts  int    // how often the program changed between the judgement and the write
	free    bool   // what is about to be written needs no word of the user's, as judged
	does    string // what the mouse does, in words

	excuse func(error) bool // see [input.Job.Excuse]
	record Record           // what is recorded of it
	looked looked           // and told those who look

	// These are set by the observer's goroutine before Prepare answers:
	judged judgement // of the line, under level type
	rev    uint64    // the screen's revision before what is prepared

	keysThen uint64 // how often the user had typed when the input came
	paused   bool   // it had to wait for that at once

	written int // as the receipt says

	// These belong to the observer's goroutine:
	saw      glimpse        // what its agent has seen
	at       *protocol.Cell // where the mouse acts
	answered bool           // the receipt is on its way
	settled  bool           // the program waits for its next line
	edits    bool           // it edited a line before the step to come, and edited: before the one that was typed last
	edited   bool
	wrote    time.Time                   // when the last byte was known to be written
	correct  func(*protocol.InputResult) // corrects it before that; nil if it is right
	group    int                         // had the terminal when the input began to wait for the user's line, 0 if it did not
}

// input takes an agent's keystrokes. They are encoded, and their conditions checked, when the first byte would be written.
func (h *Handler) input(m *protocol.Input) {
	switch before, earlier := h.receipts.begin(m); {
	case before == elsewhere:
		h.Link.Send(&protocol.Error{
			RequestID: m.RequestID, Code: protocol.CodeBadMessage, Field: "requestId",
			Message: `field "requestId": was that of another input, so nothing of this one was typed: give each input an id of its own`,
		})
		return
	case earlier != nil:
		h.Link.Send(earlier)
		return
	case before == repeated:
		return
	}
	if len(m.Parts) > 0 && m.Data != "" {
		h.refuse(m.RequestID, protocol.CodeBadMessage, "parts stand in place of data: leave one of them out")
		return
	}
	epoch := m.Epoch
	if epoch == 0 { // whoever does not say means the grant that there is
		epoch = h.Control.Newest().Epoch
	}
	in := &typing{h: h, m: m, epoch: epoch, began: time.Now(), steps: steps(m), excuse: h.excuse(m, epoch), record: h.Recorder.Input(m, epoch)}
	h.Pump.Post(func(now time.Time) { // behind what the user has typed by now
		st := h.Control.State(now)
		in.keysThen, in.paused = h.Tracker.Typed().Keys(), st.Paused || st.Occupied
	})
	h.Observer.Post(func(time.Time) {
		if in.saw = h.seen[m.AgentID]; !in.saw.whole {
			in.saw = h.line.glimpse()
		}
	})
	h.Pump.Offer(input.Job{
		ID: m.RequestID, Agent: m.AgentID, Epoch: epoch, Size: m.Size(), Wait: time.Duration(m.TimeoutMs) * time.Millisecond,
		Prepare: func(left []input.Piece, answer func([]input.Piece, error)) {
			h.pause(in, left, func() {
				h.ready(in, left, time.Now(), func(pieces []input.Piece, err error) {
					if left == nil {
						in.record.Look(time.Now())
					}
					answer(pieces, err)
				}, answer)
			})
		},
		Hold:    in.hold,
		Holds:   in.holds,
		Excuse:  in.excuse,
		Wrote:   func(p []byte) { h.wrote(in, p) },
		Done:    func(r input.Receipt) { h.typed(in, r) },
		Flushed: func(n int) { h.flushed(in, n) },
	})
}

// ready prepares what is left of an input, all of it if that is nil, and answers on the observer's goroutine. Under level type it looks
// again until the line stands still.
func (h *Handler) ready(in *typing, left []input.Piece, began time.Time, answer, gone func([]input.Piece, error)) {
	ok := h.Observer.Post(func(now time.Time) {
		pending, err := h.line.blocks(now)
		if pending {
			time.AfterFunc(pendingEvery, func() { h.ready(in, left, began, answer, gone) })
			return
		}
		if err != nil {
			if in.group == 0 {
				in.group = h.Program.ForegroundGroup()
			}
			gone(nil, err)
			return
		}
		begins := left == nil || left[0].Step != 0
		if begins && in.group != 0 && in.group != h.Program.ForegroundGroup() {
			// What was meant for one program's line could be a command to another.
			gone(nil, &refusal{protocol.CodeScreenChanged, "another program has the terminal since the input waited for the user's line"})
			return
		}
		if waited := in.paused || in.group != 0 || in.keysThen != h.Tracker.Typed().Keys(); left == nil && waited {
			pending, err := h.line.unseen(in.saw, now.Sub(began) >= stillMost)
			if pending {
				time.AfterFunc(stillEvery, func() { h.ready(in, left, began, answer, gone) })
				return
			}
			if err != nil {
				gone(nil, err)
				return
			}
		}
		if begins && h.early(in, left, began, now) {
			time.AfterFunc(stillEvery, func() { h.ready(in, left, began, answer, gone) })
			return
		}
		pieces := left
		if begins {
			in.rev = h.Observer.Model().Rev()
			pieces, err = h.prepare(in, left)
		}
		if err == nil && h.typeLevel() {
			first := head(pieces)
			judged, still := h.line.judge(now, began, isText(first))
			in.judged = judged
			pieces = judged.bracketText(pieces)
			if !still && (judged.prompt != line.Editor || !judged.read || in.submits(head(pieces))) {
				time.AfterFunc(stillEvery, func() { h.ready(in, left, began, answer, gone) })
				return
			}
		}
		answer(pieces, err)
	})
	if !ok {
		gone(nil, &refusal{protocol.CodeExited, "the program has ended"})
	}
}

// holds implements [input.Job.Holds]: what goes without the user's word goes to the program that
// was judged.
func (in *typing) holds() bool {
	if !in.free || in.judged.holds(in.h.Program) {
		return true
	}
	in.shifts++
	return false
}

// isText reports whether pieces are text and keys that edit a line.
func isText(pieces []input.Piece) bool {
	for _, p := range pieces {
		if p.Say != "" || keys.Submits(p.Bytes, false) {
			return false
		}
	}
	return true
}

// prepare checks the conditions of an input, or of the rest of it, against the screen as it is now, and makes its bytes for the modes
// that are on: what the user let through stays as it was shown. It runs on the observer's goroutine.
func (h *Handler) prepare(in *typing, left []input.Piece) ([]input.Piece, error) {
	o := h.Observer
	if no := o.Bars(time.Now()); no != nil && (in.excuse == nil || errors.Is(no, control.ErrHidden)) {
		return nil, barred(no) // an excuse is for the pump to weigh, which will
	}
	switch {
	case left == nil:
		if err := o.Expect(in.m.Expect); err != nil {
			return nil, &refusal{protocol.CodeScreenChanged, err.Error()}
		}
		return h.encode(in, 0, o.Model().Modes())
	case in.allowed:
		return left, nil
	}
	return h.encode(in, left[0].Step-1, o.Model().Modes())
}
