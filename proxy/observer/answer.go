package observer

import (
	"time"

	"terminalproxy/protocol"
)

// Answer is the frame that goes into an answer: with what the program is doing, which takes a look at /proc.
func (o *Observer) Answer(now time.Time) *protocol.Frame {
	o.privacy.look(now)
	f := o.Frame(now)
	if !f.Blackout.ByUser() {
		f.Activity = o.activity(now, f.IdleMs)
		if f.Blackout != nil {
			f.Activity.UnreadBytes = 0 // how long a password is
		}
		o.mark(f)
	}
	return f
}

// activity is what the program is doing, as facts with their evidence.
func (o *Observer) activity(now time.Time, idleMs int64) *protocol.Activity {
	a := &protocol.Activity{State: "busy", SinceMs: idleMs}
	if o.exit != nil {
		a.State, a.ExitCode, a.Signal = protocol.StateExited, &o.exit.Code, o.exit.Signal
		return a
	}
	a.Foreground = protocol.Visible(o.program.Foreground())
	o.inputWait.report(now, o.model.Rev(), a)
	a.UnreadBytes, a.OutputStopped = o.program.Unread(), o.program.OutputStopped()
	return a
}

// AnswerRead fills in the answer to a read. The error, in words for the agent, is about the line that it asked for.
func (o *Observer) AnswerRead(now time.Time, m *protocol.Read, r *protocol.ReadResult) error {
	r.Frame = o.Answer(now)
	if r.Frame.Blackout.ByUser() {
		return nil
	}
	seen := o.sent.at(m.SinceSeq)
	if m.Attributes { // whole: rows are compared without their colours
		o.colour(r.Frame)
	} else {
		o.reduce(r.Frame, seen, m.Follow)
	}
	switch {
	case m.Command > 0:
		return o.command(now, r, m)
	case m.Match != "":
		return o.find(r, m)
	case m.Scrollback > 0:
		return o.past(r, m, seen)
	case m.Text:
		r.Text = o.content()
	}
	return nil
}

// AnswerWait fills in the answer to a wait that is over.
func (o *Observer) AnswerWait(now time.Time, m *protocol.Wait, out *protocol.WaitResult) {
	out.Seq, out.Frame = o.model.Rev(), o.Answer(now)
	if m.SinceSeq > 0 {
		o.followed(out, m)
	}
	if o.exit != nil {
		out.ExitCode, out.Signal = &o.exit.Code, o.exit.Signal
	}
}

// followed makes the answer to a wait that of a read with Follow.
func (o *Observer) followed(out *protocol.WaitResult, m *protocol.Wait) {
	if out.Frame.Blackout.ByUser() {
		return
	}
	seen, r := o.sent.at(m.SinceSeq), out.Read()
	o.reduce(r.Frame, seen, true)
	if o.past(r, &protocol.Read{Follow: true, Scrollback: m.Scrollback}, seen) != nil {
		return // it asks for no line by its number
	}
	out.Text, out.FirstLine, out.NextLine, out.OldestLine, out.HiddenText = r.Text, r.FirstLine, r.NextLine, r.OldestLine, r.HiddenText
	out.Unseen = r.Unseen
}
