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
	until            *snapshot.Condition
	alternatives     []snapshot.Alternative
	dependsOnProgram bool // it depends on the program's input wait
}

// compileConditions returns the conditions of an input by its parts. The error is a
// *protocol.FieldError.
func compileConditions(m *protocol.Input) (map[int]condition, error) {
	all := make(map[int]condition)
	for i, p := range m.Parts {
		if p.Until == nil {
			continue
		}
		// A text also counts if it came with the input: see [protocol.Wait].
		wait := &protocol.Wait{Until: *p.Until, Stop: p.Stop, InputSeq: protocol.FirstSeq}
		until, also, err := snapshot.CompileAll(wait)
		if err != nil {
			return nil, err
		}
		all[i] = condition{until, also, dependsOnProgram(wait)}
	}
	return all, nil
}

// conditions follows the conditions between the parts of an input. Owned by the observer's
// goroutine.
type conditions struct {
	in      *delivery
	byPart  map[int]condition // in place of a pause after the part
	waiting string            // the id of the open wait for a condition, or ""
	ends    map[int]*protocol.UntilResult
}

// conditionalPart returns the part whose condition must come true before step k, which counts from
// 1. ok is false if step k has to wait for no condition.
func (c *conditions) conditionalPart(k int) (part int, ok bool) {
	steps := c.in.steps
	part = steps[k-2].part
	_, ok = c.byPart[part]
	return part, ok && (k > len(steps) || steps[k-1].part != part)
}

// openWait opens the wait for the condition of a part, which ends before step k.
func (c *conditions) openWait(
	now time.Time, part, k int, done func(snapshot.Result), fail func(error),
) {
	in := c.in
	first := k - 2 // the first step since the condition before
	for first > 0 {
		before := in.steps[first-1].part
		if _, ends := c.byPart[before]; ends && before != part {
			break
		}
		first--
	}
	condition := c.byPart[part]
	c.waiting = in.waitID(k)
	in.Observer.OpenWait(now, condition.dependsOnProgram, snapshot.Wait{
		ID:           c.waiting,
		Condition:    condition.until,
		Alternatives: condition.alternatives,
		AfterSeq:     in.steps[k-2].from,
		SinceSeq:     in.steps[first].from,
		InputSeq:     in.steps[first].from,
		NotBefore:    now,
		Deadline:     snapshot.LaterOf(in.began.Add(timeoutOf(in.m.TimeoutMs)), now.Add(minSettleTime)),
		Done: func(r snapshot.Result) {
			c.waiting = ""
			c.noteEnd(part, r)
			done(r)
		},
	}, func(err error) {
		c.waiting = ""
		fail(&refusal{protocol.CodeBusy, err.Error()})
	})
}

// noteEnd notes how the condition of a part ended.
func (c *conditions) noteEnd(part int, r snapshot.Result) {
	end := &protocol.UntilResult{
		Met: r.End == snapshot.Met, Matched: r.Matched, Stood: r.Stood,
		Line: cutAroundMatch(r.Line, r.Matched),
	}
	switch p, came := c.in.m.Parts[part], r.Alternative; {
	case came != nil:
		end.Came, end.Stopped, end.Met = &came.Until, came.Stop, !came.Stop
	case end.Met && len(p.Stop) > 0:
		end.Came = p.Until
	}
	c.ends[part] = end
}

// reportEnds puts the ends of the conditions into a receipt.
func (c *conditions) reportEnds(r *protocol.InputResult) {
	for part, end := range c.ends {
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
func (c *conditions) unmetError(part int, r snapshot.Result) error {
	after := fmt.Sprintf("after part %d ", part+1)
	switch {
	case r.End == snapshot.Costly:
		return &refusal{protocol.CodeBadMessage, "the regular expression " + after +
			"is so slow that it would hold up the program's output; simplify it"}
	case r.End == snapshot.TimedOut:
		return &refusal{protocol.CodeTimeout, "the condition " + after + "was not met in time"}
	case r.End != snapshot.Met:
		return &refusal{protocol.CodeExited, "the program ended before the condition " + after +
			"was met"}
	case c.ends[part].Stopped:
		return &refusal{protocol.CodeScreenChanged, "a stop condition " + after + "was met"}
	}
	return nil
}

// cancelWait ends the wait between two parts, if one is open.
func (c *conditions) cancelWait() {
	if c.waiting != "" {
		c.in.Observer.CancelWait(c.waiting)
		c.waiting = ""
	}
}

// unexpectedError returns why the parts behind a condition must not be typed even if it is met, or
// nil: the agent did not expect the user's keys, nor a question for a secret.
func (in *delivery) unexpectedError() error {
	if in.Tracker.TypedLine().Keys() != in.userKeysAtStep {
		return &refusal{
			protocol.CodeUserTyping,
			"the user typed meanwhile, so the rest is not typed: it was meant for another screen",
		}
	}
	return in.inputRefusal(time.Now())
}
