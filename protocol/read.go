package protocol

import "errors"

// Limits of a [Read].
const (
	MaxHistory  = 2000 // rows of history in one terminal.read.result
	MaxCommands = 32   // how far back Read.Command reaches
)

// Read asks for a fresh frame, for what changed, or for history.
type Read struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId,omitempty"`
	// SinceSeq allows the frame to carry only the rows that changed since that revision.
	SinceSeq uint64 `json:"sinceSeq,omitempty"`
	// Scrollback is the number of rows of history wanted, newest last: the newest ones, or those
	// from FromLine on.
	Scrollback int     `json:"scrollback,omitempty"`
	FromLine   *uint64 `json:"fromLine,omitempty"`
	// Match is a regular expression (RE2) to search the rows of history and of the main screen for,
	// from FromLine on: see [ReadResult.Found]. Scrollback is then the most lines wanted, and
	// Context how many before and after each match.
	Match   string `json:"match,omitempty"`
	Context int    `json:"context,omitempty"`
	// Command asks about a command line that the shell ran: 1 for the last one, which may still
	// run, 2 for the one before it. Scrollback, FromLine, Match and Context then apply to its
	// output.
	Command int `json:"command,omitempty"`
	// Follow, with SinceSeq: rows that only moved need not be sent again (see [Frame.Moved]), and
	// Scrollback bounds the rows sent that have left the screen since then without being seen on
	// it.
	Follow bool `json:"follow,omitempty"`
	// Attributes asks for rows with SGR sequences.
	Attributes bool `json:"attributes,omitempty"`
	// Text asks for the rolling text.
	Text bool `json:"text,omitempty"`
	// Notes asks for the user's messages to this agent.
	Notes bool `json:"notes,omitempty"`
	// Probe is set if the answer is for the client itself and not for its agent, which has seen no
	// later screen than before.
	Probe bool `json:"probe,omitempty"`
}

// ReadResult answers a [Read].
type ReadResult struct {
	ID        string `json:"id"`
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Frame     *Frame `json:"frame"`
	// Text is the rolling text, or the requested rows of history, one per line.
	Text string `json:"text,omitempty"`
	// FirstLine and NextLine are the lasting numbers of the first line of Text, if it is history,
	// and of the line after it; they are equal without history. OldestLine is that of the oldest
	// line still kept.
	FirstLine  uint64 `json:"firstLine,omitempty"`
	NextLine   uint64 `json:"nextLine,omitempty"`
	OldestLine uint64 `json:"oldestLine,omitempty"`
	// Unseen, with Follow, counts the rows before NextLine that have left the screen unseen,
	// including those missing in Text.
	Unseen uint64 `json:"unseen,omitempty"`
	// HiddenText lists the lines of Text, from 0, that hold text which a person cannot see, if Text
	// is history.
	HiddenText []int `json:"hiddenText,omitempty"`
	// Wraps lists the lines of Text, from 0, that continue in the next one. It is set for history
	// that is read with Attributes.
	Wraps []Wrap `json:"wraps,omitempty"`
	// Links are the hyperlinks in Text, like those of a [ViewState]. They are set whenever Wraps
	// is.
	Links []Link `json:"links,omitempty"`
	// Found answers a read with Match.
	Found *Found `json:"found,omitempty"`
	// Command answers a read with Command; Text is then from its output.
	Command *Command `json:"command,omitempty"`
	// Notes are messages of the user to this agent that it has not received yet.
	Notes []string `json:"notes,omitempty"`
}

// CheckFor returns an error if the answer lacks something that asked requests, unless the user
// hides the screen.
func (m *ReadResult) CheckFor(asked *Read) error {
	lacks := ""
	switch {
	case m.Frame != nil && m.Frame.Blackout.ByUser():
	case asked.Command > 0 && m.Command == nil:
		lacks = "command"
	case asked.Command == 0 && asked.Match != "" && m.Found == nil:
		lacks = "found"
	}
	if lacks == "" {
		return nil
	}
	return &Error{Code: CodeUnavailable, Field: lacks, Message: "the proxy of session " +
		m.SessionID + " answered without " + lacks + ": read the history instead"}
}

// Command is a command line that a shell ran, according to the marks that the shell prints (OSC 133
// and 633). Any program can print those, so all fields are claims; the proxy itself vouches only
// for the times and the rows.
type Command struct {
	// Line is the command line, "" if unknown.
	Line string `json:"line,omitempty"`
	// Cwd is the directory in which it was entered, according to the shell, prefixed with "HOST:"
	// if that is another machine.
	Cwd string `json:"cwd,omitempty"`
	// Running is set until a mark reports the end. ExitCode is nil if no mark reported it.
	Running  bool `json:"running,omitempty"`
	ExitCode *int `json:"exitCode,omitempty"`
	// StartedAt is when it began, and DurationMs how long it ran, or has been running.
	StartedAt  int64 `json:"startedAt,omitempty"`
	DurationMs int64 `json:"durationMs,omitempty"`
	// FirstLine and NextLine are the lasting numbers of the first kept line of its output and of
	// the line after the last. Lines on the screen have numbers, too: those that they will have in
	// the history.
	FirstLine uint64 `json:"firstLine,omitempty"`
	NextLine  uint64 `json:"nextLine,omitempty"`
	// Within is the command line whose output contained the marks, "" for a command of the first
	// shell.
	Within string `json:"within,omitempty"`
	// Lost is set if the shell that ran it has ended, so that nothing later is known.
	Lost bool `json:"lost,omitempty"`
	// Overflow is set if its first lines are no longer kept, Erased if some of its output was
	// erased or overwritten, and Alt if it showed the alternate screen, which leaves no lines.
	// Behind is set if more of its output is on the main screen, behind the alternate one.
	Overflow bool `json:"overflow,omitempty"`
	Erased   bool `json:"erased,omitempty"`
	Alt      bool `json:"alt,omitempty"`
	Behind   bool `json:"behind,omitempty"`
}

func (m *Read) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).
		between("scrollback", m.Scrollback, 0, MaxHistory).
		between("command", m.Command, 0, MaxCommands).checkPages(m).done()
}

// checkPages checks the fields of a read about history.
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
	c.text("match", m.Match, MaxPattern).between("context", m.Context, 0, MaxContext)
	return c
}

func (m *ReadResult) check() error {
	c := new(checks).id("id", m.ID).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		checkFrame(m.Frame).checkNotes(m.Notes)
	if m.Frame == nil {
		c.fail(CodeBadMessage, "frame", "is missing")
	}
	return c.done()
}
