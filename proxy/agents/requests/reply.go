package requests

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/view/snapshot"
)

// minSettleTime is how much time, beyond the quiet period, the screen has to settle, however late
// the input was typed.
const minSettleTime = time.Second

// reply answers an input that has ended, once the screen shows its effect. Owned by the observer's
// goroutine; after that has ended, by the goroutine whose post failed.
type reply struct {
	in      *delivery
	settled bool // the program waits for its next line
	// repainting lists the rows that kept changing while the rest of the screen was quiet.
	repainting []int
	wrote      time.Time // the last byte was known to be written then
	// correct changes a receipt before it is sent; nil if the receipt is right.
	correct func(*protocol.InputResult)
}

// answerWhenSettled sends the receipt at once, or when the screen has been quiet for as long as the
// agent wants. An input that had to wait for the user gets a little time for that, even past its
// deadline, which counts from its arrival.
func (p *reply) answerWhenSettled(now time.Time, result *protocol.InputResult) {
	in, m := p.in, p.in.m
	in.conditions.cancelWait()
	in.all.encoder.recordLanding(in, result)
	written := result.Status == protocol.StatusWritten
	if !written && result.UnsubmittedBytes > 0 {
		in.all.line.callWithLeftover(func(line string) {
			result.LeftOnLine = line
			p.answerNow(time.Now(), result)
		}, func() { p.answerAtExit(result) })
		return
	}
	_, ends := in.conditions.conditionalPart(len(in.steps) + 1)
	if ends && written {
		p.answerAtCondition(now, result)
		return
	}
	condition, err := snapshot.Compile(protocol.Until{QuietMs: m.SettleMs, Repaints: true})
	if !written || m.SettleMs == 0 || err != nil {
		p.answerNow(now, result)
		return
	}
	deadline := snapshot.LaterOf(in.began.Add(timeoutOf(m.TimeoutMs)),
		now.Add(time.Duration(m.SettleMs)*time.Millisecond+minSettleTime))
	in.Observer.OpenWait(now, false, snapshot.Wait{
		ID: m.RequestID + "#settle", Condition: condition, NotBefore: now, Deadline: deadline,
		Done: func(r snapshot.Result) {
			p.repainting, p.settled = r.Repainting, p.settled || r.End == snapshot.Met
			in.Observer.CancelWait(m.RequestID + "#line")
			p.answerNow(time.Now(), result)
		},
	}, func(error) { p.answerNow(now, result) })
	if p.wrote = now; in.life.State() != pump.Sent && in.all.line.isCooked() {
		p.answerAtNextPrompt(now, deadline, result)
	}
}

// answerAtNextPrompt answers once a program that reads lines has processed one, waits for the next,
// and has been quiet for a moment: a program that reads on a separate thread may still print.
func (p *reply) answerAtNextPrompt(now, deadline time.Time, result *protocol.InputResult) {
	in := p.in
	waits, _ := snapshot.Compile(protocol.Until{Waiting: true}) // valid conditions
	quiet, _ := snapshot.Compile(protocol.Until{QuietMs: stillFor.Milliseconds()})
	id := in.m.RequestID + "#line"
	then := func(do func(now time.Time)) func(snapshot.Result) {
		return func(r snapshot.Result) {
			if r.End == snapshot.Met && in.life.State() != pump.Sent && in.all.line.isCooked() {
				do(time.Now())
			}
		}
	}
	in.Observer.OpenWait(now, true, snapshot.Wait{
		ID:        id,
		Condition: waits,
		Deadline:  deadline,
		Done: then(func(now time.Time) {
			in.Observer.OpenWait(now, false, snapshot.Wait{
				ID:        id,
				Condition: quiet,
				NotBefore: p.wrote,
				Deadline:  deadline,
				Done: then(func(now time.Time) {
					p.settled = true
					in.Observer.CancelWait(in.m.RequestID + "#settle")
					p.answerNow(now, result)
				}),
			}, func(error) {})
		}),
	}, func(error) {})
}

func (p *reply) answerNow(now time.Time, result *protocol.InputResult) {
	in, m := p.in, p.in.m
	if !in.life.Advance(pump.Receipted) {
		return // it has been answered
	}
	if p.correct != nil {
		p.correct(result)
	}
	in.conditions.reportEnds(result)
	result.Notes = in.all.inbox.takeNotes(m.AgentID)
	if result.Status == protocol.StatusWritten || result.Reason == protocol.CodeNoGrant ||
		result.Reason == protocol.CodeStaleEpoch {
		in.all.waits.answers.takeDecision(m.AgentID) // the receipt tells it whether it may type
	}
	result.Frame = in.Observer.AnswerFrame(now)
	in.all.seen.noteSeen(m.AgentID)
	result.Frame.Settled = result.Frame.Settled || p.settled
	result.Frame.Repainting = p.repainting
	result.Seq = result.Frame.Seq
	in.all.sendReceipt(result)
}

// answerAtExit sends the receipt without a screen, because the observer has ended.
func (p *reply) answerAtExit(result *protocol.InputResult) {
	if p.in.life.Advance(pump.Receipted) {
		p.in.all.sendReceipt(result)
	}
}

// answerAtCondition sends the receipt once the condition of the last part is met, or has failed.
func (p *reply) answerAtCondition(now time.Time, result *protocol.InputResult) {
	in := p.in
	part := len(in.m.Parts) - 1
	id := in.m.RequestID
	done := func(r snapshot.Result) {
		delete(in.all.waits.driving, id)
		p.settled = r.End == snapshot.Met && r.Matched == "quiet"
		p.repainting = r.Repainting
		p.answerNow(time.Now(), result)
	}
	end := func() {
		over := snapshot.Result{End: snapshot.TimedOut}
		in.conditions.noteEnd(part, over)
		result.Ended = protocol.ReasonReclaimed
		done(over)
	}
	open := in.all.waits.noteDriven(id, drivenWait{
		agent: in.m.AgentID, epoch: in.epoch, end: end, cancel: func() bool {
			open := in.conditions.waiting != ""
			in.conditions.cancelWait()
			return open
		},
	})
	if !open {
		end()
		return
	}
	in.conditions.openWait(now, part, len(in.steps)+1, done, func(error) {
		delete(in.all.waits.driving, id)
		p.answerNow(now, result)
	})
}

func (d *deliveries) sendReceipt(result *protocol.InputResult) {
	d.receipts.storeReceipt(result)
	d.Link.Send(result)
}
