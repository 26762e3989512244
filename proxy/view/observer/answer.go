package observer

import (
	"time"

	"terminalproxy/protocol"
)

// AnswerFrame is [Observer.Frame] for an answer: it adds what the program is doing, which costs a
// look at /proc.
func (o *Observer) AnswerFrame(now time.Time) *protocol.Frame {
	o.privacy.checkPrompt(now)
	f := o.Frame(now)
	if !f.Blackout.ByUser() {
		f.Activity = o.programActivity(now, f.IdleMs)
		if f.Blackout != nil {
			f.Activity.UnreadBytes = 0 // it would tell the length of a password
		}
		o.completeFrame(f)
	}
	return f
}

// programActivity returns what the program is doing, as facts with their evidence.
func (o *Observer) programActivity(now time.Time, idleMs int64) *protocol.Activity {
	a := &protocol.Activity{State: "busy", SinceMs: idleMs}
	if o.exit != nil {
		a.State, a.ExitCode, a.Signal = protocol.StateExited, &o.exit.Code, o.exit.Signal
		return a
	}
	o.inputWait.addTo(now, o.model.Rev(), a)
	a.UnreadBytes, a.OutputStopped = o.program.CountUnread(), o.program.IsOutputStopped()
	return a
}

// CompleteRead fills in the answer to a read. Its error is for the agent, and about the line that
// it asked for.
func (o *Observer) CompleteRead(now time.Time, m *protocol.Read, r *protocol.ReadResult) error {
	r.Frame = o.AnswerFrame(now)
	if r.Frame.Blackout.ByUser() {
		return nil
	}
	seen := o.sent.findScreen(m.SinceSeq)
	if m.Attributes { // no delta: rows are compared without their colours
		o.addColours(r.Frame)
	} else {
		shrinkToDelta(r.Frame, seen, m.Follow)
	}
	switch {
	case m.Command > 0:
		return o.answerCommand(now, r, m)
	case m.Match != "":
		return o.searchHistory(r, m)
	case m.Scrollback > 0:
		return o.addHistory(r, m, seen)
	case m.Text:
		r.Text = o.rollingText()
	}
	return nil
}

// CompleteWait fills in the answer to an ended wait.
func (o *Observer) CompleteWait(now time.Time, m *protocol.Wait, out *protocol.WaitResult) {
	out.Seq, out.Frame = o.model.Rev(), o.AnswerFrame(now)
	if m.SinceSeq > 0 {
		o.addFollowedRows(out, m)
	}
	if o.exit != nil {
		out.ExitCode, out.Signal = &o.exit.Code, o.exit.Signal
	}
}

// addFollowedRows makes the answer to a wait the same as that to a read with Follow.
func (o *Observer) addFollowedRows(out *protocol.WaitResult, m *protocol.Wait) {
	if out.Frame.Blackout.ByUser() {
		return
	}
	seen, r := o.sent.findScreen(m.SinceSeq), out.Read()
	shrinkToDelta(r.Frame, seen, true)
	if o.addHistory(r, &protocol.Read{Follow: true, Scrollback: m.Scrollback}, seen) != nil {
		return // cannot happen: the read names no line
	}
	out.Text, out.HiddenText, out.Unseen = r.Text, r.HiddenText, r.Unseen
	out.FirstLine, out.NextLine, out.OldestLine = r.FirstLine, r.NextLine, r.OldestLine
}
