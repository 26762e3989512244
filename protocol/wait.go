package protocol

import "reflect"

// Limits of a [Wait]. Sizes are bytes.
const (
	MaxConditions = 16               // in each of any and stop of a wait
	MaxPattern    = 1024             // text or regular expression of a wait or a condition
	MaxWaitMs     = 600 * 1000       // longest settle time, and longest interval, in milliseconds
	MaxTimeoutMs  = 24 * 3600 * 1000 // longest wait, in milliseconds
)

// Wait asks for an answer when the condition holds or the time is over.
type Wait struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId,omitempty"`
	Until     Until  `json:"until"`
	// Any are alternatives to Until: the wait is met by any one of them. Stop are conditions that
	// end the wait without meeting it, since they make it pointless. At most MaxConditions each.
	Any  []Until `json:"any,omitempty"`
	Stop []Until `json:"stop,omitempty"`
	// AfterSeq ignores what changed up to this revision.
	AfterSeq uint64 `json:"afterSeq,omitempty"`
	// SinceSeq asks for an answer like that of a [Read] with Follow, which would come too late if
	// the program ends; Scrollback is as in a Read.
	SinceSeq   uint64 `json:"sinceSeq,omitempty"`
	Scrollback int    `json:"scrollback,omitempty"`
	// InputSeq is the revision before the input whose effect is awaited: once the program certainly
	// waits for input again, Text and Regex of Until and Any are also met by what came with that
	// input, see [WaitResult.Stood].
	InputSeq uint64 `json:"inputSeq,omitempty"`
	// Epoch is that of the grant under which the agent typed the input whose effect it awaits: the
	// wait ends unmet when the user takes the keyboard back.
	Epoch     uint64 `json:"epoch,omitempty"`
	TimeoutMs int64  `json:"timeoutMs,omitempty"`
}

// Until is a condition of a wait. Exactly one field is set, and Repaints only together with
// QuietMs.
type Until struct {
	// Text is on the screen, or was printed since the wait began.
	Text string `json:"text,omitempty"`
	// Regex (RE2) matches one row of the screen, or a line printed since the wait began.
	Regex string `json:"regex,omitempty"`
	// Title is part of the title that the program gives its window, or TitleRegex (RE2) matches it.
	Title      string `json:"title,omitempty"`
	TitleRegex string `json:"titleRegex,omitempty"`
	// Gone is no longer on the screen.
	Gone string `json:"gone,omitempty"`
	// Settled: the screen has been quiet for the settle time.
	Settled bool `json:"settled,omitempty"`
	// QuietMs: the screen has been quiet for this long.
	QuietMs int64 `json:"quietMs,omitempty"`
	// Repaints, with QuietMs, ignores rows that the program keeps repainting, as for a clock or a
	// spinner. See [Frame.Repainting].
	Repaints bool `json:"repaints,omitempty"`
	// Changed: the screen changed after AfterSeq.
	Changed bool `json:"changed,omitempty"`
	// Exit: the program ended.
	Exit bool `json:"exit,omitempty"`
	// Waiting: the program waits for input.
	Waiting bool `json:"waiting,omitempty"`
	// Control: the request of this agent was decided, its control ended, the user wrote to it, or
	// another agent's control ended while it did not ask.
	Control bool `json:"control,omitempty"`
}

// WaitResult answers a [Wait].
type WaitResult struct {
	ID        string `json:"id"`
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Met       bool   `json:"met"`
	// Matched is the text that matched, or a word for the fact that met the wait ("exit",
	// "granted", "refused", ...).
	Matched string `json:"matched,omitempty"`
	// Came is the condition that ended a wait with Any or Stop. Stopped is set if it was one of
	// Stop; Met is then false. A wait for text after an input is also stopped, by Waiting, once a
	// shell waits again whose marks say that the command failed.
	Came    *Until `json:"came,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	// Stood is set if the matched text is not new: see [StoodInput].
	Stood string `json:"stood,omitempty"`
	// Line is the line that contains Matched: see [UntilResult].
	Line string `json:"line,omitempty"`
	// Ended is why control ended, for a wait with Epoch that ended with it.
	Ended Reason `json:"ended,omitempty"`
	Seq   uint64 `json:"seq,omitempty"`
	Frame *Frame `json:"frame,omitempty"`
	// ExitCode and Signal say how the program ended, if it has.
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
	// Text and the fields up to HiddenText are those of a [ReadResult], for a wait with SinceSeq.
	Text       string `json:"text,omitempty"`
	FirstLine  uint64 `json:"firstLine,omitempty"`
	NextLine   uint64 `json:"nextLine,omitempty"`
	OldestLine uint64 `json:"oldestLine,omitempty"`
	Unseen     uint64 `json:"unseen,omitempty"`
	HiddenText []int  `json:"hiddenText,omitempty"`
	// Notes are messages of the user to this agent that it has not received yet.
	Notes []string `json:"notes,omitempty"`
}

// StoodInput marks a matched text that came with the input, before AfterSeq, in a wait with
// InputSeq; and in any wait, the echo of what an agent typed ahead.
const StoodInput = "input"

// Read returns the answer as one to a [Read].
func (m *WaitResult) Read() *ReadResult {
	return &ReadResult{
		SessionID:  m.SessionID,
		Frame:      m.Frame,
		Text:       m.Text,
		FirstLine:  m.FirstLine,
		NextLine:   m.NextLine,
		OldestLine: m.OldestLine,
		Unseen:     m.Unseen,
		HiddenText: m.HiddenText,
		Notes:      m.Notes,
	}
}

// MatchedWaiting is Matched for a wait for waiting that was met by a fact. If it was met by a
// guess, Matched only begins with it: "waiting (guess: relay)".
const MatchedWaiting = "waiting"

// Repeats reports whether m repeats an earlier wait. TimeoutMs may differ: a client that repeats a
// wait over a new connection has less time left for it.
func (m *Wait) Repeats(earlier *Wait) bool {
	same := *earlier
	same.TimeoutMs = m.TimeoutMs
	return reflect.DeepEqual(&same, m)
}

// countConditions counts the conditions that are set.
func (u *Until) countConditions() int {
	n := 0
	for _, set := range []bool{
		u.Text != "",
		u.Regex != "",
		u.Title != "",
		u.TitleRegex != "",
		u.Gone != "",
		u.Settled,
		u.QuietMs != 0,
		u.Changed,
		u.Exit,
		u.Waiting,
		u.Control,
	} {
		if set {
			n++
		}
	}
	return n
}

func (m *Wait) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).
		checkUntil("until", &m.Until).checkFurther("any", m.Any).checkFurther("stop", m.Stop).
		upTo("timeoutMs", m.TimeoutMs, MaxTimeoutMs).
		between("scrollback", m.Scrollback, 0, MaxHistory).done()
}

func (m *WaitResult) check() error {
	return new(checks).id("id", m.ID).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		checkFrame(m.Frame).checkNotes(m.Notes).done()
}

func (c *checks) checkUntil(field string, u *Until) *checks {
	if n := u.countConditions(); n != 1 {
		c.fail(CodeBadMessage, field, "sets %d conditions, it must set exactly one of text, "+
			"regex, title, titleRegex, gone, settled, quietMs, changed, exit, waiting, control", n)
	}
	return c.text(field+".text", u.Text, MaxPattern).text(field+".regex", u.Regex, MaxPattern).
		text(field+".title", u.Title, MaxPattern).
		text(field+".titleRegex", u.TitleRegex, MaxPattern).
		text(field+".gone", u.Gone, MaxPattern).upTo(field+".quietMs", u.QuietMs, MaxWaitMs).
		checkRepaints(field+".repaints", u)
}

func (c *checks) checkRepaints(field string, u *Until) *checks {
	if u.Repaints && u.QuietMs == 0 {
		c.fail(CodeBadMessage, field, "needs quietMs")
	}
	return c
}

// checkFurther checks the conditions of a wait besides Until. Only Until can be a wait for the
// user's decision.
func (c *checks) checkFurther(field string, all []Until) *checks {
	if len(all) > MaxConditions {
		c.fail(CodeTooLarge, field, "holds %d conditions, the limit is %d", len(all), MaxConditions)
	}
	for i := range all {
		if c.checkUntil(field, &all[i]); all[i].Control {
			c.fail(CodeBadMessage, field, "cannot wait for control: only until can")
		}
	}
	return c
}
