package record

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind says what an entry of the audit log is about.
type Kind string

// The kinds.
const (
	Open    Kind = "open"    // the session began: Session
	Request Kind = "request" // an agent asked for control: Agent, Level, Why, Seconds, Request
	Grant   Kind = "grant"   // control was given: Agent, Level, Epoch, Until
	Refuse  Kind = "refuse"  // a request ended without a grant: Agent, Reason
	// An agent typed, or tried to: Agent, Epoch, Request, Form, Bytes, Written, Dropped; Why if it
	// is remarkable.
	Input Kind = "input"
	// The end of an Input that counts as written was taken back unread: Agent, Epoch, Request,
	// Written, Dropped.
	Flushed Kind = "flushed"
	// The screen that the inputs from here on saw, until the next of these: Picture.
	Shown    Kind = "screen"
	End      Kind = "end"      // a grant ended: Agent, Epoch, Reason, Dropped, Unsubmitted
	Blackout Kind = "blackout" // the screen is hidden, or is so no longer: On, Why
	Said     Kind = "said"     // an agent wrote to the user: Agent, Why
	// The user, or By elsewhere, wrote to an agent: Agent if it is known, Why.
	Told Kind = "told"
	// By, or Agent, said something to the coding agent in the session: Text.
	Prompt Kind = "prompt"
	// Agent asks something of the people of the conversation under Request: Text in words.
	Ask Kind = "ask"
	// By answered what the coding agent asked under Request: Text in words.
	Answer Kind = "answer"
	// Program, which Agent started, asked the user for a secret: Asked (its command line), Text (its
	// own words), Parent (its ancestors), Fate, Seconds, and By, who answered elsewhere. Neither the
	// answer nor its length is recorded.
	Secret Kind = "secret"
	Halt   Kind = "halt" // By, or Agent, interrupted the coding agent's turn
	// The user typed, or By elsewhere; neither the keys nor their number are recorded.
	User Kind = "user"
	// Output is missing in the asciicast from here on, or up to here: On, Missing, Why.
	Gap   Kind = "gap"
	Exit  Kind = "exit"  // the program ended: Code, Signal
	Lost  Kind = "lost"  // entries of this log are missing here: Missing
	Close Kind = "close" // the log is complete: Cast
)

// Agent names an agent: ID as the gateway gave it, Name as the user reads it.
type Agent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Session describes the recorded session.
type Session struct {
	Format  string   `json:"format"` // of this log
	ID      string   `json:"id,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Cwd     string   `json:"cwd,omitempty"`
	Cols    int      `json:"cols"`
	Rows    int      `json:"rows"`
	Cast    string   `json:"cast"` // the file with the asciicast, without its directory
}

// mouse begins the Form of an input whose bytes say nothing to people.
const mouse = "mouse"

// Format names the audit log's format in its first entry.
const Format = "terminalproxy-audit.v1"

// Picture is a screen as agents saw it. Rows and columns count from 0; blanks at the ends of lines
// are cut.
type Picture struct {
	ID    string   `json:"id"` // of the content, made by the recorder
	Cols  int      `json:"cols"`
	Rows  int      `json:"rows"`
	Row   int      `json:"cursorRow"`
	Col   int      `json:"cursorCol"`
	Title string   `json:"title,omitempty"`
	Alt   bool     `json:"alt,omitempty"`
	Lines []string `json:"lines"`
}

// Sum tells whether the asciicast beside the log is the one that was written with it.
type Sum struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Entry is one line of the audit log. N, Time, At, Prev and Hash are made by the recorder.
type Entry struct {
	N    uint64    `json:"n"` // counts from 1
	Time time.Time `json:"time"`
	// At is the time since the recording began, in microseconds: the place in the asciicast.
	At   int64 `json:"at"`
	Kind Kind  `json:"kind"`

	Session *Session `json:"session,omitempty"`

	Agent   *Agent `json:"agent,omitempty"`
	Level   string `json:"level,omitempty"`
	Epoch   uint64 `json:"epoch,omitempty"` // the number of the grant
	Request string `json:"request,omitempty"`
	Seconds int64  `json:"seconds,omitempty"`
	// Token is the local token that an asking agent proved.
	Token string `json:"token,omitempty"`
	// Parent started Program, with which the agent asks. The agent claims both.
	Parent string     `json:"parent,omitempty"`
	Until  *time.Time `json:"until,omitempty"`
	Reason string     `json:"reason,omitempty"` // a word of the protocol's
	Why    string     `json:"why,omitempty"`    // a sentence; of an agent's own in a request
	// By acted in place of the user at the terminal: an owner elsewhere, --grant, or a rule.
	By string `json:"by,omitempty"`

	Form string `json:"form,omitempty"` // of an input: text, paste, keys, mouse, raw
	// Bytes are exactly those that reached the program, except that a later Flushed takes some off
	// their end. Text is the same for people, with escapes as in Go and C.
	Bytes []byte `json:"bytes,omitempty"`
	Text  string `json:"text,omitempty"`
	// Asked is what the agent sent, if other bytes reached the program: names of keys, an act of
	// the mouse in words, or the dropped part.
	Asked       string     `json:"asked,omitempty"`
	Began       *time.Time `json:"began,omitempty"` // when the first byte was written
	Written     int        `json:"written,omitempty"`
	Dropped     int        `json:"dropped,omitempty"`
	Unsubmitted int        `json:"unsubmitted,omitempty"`
	Fate        string     `json:"fate,omitempty"`   // the receipt's status; Reason is its code
	Screen      string     `json:"screen,omitempty"` // ID of the screen before the input
	Rev         uint64     `json:"rev,omitempty"`    // of that screen
	Program     string     `json:"program,omitempty"`

	Picture *Picture `json:"picture,omitempty"`
	On      *bool    `json:"on,omitempty"`
	Missing int64    `json:"missing,omitempty"`
	Code    *int     `json:"code,omitempty"`
	Signal  string   `json:"signal,omitempty"`
	Cast    *Sum     `json:"cast,omitempty"`

	Prev string `json:"prev"` // Hash of the entry before, 64 zeros for the first
	Hash string `json:"hash,omitempty"`
}

// Readable writes bytes for people: what prints as it is, the rest as in a Go or C string, on one
// line.
func Readable(b []byte) string {
	quoted := strconv.Quote(string(b))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// Sentence says what happened.
func (e *Entry) Sentence() string {
	switch e.Kind {
	case Open:
		return fmt.Sprintf("%s begins, %dx%d", e.Session.Command, e.Session.Cols, e.Session.Rows)
	case Request:
		return fmt.Sprintf("%s asks for control (%s)%s%s", e.agentName(), e.Level, e.describeAsker(), because(e.Why))
	case Grant:
		until := ""
		if e.Until != nil {
			until = ", until " + e.Until.UTC().Format(time.RFC3339)
		}
		return fmt.Sprintf("%s gets the keyboard%s: grant %d, level %s%s", e.agentName(), e.describeDecider("from"), e.Epoch, e.Level, until)
	case Refuse:
		return fmt.Sprintf("the request of %s ends: %s%s%s", e.agentName(), e.Reason, e.describeDecider("by"), because(e.Why))
	case Input:
		return e.describeInput()
	case Flushed:
		return fmt.Sprintf("%s of what %s typed in request %s were taken back unread: %d reached the program", bytesOf(e.Dropped), e.agentName(), e.Request, e.Written)
	case End:
		return fmt.Sprintf("grant %d of %s ends: %s%s%s%s", e.Epoch, e.agentName(), e.Reason, e.describeDecider("by"), because(e.Why), e.describeLeftovers())
	case Blackout:
		if e.On != nil && *e.On {
			return "blackout begins" + because(e.Why)
		}
		return "blackout ends"
	case Said:
		return e.agentName() + " writes to the user" + because(e.Why)
	case Told:
		return cmp.Or(e.By, "the user") + " writes to " + e.agentName() + because(e.Why)
	case Prompt:
		return e.authorName() + " says to the coding agent: " + e.Text
	case Ask:
		return e.authorName() + " asks under " + e.Request + ": " + e.Text
	case Answer:
		return e.authorName() + " answers " + e.Request + ": " + e.Text
	case Secret:
		return e.describeSecret()
	case Halt:
		return e.authorName() + " interrupts the coding agent"
	case User:
		if e.By != "" {
			return e.By + " typed from elsewhere"
		}
		return "the user typed"
	case Gap:
		if e.On != nil && *e.On {
			return "output is left out from here on" + because(e.Why)
		}
		return fmt.Sprintf("output is missing before this, %s%s", bytesOf(int(e.Missing)), because(e.Why))
	case Lost:
		return fmt.Sprintf("%d entries of this log are missing here", e.Missing)
	case Exit:
		return e.describeExit()
	case Close:
		return "the log is complete"
	case Shown:
	}
	return string(e.Kind)
}

func (e *Entry) agentName() string {
	if e.Agent == nil {
		return "an agent"
	}
	return e.Agent.Name
}

// describeAsker returns the token and the programs with which an agent asks.
func (e *Entry) describeAsker() string {
	var parts []string
	if e.Token != "" {
		parts = append(parts, "token "+e.Token)
	}
	if e.Program != "" {
		parts = append(parts, e.Program)
	}
	if e.Parent != "" {
		parts = append(parts, "under "+e.Parent)
	}
	if len(parts) == 0 {
		return ""
	}
	return " [" + strings.Join(parts, ", ") + "]"
}

// describeDecider names the owner elsewhere who decided, after a preposition.
func (e *Entry) describeDecider(word string) string {
	if e.By == "" {
		return ""
	}
	return " " + word + " " + e.By
}

// because appends a reason to a sentence.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func (e *Entry) describeInput() string {
	grant := "without a grant"
	if e.Epoch > 0 {
		grant = fmt.Sprintf("under grant %d", e.Epoch)
	}
	tries, types, form := "tries to type", "types", e.Form
	if strings.HasPrefix(e.Form, mouse) {
		tries, types, form = "tries to use the mouse", "uses the mouse", e.Asked
	}
	if e.Written == 0 {
		return fmt.Sprintf("%s %s %s, %s: %s%s", e.agentName(), tries, grant, form, e.Fate, because(e.Reason))
	}
	dropped := ""
	if e.Dropped > 0 {
		dropped = fmt.Sprintf(", %d dropped (%s)", e.Dropped, e.Reason)
	}
	return fmt.Sprintf("%s %s %s, %s, %s%s%s", e.agentName(), types, grant, form, bytesOf(e.Written), dropped, because(e.Why))
}

func bytesOf(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.Itoa(n) + " bytes"
}

func (e *Entry) describeLeftovers() string {
	s := ""
	if e.Dropped > 0 {
		s += "; dropped: " + bytesOf(e.Dropped)
	}
	if e.Unsubmitted > 0 {
		s += "; typed but not submitted: " + bytesOf(e.Unsubmitted)
	}
	return s
}

func (e *Entry) describeExit() string {
	switch {
	case e.Signal != "":
		return "the program was ended by a signal: " + e.Signal
	case e.Code != nil:
		return "the program ended with status " + strconv.Itoa(*e.Code)
	}
	return "the program ended"
}

// authorName names the agent, or the person elsewhere, that acted.
func (e *Entry) authorName() string {
	if e.Agent != nil {
		return e.agentName()
	}
	return cmp.Or(e.By, "somebody")
}

// memorySize estimates the memory that the entry takes, in bytes.
func (e *Entry) memorySize() int {
	n := entrySize + len(e.Bytes) + len(e.Text) + len(e.Asked) + len(e.Why)
	if e.Picture != nil {
		for _, line := range e.Picture.Lines {
			n += len(line)
		}
	}
	return n
}

// hasMarker reports whether the asciicast gets a marker for the entry.
func (e *Entry) hasMarker() bool {
	switch e.Kind {
	case Request, Grant, Refuse, End, Blackout, Said, Told, Prompt, Ask, Answer, Halt, Secret, Gap:
		return true
	case Input:
		// the bytes of a mouse are not for people
		return e.Why != "" || strings.HasPrefix(e.Form, mouse) && e.Written > 0
	default:
		return false
	}
}

// describeSecret says what became of a program's question for a secret.
func (e *Entry) describeSecret() string {
	by := ""
	if e.Agent != nil && e.Agent.Name != "" {
		by = ", started by " + e.Agent.Name + ","
	}
	fate := cmp.Or(map[string]string{
		"answer": "answered", "refuse": "refused",
	}[e.Fate], e.Fate)
	if e.By != "" {
		fate += " by " + e.By
	}
	return fmt.Sprintf("%s%s asks the user for a secret (%s): %s after %d s",
		e.Program, by, e.Asked, fate, e.Seconds)
}
