package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// checks collects the first complaint about a message; later ones are dropped.
type checks struct{ err *FieldError }

func (c *checks) fail(code Code, field, format string, args ...any) {
	if c.err == nil {
		c.err = &FieldError{Code: code, Field: field, Say: fmt.Sprintf(format, args...)}
	}
}

// done returns the first complaint as an error, or nil.
func (c *checks) done() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

func (c *checks) id(field, value string) *checks {
	switch {
	case value == "":
		c.fail(CodeBadMessage, field, "is missing")
	case !ValidID(value):
		c.fail(CodeBadMessage, field, "must be 1 to %d characters of A-Z a-z 0-9 . _ : -", MaxID)
	}
	return c
}

func (c *checks) optionalID(field, value string) *checks {
	if value != "" {
		c.id(field, value)
	}
	return c
}

// text checks a string to be shown or stored: its length in bytes and its encoding.
func (c *checks) text(field, value string, limit int) *checks {
	switch {
	case len(value) > limit:
		c.fail(CodeTooLarge, field, "is %d bytes long, the limit is %d", len(value), limit)
	case !utf8.ValidString(value):
		c.fail(CodeBadMessage, field, "is not UTF-8")
	}
	return c
}

func (c *checks) required(field, value string, limit int) *checks {
	if value == "" {
		c.fail(CodeBadMessage, field, "is missing")
	}
	return c.text(field, value, limit)
}

func (c *checks) between(field string, value, low, high int64) *checks {
	if value < low || value > high {
		c.fail(CodeBadMessage, field, "is %d, must be %d to %d", value, low, high)
	}
	return c
}

func (c *checks) oneOf(field, value string, allowed ...string) *checks {
	if slices.Contains(allowed, value) {
		return c
	}
	named := slices.DeleteFunc(slices.Clone(allowed), func(a string) bool { return a == "" })
	c.fail(CodeBadMessage, field, "is %.64q, must be one of: %s", value, strings.Join(named, ", "))
	return c
}

func (c *checks) size(cols, rows int) *checks {
	return c.between("cols", int64(cols), 1, MaxSize).between("rows", int64(rows), 1, MaxSize)
}

func (c *checks) checkScreen(s *Screen) *checks {
	if s == nil {
		return c
	}
	c.between("screen.cols", int64(s.Cols), 1, MaxSize).
		between("screen.rows", int64(s.Rows), 1, MaxSize)
	if len(s.Lines) > s.Rows {
		c.fail(CodeBadMessage, "screen.lines", "has %d rows, screen.rows is %d",
			len(s.Lines), s.Rows)
	}
	if p := s.Progress; p != nil {
		c.text("screen.progress.state", p.State, MaxName).
			between("screen.progress.percent", int64(p.Percent), 0, 100)
	}
	return c.between("screen.cursor.row", int64(s.Cursor.Row), 0, int64(s.Rows)-1).
		between("screen.cursor.col", int64(s.Cursor.Col), 0, int64(s.Cols)-1)
}

func (c *checks) checkChanged(field string, changed []Row, rows int) *checks {
	for _, r := range changed {
		c.between(field+".row", int64(r.Row), 0, int64(rows)-1)
	}
	return c
}

func (c *checks) checkFrame(f *Frame) *checks {
	if f == nil {
		return c
	}
	return c.checkScreen(&f.Screen).checkChanged("frame.changed", f.Changed, f.Screen.Rows).
		checkHidden("frame.hiddenText", f.HiddenText, f.Screen.Rows).
		checkHidden("frame.repainting", f.Repainting, f.Screen.Rows).
		between("frame.moved", int64(f.Moved), -int64(f.Screen.Rows), int64(f.Screen.Rows)).
		checkHighlights(f.Highlights, &f.Screen).checkPictures(f.Pictures, &f.Screen).
		checkBlackout("frame.blackout", f.Blackout)
}

func (c *checks) checkPictures(all []Picture, s *Screen) *checks {
	c.between("frame.pictures", int64(len(all)), 0, MaxPictures)
	for _, p := range all {
		c.between("frame.pictures.row", int64(p.Row), 0, int64(s.Rows)-1).
			between("frame.pictures.col", int64(p.Col), 0, int64(s.Cols)-1).
			between("frame.pictures.rows", int64(p.Rows), 0, int64(s.Rows)).
			between("frame.pictures.cols", int64(p.Cols), 0, int64(s.Cols)).
			text("frame.pictures.kind", p.Kind, MaxName)
	}
	return c
}

func (c *checks) checkHighlights(all []Highlight, s *Screen) *checks {
	c.between("frame.highlights", int64(len(all)), 0, MaxHighlights)
	for _, h := range all {
		c.between("frame.highlights.row", int64(h.Row), 0, int64(s.Rows)-1).
			between("frame.highlights.rows", int64(h.Rows), 0, int64(s.Rows)).
			between("frame.highlights.col", int64(h.Col), 0, int64(s.Cols)-1).
			between("frame.highlights.cols", int64(h.Cols), 1, int64(s.Cols)).
			text("frame.highlights.text", h.Text, 16*MaxHighlight)
	}
	return c
}

func (c *checks) checkHidden(field string, rows []int, all int) *checks {
	for _, row := range rows {
		c.between(field, int64(row), 0, int64(all)-1)
	}
	return c
}

func (c *checks) checkLevel(field string, l Level) *checks {
	return c.oneOf(field, string(l), string(LevelType), string(LevelDrive))
}

func (c *checks) optionalLevel(field string, l Level) *checks {
	if l != "" {
		c.checkLevel(field, l)
	}
	return c
}

func (c *checks) checkExpect(e *Expect) *checks {
	if e == nil {
		return c
	}
	c.text("expect.hash", e.Hash, MaxID).text("expect.text", e.Text, MaxPattern).
		text("expect.foreground", e.Foreground, MaxName)
	if e.CursorRow != nil {
		c.between("expect.cursorRow", int64(*e.CursorRow), 0, MaxSize-1)
	}
	return c
}

// checkParts checks what an input types. The proxy reads what a mouse does, and names of keys.
func (c *checks) checkParts(m *Input) *checks {
	if len(m.Parts) == 0 {
		return c.checkPart("", m.All()[0])
	}
	if len(m.Parts) > MaxParts {
		c.fail(CodeTooLarge, "parts", "has %d parts, the limit is %d", len(m.Parts), MaxParts)
	}
	if n := m.Size(); n > MaxInput {
		c.fail(CodeTooLarge, "parts", "has %d bytes of data, the limit is %d", n, MaxInput)
	}
	steps := 0
	for i, p := range m.Parts {
		if c.checkPart("parts.", p); i > 0 && p.InputKind == InputMouse {
			c.fail(CodeBadMessage, "parts", "has a mouse part after another: it acts on the "+
				"screen as it was seen, so it comes first")
		}
		if p.Until != nil {
			steps++
		}
		c.checkStep(p, i == len(m.Parts)-1)
	}
	if steps > MaxSteps {
		c.fail(CodeTooLarge, "parts", "has until %d times, the limit is %d: send the rest in "+
			"another input", steps, MaxSteps)
	}
	return c
}

// checkStep checks what must come true after a part.
func (c *checks) checkStep(p InputPart, last bool) *checks {
	if p.Until == nil {
		if len(p.Stop) > 0 {
			c.fail(CodeBadMessage, "parts.stop", "belongs to until: what must come true")
		}
		return c
	}
	c.checkUntil("parts.until", p.Until).checkFurther("parts.stop", p.Stop)
	switch {
	case p.Until.Control:
		c.fail(CodeBadMessage, "parts.until.control", "is for a wait: an input has its grant")
	case p.Until.Exit && !last:
		c.fail(CodeBadMessage, "parts.until.exit", "is for the last part: no other can be typed "+
			"after the program's end")
	}
	return c
}

func (c *checks) checkPart(in string, p InputPart) *checks {
	c.required(in+"data", p.Data, MaxInput).
		oneOf(in+"kind", string(p.InputKind), "", string(InputKeys), string(InputText),
			string(InputPaste), string(InputMouse), string(InputLines))
	switch {
	case p.InputKind == InputMouse:
	case p.At != nil:
		c.fail(CodeBadMessage, in+"at", "belongs to the kind mouse")
	case p.On != "":
		c.fail(CodeBadMessage, in+"on", "belongs to the kind mouse")
	case p.To != nil:
		c.fail(CodeBadMessage, in+"to", "belongs to the kind mouse")
	}
	return c.checkCell(in+"at", p.At).text(in+"on", p.On, MaxPattern).checkCell(in+"to", p.To)
}

func (c *checks) checkCell(field string, at *Cell) *checks {
	if at == nil {
		return c
	}
	return c.between(field+".row", int64(at.Row), 0, MaxSize-1).
		between(field+".col", int64(at.Col), 0, MaxSize-1)
}

// checkNotes checks the user's messages that an answer carries.
func (c *checks) checkNotes(notes []string) *checks {
	for _, n := range notes {
		c.required("notes", n, MaxText)
	}
	return c
}

func (m *Snapshot) check() error {
	c := new(checks)
	c.id("id", m.ID).id("sessionId", m.SessionID).text("content", m.Content, 4*ContentRunes).
		checkScreen(m.Screen).checkBlackout("blackout", m.Blackout)
	if m.Screen != nil {
		c.checkChanged("changed", m.Changed, m.Screen.Rows).
			checkHidden("hiddenText", m.HiddenText, m.Screen.Rows)
	}
	return c.done()
}

func (m *ControlGrant) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).
		optionalID("requestId", m.RequestID).
		optionalID("agentId", m.AgentID).text("agentName", m.AgentName, MaxName).
		optionalLevel("level", m.Level).
		text("by", m.By, MaxName).checkNotes(m.Notes).done()
}

func (m *ControlRevoke) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).
		optionalID("requestId", m.RequestID).optionalID("agentId", m.AgentID).
		text("agentName", m.AgentName, MaxName).text("by", m.By, MaxName).
		oneOf("reason", string(m.Reason), "",
			string(ReasonReclaimed), string(ReasonRefused), string(ReasonReleased),
			string(ReasonExpired), string(ReasonExited), string(ReasonLink),
			string(ReasonReplaced)).
		checkNotes(m.Notes).done()
}

func (m *SessionOpen) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).
		required("name", m.Name, MaxName).
		required("command", m.Command, MaxInput).size(m.Cols, m.Rows).
		optionalID("parentSessionId", m.ParentSessionID).optionalID("resumeKey", m.ResumeKey).
		optionalID("agentId", m.AgentID).done()
}

func (m *SessionClose) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).
		text("signal", m.Signal, MaxName).
		between("outlived", int64(m.Outlived), 0, MaxOutlived).checkPast(m.Past).done()
}

func (m *Output) check() error {
	c := new(checks).id("id", m.ID).id("sessionId", m.SessionID)
	if m.Repaint {
		c.size(m.Cols, m.Rows)
	}
	return c.done()
}

func (m *Resize) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).size(m.Cols, m.Rows).done()
}

func (m *InputResult) check() error {
	return new(checks).id("id", m.ID).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		oneOf("status", string(m.Status),
			string(StatusWritten), string(StatusRefused), string(StatusDropped)).
		checkCell("at", m.At).checkFrame(m.Frame).checkNotes(m.Notes).done()
}

func (m *WaitResult) check() error {
	return new(checks).id("id", m.ID).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		checkFrame(m.Frame).checkNotes(m.Notes).done()
}

func (m *ReadResult) check() error {
	c := new(checks).id("id", m.ID).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		checkFrame(m.Frame).checkNotes(m.Notes)
	if m.Frame == nil {
		c.fail(CodeBadMessage, "frame", "is missing")
	}
	return c.done()
}

func (m *ProxyStarted) check() error {
	return new(checks).id("id", m.ID).id("requestId", m.RequestID).
		optionalID("sessionId", m.SessionID).done()
}

func (m *Note) check() error {
	return new(checks).optionalID("id", m.ID).optionalID("requestId", m.RequestID).
		id("sessionId", m.SessionID).
		oneOf("from", m.From, FromUser, FromAgent).optionalID("agentId", m.AgentID).
		optionalID("tokenId", m.TokenID).text("agentName", m.AgentName, MaxName).
		text("by", m.By, MaxName).required("text", m.Text, MaxText).done()
}

func (m *Input) check() error {
	return new(checks).id("requestId", m.RequestID).checkParts(m).
		optionalID("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).checkExpect(m.Expect).
		between("settleMs", m.SettleMs, 0, MaxWaitMs).
		between("timeoutMs", m.TimeoutMs, 0, MaxWaitMs).done()
}

func (m *ProxyStart) check() error {
	c := new(checks).id("requestId", m.RequestID).required("command", m.Command, MaxInput).
		text("cwd", m.Cwd, MaxInput).
		optionalID("agentId", m.AgentID).text("name", m.Name, MaxName).
		text("agentName", m.AgentName, MaxName).
		optionalID("hostKey", m.HostKey)
	return c.between("cols", int64(m.Cols), 0, MaxSize).between("rows", int64(m.Rows), 0, MaxSize).
		done()
}

func (m *ControlRequest) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).
		text("agentName", m.AgentName, MaxName).checkLevel("level", m.Level).
		required("reason", m.Why, MaxReason).
		between("seconds", m.Seconds, 0, 24*3600).optionalID("tokenId", m.TokenID).
		text("program", m.Program, MaxName).text("parent", m.Parent, MaxName).done()
}

func (m *AgentPresence) check() error {
	return new(checks).id("sessionId", m.SessionID).id("agentId", m.AgentID).done()
}

func (m *ControlRelease) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).
		text("note", m.Note, MaxReason).done()
}

// muted checks whom a decision mutes.
func (c *checks) checkMuted(m *ControlDecide) *checks {
	if m.Mute == MuteOn && m.AgentName == "" {
		c.fail(CodeBadMessage, "agentName", "is missing: say which agent to mute")
	}
	return c.oneOf("mute", m.Mute, "", MuteOn, MuteOff)
}

func (m *ControlDecide) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalLevel("level", m.Level).
		between("seconds", m.Seconds, 0, 24*3600).required("by", m.By, MaxName).
		text("agentName", m.AgentName, MaxName).
		oneOf("hide", m.Hide, "", HideOn, HideOff).checkMuted(m).done()
}

func (m *Wait) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).
		checkUntil("until", &m.Until).checkFurther("any", m.Any).checkFurther("stop", m.Stop).
		between("timeoutMs", m.TimeoutMs, 0, MaxWaitMs).
		between("scrollback", int64(m.Scrollback), 0, MaxHistory).done()
}

func (m *Read) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).
		between("scrollback", int64(m.Scrollback), 0, MaxHistory).
		between("command", int64(m.Command), 0, MaxCommands).checkPages(m).done()
}

// pages checks what a read says about history.
func (c *checks) checkPages(m *Read) *checks {
	if m.FromLine != nil && m.Scrollback == 0 {
		c.fail(CodeBadMessage, "fromLine",
			"is given, but scrollback does not say how many rows from there on")
	}
	if m.Match == "" {
		if m.Context != 0 {
			c.fail(CodeBadMessage, "context", "is given, but match does not say what to look for")
		}
		return c
	}
	if m.Scrollback == 0 {
		c.fail(CodeBadMessage, "match",
			"is given, but scrollback does not say how many rows are wanted")
	}
	if _, err := m.Pattern(); err != nil && c.err == nil {
		c.err, _ = errors.AsType[*FieldError](err)
	}
	c.text("match", m.Match, MaxPattern).between("context", int64(m.Context), 0, MaxContext)
	return c
}

func (m *Watch) check() error   { return new(checks).id("sessionId", m.SessionID).done() }
func (m *Unwatch) check() error { return new(checks).id("sessionId", m.SessionID).done() }

func (m *Subscribed) check() error { return new(checks).id("sessionId", m.SessionID).done() }

func (m *Cancel) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).done()
}

func (m *Close) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).
		text("signal", m.Signal, MaxName).done()
}

func (m *SessionsList) check() error { return new(checks).id("requestId", m.RequestID).done() }

func (m *SessionsListResult) check() error {
	return new(checks).id("requestId", m.RequestID).done()
}

func (m *SessionsSubscribe) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		between("everyMs", m.EveryMs, 0, MaxWaitMs).done()
}

func (m *Done) check() error {
	return new(checks).id("requestId", m.RequestID).text("waiting", string(m.Waiting), MaxName).
		done()
}

func (m *Error) check() error {
	return new(checks).optionalID("requestId", m.RequestID).
		required("code", string(m.Code), MaxName).
		required("message", m.Message, MaxInput).
		between("retryAfterMs", m.RetryAfterMs, 0, 24*3600*1000).done()
}
