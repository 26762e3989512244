package requests

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/view/snapshot"
)

// condition is what must come true after a part of an input.
type condition struct {
	until *snapshot.Condition
	also  []snapshot.Also
	looks bool // it depends on the program's input wait
}

// compileConditions returns the conditions of an input by its parts. The error is a
// *protocol.FieldError.
func compileConditions(m *protocol.Input) (map[int]condition, error) {
	all := make(map[int]condition)
	for i, p := range m.Parts {
		if p.Until == nil {
			continue
		}
		// Its text also counts if it came with the input: see [protocol.Wait].
		wait := &protocol.Wait{Until: *p.Until, Stop: p.Stop, InputSeq: protocol.FirstSeq}
		until, also, err := snapshot.CompileAll(wait)
		if err != nil {
			return nil, err
		}
		all[i] = condition{until, also, dependsOnProgram(wait)}
	}
	return all, nil
}

// endsPart returns the part whose condition must come true before step k, which counts from 1; ok
// is false if there is none.
func (in *delivery) endsPart(k int) (part int, ok bool) {
	part = in.steps[k-2].part
	_, ok = in.conditions[part]
	return part, ok && (k > len(in.steps) || in.steps[k-1].part != part)
}

// openUntil waits for the condition of a part, which ends before step k. It runs on the observer's
// goroutine.
func (h *Handler) openUntil(
	now time.Time, in *delivery, part, k int, done func(snapshot.Result), fail func(error),
) {
	first := k - 2 // the first step since the condition before
	for first > 0 {
		before := in.steps[first-1].part
		if _, ends := in.conditions[before]; ends && before != part {
			break
		}
		first--
	}
	c := in.conditions[part]
	in.waiting = in.waitID(k)
	h.Observer.OpenWait(now, c.looks, snapshot.Wait{
		ID:        in.waiting,
		Condition: c.until,
		Also:      c.also,
		AfterSeq:  in.steps[k-2].from,
		SinceSeq:  in.steps[first].from,
		InputSeq:  in.steps[first].from,
		NotBefore: now,
		Deadline:  laterOf(in.began.Add(timeoutOf(in.m.TimeoutMs)), now.Add(settleLeast)),
		Done: func(r snapshot.Result) {
			in.waiting = ""
			in.noteEnd(part, r)
			done(r)
		},
	}, func(err error) {
		in.waiting = ""
		fail(&refusal{protocol.CodeBusy, err.Error()})
	})
}

// noteEnd notes how the condition of a part ended.
func (in *delivery) noteEnd(part int, r snapshot.Result) {
	end := &protocol.UntilResult{
		Met: r.End == snapshot.Met, Matched: r.Matched, Stood: r.Stood,
		Line: cutAroundMatch(r.Line, r.Matched),
	}
	switch p := in.m.Parts[part]; {
	case !end.Met || len(p.Stop) == 0:
	case r.Came == nil:
		end.Came = p.Until
	default:
		end.Came, end.Stopped, end.Met = &r.Came.Until, r.Came.Stop, !r.Came.Stop
	}
	if in.ends == nil {
		in.ends = make(map[int]*protocol.UntilResult)
	}
	in.ends[part] = end
}

// reportEnds puts the ends of the conditions into a receipt.
func (in *delivery) reportEnds(r *protocol.InputResult) {
	for part, end := range in.ends {
		if part < len(r.Parts) {
			r.Parts[part].Until = end
		}
	}
}

// cutAroundMatch bounds a line to [protocol.MaxShown] characters that hold the match.
func cutAroundMatch(line, matched string) string {
	all := []rune(line)
	if len(all) <= protocol.MaxShown {
		return line
	}
	before, _, _ := strings.Cut(line, matched)
	start := utf8.RuneCountInString(before)
	if start+utf8.RuneCountInString(matched) <= protocol.MaxShown {
		start = 0
	}
	start = min(start, len(all)-protocol.MaxShown)
	return string(all[start : start+protocol.MaxShown])
}

// unmetError returns why the parts behind a part must not be typed, or nil.
func (in *delivery) unmetError(part int, r snapshot.Result) error {
	after := fmt.Sprintf("after part %d ", part+1)
	switch {
	case r.End == snapshot.Dear:
		return &refusal{protocol.CodeBadMessage, "the regular expression " + after +
			"is so slow that it would hold up the program's output; simplify it"}
	case r.End == snapshot.TimedOut:
		return &refusal{protocol.CodeTimeout, "what was to come " + after + "did not come in time"}
	case r.End != snapshot.Met:
		return &refusal{protocol.CodeExited, "the program ended " + after +
			"before what was to come"}
	case in.ends[part].Stopped:
		return &refusal{protocol.CodeScreenChanged, "a stop condition came " + after}
	}
	return nil
}

// unexpectedError returns why the parts behind a condition must not be typed even if it is met, or
// nil: the agent did not expect the user's keys, nor a question for a secret.
func (h *Handler) unexpectedError(in *delivery) error {
	if h.Tracker.TypedLine().Keys() != in.userKeysAtStep {
		return &refusal{
			protocol.CodeUserTyping,
			"the user typed meanwhile, so the rest is not typed: it was meant for another screen",
		}
	}
	return h.inputRefusal(in, time.Now())
}

// cancelWait ends the wait between two parts, if one is open.
func (in *delivery) cancelWait(h *Handler) {
	if in.waiting != "" {
		h.Observer.CancelWait(in.waiting)
		in.waiting = ""
	}
}

// answerAtCondition sends the receipt once the condition of the last part is met, or has failed. It
// runs on the observer's goroutine.
func (h *Handler) answerAtCondition(now time.Time, in *delivery, result *protocol.InputResult) {
	part := len(in.m.Parts) - 1
	id := in.m.RequestID
	done := func(r snapshot.Result) {
		h.waits.forgetDriven(id)
		in.settled = r.End == snapshot.Met && r.Matched == "quiet"
		in.repainting = r.Repainting
		h.answerNow(time.Now(), in, result)
	}
	end := func() {
		over := snapshot.Result{End: snapshot.TimedOut}
		in.noteEnd(part, over)
		result.Ended = protocol.ReasonReclaimed
		done(over)
	}
	open := h.waits.noteDriven(id, drivenWait{
		agent: in.m.AgentID, epoch: in.epoch, end: end, cancel: func() bool {
			open := in.waiting != ""
			in.cancelWait(h)
			return open
		},
	})
	if !open {
		end()
		return
	}
	h.openUntil(now, in, part, len(in.steps)+1, done, func(error) {
		h.waits.forgetDriven(id)
		h.answerNow(now, in, result)
	})
}
