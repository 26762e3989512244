package proxy

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/line"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/snapshot"
)

// enterGap is the time that an Enter comes after a character at least: programs that tell typing from pasting by its speed
// take one that follows at once for a part of the text.
const enterGap = 250 * time.Millisecond

// escapeGap is how long an Escape key stands alone: less, and a program takes it and what follows for one key. A key that
// interrupts gets the same, or what follows is thrown away with what came before.
const escapeGap = 60 * time.Millisecond

// settleLeast is what the screen gets to settle beyond the quiet time itself, however late the input was typed.
const settleLeast = time.Second

// refusal is why an input is not typed, in a word for programs and a sentence for the agent.
type refusal struct {
	code protocol.Code
	say  string
}

func (r *refusal) Error() string { return r.say }

// input takes an agent's keystrokes. They are encoded, and their conditions checked, when the first byte would be written.
func (d *desk) input(m *protocol.Input) {
	switch before, earlier := d.receipts.begin(m); {
	case before == elsewhere:
		d.s.link.Send(&protocol.Error{
			RequestID: m.RequestID, Code: protocol.CodeBadMessage, Field: "requestId",
			Message: `field "requestId": was that of another input, so nothing of this one was typed: give each input an id of its own`,
		})
		return
	case earlier != nil:
		d.s.link.Send(earlier)
		return
	case before == repeated:
		return
	}
	epoch := m.Epoch
	if epoch == 0 { // whoever does not say means the grant that there is
		epoch = d.s.authority.state().Epoch
	}
	seen := d.s.recording.input(m, epoch)
	h := &holding{s: d.s, m: m, epoch: epoch, began: time.Now(), excuse: d.excuse(m, epoch)}
	d.s.pump.Offer(input.Job{
		Agent: m.AgentID, Epoch: epoch, Size: len(m.Data), Wait: time.Duration(m.TimeoutMs) * time.Millisecond,
		Prepare: func(left []input.Piece, answer func([]input.Piece, error)) {
			d.ready(h, left, time.Now(), func(pieces []input.Piece, err error) {
				seen.look(time.Now())
				answer(pieces, err)
			}, answer)
		},
		Hold:    h.hold,
		Excuse:  h.excuse,
		Wrote:   seen.wrote,
		Done:    func(r input.Receipt) { d.typed(h, r) },
		Flushed: func(n int) { d.flushed(h, n) },
	})
}

// ready prepares what is left of an input, all of it if that is nil, and answers on the observer's goroutine. Under level type it looks
// again until the line stands still.
func (d *desk) ready(h *holding, left []input.Piece, began time.Time, answer, gone func([]input.Piece, error)) {
	ok := d.s.observer.Post(func(now time.Time) {
		if err := d.s.line.blocks(now); err != nil {
			if h.group == 0 {
				h.group = d.s.child.ForegroundGroup()
			}
			gone(nil, err)
			return
		}
		if left == nil && h.group != 0 && h.group != d.s.child.ForegroundGroup() {
			// What was meant for one program's line could be a command to another.
			gone(nil, &refusal{protocol.CodeScreenChanged, "another program has the terminal since the input waited for the user's line"})
			return
		}
		pieces, err := left, error(nil)
		if left == nil {
			h.from = d.s.observer.Model().Rev()
			pieces, err = d.prepare(h)
		}
		if err == nil && d.typeLevel() {
			judged, still := d.s.line.judge(now, began, isText(pieces))
			h.judged, h.does = judged, pieces[0].Say
			if !still && (judged.prompt != line.Editor || !judged.read || h.submits(pieces)) {
				time.AfterFunc(stillEvery, func() { d.ready(h, left, began, answer, gone) })
				return
			}
		}
		answer(pieces, err)
	})
	if !ok {
		gone(nil, &refusal{protocol.CodeExited, "the program has ended"})
	}
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

// lineEnds makes each end of a line what the Enter key sends.
var lineEnds = strings.NewReplacer("\r\n", "\r", "\n", "\r")

// prepare checks the conditions of an input against the screen as it is now, and makes its bytes. It runs on the observer's goroutine.
func (d *desk) prepare(h *holding) ([]input.Piece, error) {
	o := d.s.observer
	if no := o.Bars(time.Now()); no != nil && (h.excuse == nil || errors.Is(no, control.ErrHidden)) {
		return nil, barred(no) // an excuse is for the pump to weigh, which will
	}
	if err := o.Expect(h.m.Expect); err != nil {
		return nil, &refusal{protocol.CodeScreenChanged, err.Error()}
	}
	pieces, err := d.encode(h, o.Model().Modes())
	if err == nil && d.s.conf.Agent.OneProgram {
		pieces = apart(pieces)
	}
	return pieces, err
}

// encode makes the bytes of an input for the program's modes. It runs on the observer's goroutine.
func (d *desk) encode(h *holding, modes screen.Modes) ([]input.Piece, error) {
	m := h.m
	km := keys.Modes{
		AppCursor: modes.AppCursor, AppKeypad: modes.AppKeypad,
		Backarrow: modes.Backarrow, KittyFlags: modes.KittyFlags,
		ModifyOtherKeys: modes.ModifyOtherKeys, FormatOtherKeys: modes.FormatOtherKeys == 1,
	}
	state := d.s.authority.state()
	var pieces []input.Piece
	var err error
	switch m.InputKind {
	case protocol.InputKeys:
		pieces, err = keyPieces(m.Data, km, d.s.chord, state.Level == control.Drive)
	case protocol.InputText:
		pieces, err = textPieces(lineEnds.Replace(m.Data))
	case protocol.InputPaste:
		// What the kernel collects is not for who asked for the brackets: there they would be text.
		settings, failed := d.s.child.Line()
		collects := failed == nil && settings.Canonical
		pieces, err = pastePieces(m.Data, modes.BracketedPaste && !collects)
	case protocol.InputMouse:
		return d.point(h, modes, km)
	case protocol.InputRaw:
		pieces, err = textPieces(m.Data)
	}
	if err != nil {
		return nil, err
	}
	if m.InputKind != protocol.InputKeys {
		if err := d.reserved(m.Data); err != nil {
			return nil, err
		}
	}
	if err := d.nested(pieces); err != nil {
		return nil, err
	}
	return pieces, nil
}

// reserved refuses bytes that only a terminal may send: the reclaim key in any encoding, which may open another proxy's
// notice further in, and answers to queries, which the program would take for the terminal's.
func (d *desk) reserved(data string) error {
	var err error
	look := func(u keys.Unit) {
		switch u.Kind {
		case keys.Reclaim, keys.Release:
			err = &refusal{protocol.CodeReservedKey, "the data holds the reclaim key, which is the user's; under level drive it can be named as a key: ctrl-\\"}
		case keys.Reply, keys.Focus:
			err = &refusal{protocol.CodeForbidden, "the data holds an answer that only the user's terminal gives (" + strconv.QuoteToASCII(string(u.Bytes)) + ")"}
		default: // keys and text
		}
	}
	s := keys.NewScanner(d.s.chord)
	s.Scan([]byte(data), look)
	s.Flush(look)
	return err
}

// nested refuses the key that gives control while another proxy runs inside this session: the agent would answer its own
// question there.
func (d *desk) nested(pieces []input.Piece) error {
	confirms := false
	s := keys.NewScanner(d.s.chord)
	for _, p := range pieces {
		s.Scan(p.Bytes, func(u keys.Unit) { confirms = confirms || u.Kind == keys.Confirm })
	}
	if !confirms || d.s.child.Foreground() != "proxy" {
		return nil
	}
	return &refusal{protocol.CodeReservedKey, "another proxy runs in this session, and Ctrl+G would give control there: only its user presses that"}
}

// keyPieces encodes named keys.
func keyPieces(names string, modes keys.Modes, chord keys.Chord, drive bool) ([]input.Piece, error) {
	var pieces []input.Piece
	typed := false // the key before types a character
	for _, name := range strings.Fields(names) {
		press, err := keys.Parse(name)
		if err != nil {
			return nil, &refusal{protocol.CodeBadMessage, err.Error()}
		}
		if press.IsReclaim(chord, modes) && !drive {
			return nil, &refusal{protocol.CodeReservedKey, "the key " + name + " is the user's way to take the keyboard back; only a grant of level drive may send it to the program"}
		}
		b, err := press.Encode(modes)
		if err != nil {
			return nil, &refusal{protocol.CodeBadMessage, err.Error()}
		}
		if n := len(pieces); n > 0 && typed && press.IsEnter() {
			pieces[n-1].Gap = enterGap
		}
		typed = press.IsText()
		for range max(1, press.Count) {
			p := piece(b)
			if press.Interrupts() {
				p.Gap = escapeGap
			}
			pieces = append(pieces, p)
		}
	}
	if len(pieces) == 0 {
		return nil, &refusal{protocol.CodeBadMessage, "no key is named: write names separated by blanks, as in: ctrl-x enter"}
	}
	return pieces, nil
}

// piece is one key, with the time an Escape key needs to be seen alone.
func piece(b []byte) input.Piece {
	p := input.Piece{Bytes: append([]byte(nil), b...)}
	if len(b) == 1 && b[0] == 0x1b {
		p.Gap = escapeGap
	}
	return p
}

// textPieces cuts text into pieces that end between keys.
func textPieces(text string) ([]input.Piece, error) {
	var pieces []input.Piece
	for b := []byte(text); len(b) > 0; {
		n := keys.Cut(b, input.PieceMax)
		pieces = append(pieces, piece(b[:n]))
		b = b[n:]
	}
	return pieces, nil
}

// pastePieces cleans what is pasted and brackets it if the program asked for that (DECSET 2004).
func pastePieces(text string, bracketed bool) ([]input.Piece, error) {
	clean := keys.CleanPaste(text)
	if clean == "" {
		return nil, &refusal{protocol.CodeBadMessage, "nothing is left to paste: control characters are not pasted"}
	}
	pieces, err := textPieces(clean)
	if !bracketed || err != nil {
		return pieces, err
	}
	pieces = append([]input.Piece{{Bytes: []byte(pasteBegins)}}, pieces...)
	return append(pieces, input.Piece{Bytes: []byte(pasteEnds)}), nil
}

// The marks of a bracketed paste (xterm ctlseqs, DECSET 2004).
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// typed makes the receipt. It runs on the pump's goroutine.
func (d *desk) typed(h *holding, r input.Receipt) {
	h.written = r.Written
	result := &protocol.InputResult{
		ID: newID(), RequestID: h.m.RequestID, SessionID: d.s.id,
		WrittenBytes: r.Written, DroppedBytes: r.Dropped, UnsubmittedBytes: r.Unsubmitted,
	}
	if r.Written > 0 {
		result.FromSeq = h.from
	}
	d.word(h, r, result)
	d.s.recording.done(result, h)
	if !d.s.observer.Post(func(now time.Time) { d.settle(now, h, result) }) {
		d.answer(result)
	}
}

// word says in a receipt what became of the input and why. It runs on the pump's goroutine.
func (d *desk) word(h *holding, r input.Receipt, result *protocol.InputResult) {
	result.Status, result.Reason, result.Message = fate(r)
	if st := d.s.authority.State(time.Now()); r.Fate == input.UserTyping && st.Occupied {
		result.Message = "the user has not submitted what stands on the line: " + strconv.Quote(st.Line)
	}
	if no, ok := h.refused(r); ok {
		result.Status, result.Reason, result.Message, result.DroppedBytes = protocol.StatusRefused, no.code, no.say, 0
		if r.Held {
			result.Ended = protocol.ReasonReclaimed
		}
	}
	if no := d.s.authority.Barred(); no != nil && r.Fate == input.Dropped && d.s.authority.Driven() {
		result.Reason, result.Message = barred(no).code, barred(no).say
		if r.Written == 0 {
			result.Status = protocol.StatusRefused
		}
	}
	if result.Reason == protocol.CodeNoGrant || result.Reason == protocol.CodeStaleEpoch {
		if e := d.s.authority.LastEnd(); e.Reason != 0 && e.Agent.ID == h.m.AgentID {
			result.Ended, result.Message = reason(e.Reason), why(e.Reason)
			if r.Fate != input.Dropped {
				result.UnsubmittedBytes = d.s.authority.left
			}
		}
	}
	if result.Reason == protocol.CodeSecretPrompt && d.s.alone() {
		result.Message = d.s.unattended()
	}
}

// flushed corrects the receipt of an input that was written, and of which the last n bytes were taken back from the program
// unread when control ended. If the agent has it already, the correction is for whoever repeats the input, and the end of
// the grant counts the bytes. It runs on the pump's goroutine.
func (d *desk) flushed(h *holding, n int) {
	now := protocol.InputResult{WrittenBytes: h.written - n, DroppedBytes: n}
	d.word(h, input.Receipt{Fate: input.Dropped, Written: now.WrittenBytes, Dropped: n}, &now)
	d.s.recording.flushed(h, n, now.Reason)
	correct := func(r *protocol.InputResult) {
		r.WrittenBytes, r.DroppedBytes, r.UnsubmittedBytes = now.WrittenBytes, now.DroppedBytes, now.UnsubmittedBytes
		r.Status, r.Reason, r.Message, r.Ended = now.Status, now.Reason, now.Message, now.Ended
	}
	d.s.observer.Post(func(time.Time) {
		if h.answered {
			d.receipts.correct(h.m.RequestID, correct)
		} else {
			h.correct = correct
		}
	})
}

// barred words why a grant pauses.
func barred(why error) *refusal {
	if errors.Is(why, control.ErrHidden) {
		return &refusal{protocol.CodeBlackout, "the user hides the screen; your grant goes on when it is shown again"}
	}
	return &refusal{protocol.CodeSecretPrompt, "the program asks the user for a password, which the user types; your grant goes on afterwards"}
}

// fate words what became of an input.
func fate(r input.Receipt) (protocol.Status, protocol.Code, string) {
	status := protocol.StatusDropped
	if r.Written == 0 {
		status = protocol.StatusRefused
	}
	switch r.Fate {
	case input.Written:
		return protocol.StatusWritten, "", ""
	case input.Dropped:
		return protocol.StatusDropped, protocol.CodeNoGrant, "your grant ended"
	case input.NotReading:
		return status, protocol.CodeNotReading, "the program has not read its input for two seconds"
	case input.UserTyping:
		return status, protocol.CodeUserTyping, "the user is typing"
	case input.Gone:
		return status, protocol.CodeExited, "the program has ended"
	case input.Elsewhere:
		return status, protocol.CodeOtherProgram, "the grant is for one program, and another one has the terminal"
	case input.Busy:
		return status, protocol.CodeNotReading, "the grant is for one program, which gets nothing typed ahead: it has not asked for more since what was typed before"
	case input.Refused:
	}
	if no, ok := errors.AsType[*refusal](r.Err); ok {
		return status, no.code, no.say
	}
	switch {
	case errors.Is(r.Err, control.ErrSecret), errors.Is(r.Err, control.ErrHidden):
		return status, barred(r.Err).code, barred(r.Err).say
	case errors.Is(r.Err, control.ErrStale):
		return status, protocol.CodeStaleEpoch, "the grant this input belongs to has ended"
	case errors.Is(r.Err, control.ErrNoGrant):
		return status, protocol.CodeNoGrant, "you do not have the keyboard"
	case errors.Is(r.Err, input.ErrFull):
		return status, protocol.CodeBusy, r.Err.Error()
	}
	return status, protocol.CodeUnavailable, "the input could not be typed"
}

// settle answers at once, or when the screen has been quiet for as long as the agent wants. It runs on the observer's goroutine. The
// agent's time began when its input came; one that had to wait for the user gets a little for this all the same.
func (d *desk) settle(now time.Time, h *holding, result *protocol.InputResult) {
	m := h.m
	d.pointer.landed(h, result)
	if result.Status != protocol.StatusWritten && result.UnsubmittedBytes > 0 {
		d.s.line.leftBehind(func(line string) {
			result.LeftOnLine = line
			d.answerNow(time.Now(), h, result)
		}, func() { d.answer(result) })
		return
	}
	if result.Status != protocol.StatusWritten || m.SettleMs == 0 {
		d.answerNow(now, h, result)
		return
	}
	condition, err := snapshot.Compile(protocol.Until{QuietMs: m.SettleMs})
	if err != nil {
		d.answerNow(now, h, result)
		return
	}
	d.s.observer.Wait(now, false, snapshot.Wait{
		ID: m.RequestID + "#settle", Condition: condition, NotBefore: now, Deadline: later(h.began.Add(patience(m.TimeoutMs)), now.Add(time.Duration(m.SettleMs)*time.Millisecond+settleLeast)),
		Done: func(snapshot.Result) { d.answerNow(time.Now(), h, result) },
	}, func(error) { d.answerNow(now, h, result) })
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (d *desk) answerNow(now time.Time, h *holding, result *protocol.InputResult) {
	m := h.m
	if h.answered = true; h.correct != nil {
		h.correct(result)
	}
	result.Notes = d.mail.take(m.AgentID)
	if result.Status == protocol.StatusWritten || result.Reason == protocol.CodeNoGrant || result.Reason == protocol.CodeStaleEpoch {
		d.answers.take(m.AgentID) // it knows from this whether it may type
	}
	result.Frame = d.s.observer.Answer(now)
	result.Seq = result.Frame.Seq
	d.answer(result)
}

func (d *desk) answer(result *protocol.InputResult) {
	d.receipts.finish(result)
	d.s.link.Send(result)
}
