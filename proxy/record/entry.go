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
	Open     Kind = "open"     // the session began: Session
	Request  Kind = "request"  // an agent asked for control: Agent, Level, Why, Seconds, Request
	Grant    Kind = "grant"    // control was given: Agent, Level, Epoch, Until
	Refuse   Kind = "refuse"   // a request ended without a grant: Agent, Reason
	Input    Kind = "input"    // an agent typed, or tried to: Agent, Epoch, Request, Form, Bytes, Written, Dropped; Why if that is remarkable
	Flushed  Kind = "flushed"  // the end of an Input that counts as written was taken back unread: Agent, Epoch, Request, Written, Dropped
	Shown    Kind = "screen"   // the screen that the inputs from here on saw, until the next of these: Picture
	End      Kind = "end"      // a grant ended: Agent, Epoch, Reason, Dropped, Unsubmitted
	Blackout Kind = "blackout" // the screen is hidden, or is so no longer: On, Why
	Said     Kind = "said"     // an agent wrote to the user: Agent, Why
	Told     Kind = "told"     // the user, or By elsewhere, wrote to an agent: Agent if it is known, Why
	Prompt   Kind = "prompt"   // By, or Agent, said something to the coding agent that is the program: Text
	Ask      Kind = "ask"      // Agent asks something of the people of the conversation under Request: Text in words
	Answer   Kind = "answer"   // By answered what the coding agent asked under Request: Text in words
	Halt     Kind = "halt"     // By, or Agent, interrupted the coding agent's turn
	User     Kind = "user"     // the user typed, or By elsewhere; what is nobody's business, and how much neither
	Gap      Kind = "gap"      // output is missing in the asciicast from here on, or up to here: On, Missing, Why
	Exit     Kind = "exit"     // the program ended: Code, Signal
	Lost     Kind = "lost"     // entries of this log are missing here: Missing
	Close    Kind = "close"    // the log is complete: Cast
)

// Agent names an agent: ID as the gateway gave it, Name as the user reads it.
type Agent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Session says what is recorded.
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

// Picture is a screen as agents saw it. Rows and columns count from 0; blanks at the ends of lines are cut.
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

	Agent   *Agent     `json:"agent,omitempty"`
	Level   string     `json:"level,omitempty"`
	Epoch   uint64     `json:"epoch,omitempty"` // the number of the grant
	Request string     `json:"request,omitempty"`
	Seconds int64      `json:"seconds,omitempty"`
	Token   string     `json:"token,omitempty"`  // of an agent that asks: the local token that it proved
	Parent  string     `json:"parent,omitempty"` // and what started Program, with which it asks; both as it says
	Until   *time.Time `json:"until,omitempty"`
	Reason  string     `json:"reason,omitempty"` // a word of the protocol's
	Why     string     `json:"why,omitempty"`    // a sentence; of an agent's own in a request
	By      string     `json:"by,omitempty"`     // who did that, where it was not the user at the terminal: an owner elsewhere, --grant, or a rule

	Form string `json:"form,omitempty"` // of an input: text, paste, keys, mouse, raw
	// Bytes reached the program, no more and no fewer, but for what a later Flushed takes off their end; Text is the same for people, with escapes as in Go and C.
	Bytes []byte `json:"bytes,omitempty"`
	Text  string `json:"text,omitempty"`
	// Asked is what the agent sent, where that is not what reached the program: names of keys, what the mouse does in words, or what was dropped.
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

// Readable writes bytes for people: what prints as it is, the rest as in a Go or C string, on one line.
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
		return fmt.Sprintf("%s asks for control (%s)%s%s", e.agent(), e.Level, e.asker(), because(e.Why))
	case Grant:
		until := ""
		if e.Until != nil {
			until = ", until " + e.Until.UTC().Format(time.RFC3339)
		}
		return fmt.Sprintf("%s gets the keyboard%s: grant %d, level %s%s", e.agent(), e.by("from"), e.Epoch, e.Level, until)
	case Refuse:
		return fmt.Sprintf("the request of %s ends: %s%s%s", e.agent(), e.Reason, e.by("by"), because(e.Why))
	case Input:
		return e.input()
	case Flushed:
		return fmt.Sprintf("%s of what %s typed in request %s were taken back unread: %d reached the program", bytesOf(e.Dropped), e.agent(), e.Request, e.Written)
	case End:
		return fmt.Sprintf("grant %d of %s ends: %s%s%s%s", e.Epoch, e.agent(), e.Reason, e.by("by"), because(e.Why), e.leftovers())
	case Blackout:
		if e.On != nil && *e.On {
			return "blackout begins" + because(e.Why)
		}
		return "blackout ends"
	case Said:
		return e.agent() + " writes to the user" + because(e.Why)
	case Told:
		return cmp.Or(e.By, "the user") + " writes to " + e.agent() + because(e.Why)
	case Prompt:
		return e.who() + " says to the coding agent: " + e.Text
	case Ask:
		return e.who() + " asks under " + e.Request + ": " + e.Text
	case Answer:
		return e.who() + " answers " + e.Request + ": " + e.Text
	case Halt:
		return e.who() + " interrupts the coding agent"
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
		return e.exit()
	case Close:
		return "the log is complete"
	case Shown:
	}
	return string(e.Kind)
}

func (e *Entry) agent() string {
	if e.Agent == nil {
		return "an agent"
	}
	return e.Agent.Name
}

// asker says with what an agent asks.
func (e *Entry) asker() string {
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

// by names the owner elsewhere who decided.
func (e *Entry) by(word string) string {
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

func (e *Entry) input() string {
	grant := "without a grant"
	if e.Epoch > 0 {
		grant = fmt.Sprintf("under grant %d", e.Epoch)
	}
	tries, types, form := "tries to type", "types", e.Form
	if strings.HasPrefix(e.Form, mouse) {
		tries, types, form = "tries to use the mouse", "uses the mouse", e.Asked
	}
	if e.Written == 0 {
		return fmt.Sprintf("%s %s %s, %s: %s%s", e.agent(), tries, grant, form, e.Fate, because(e.Reason))
	}
	dropped := ""
	if e.Dropped > 0 {
		dropped = fmt.Sprintf(", %d dropped (%s)", e.Dropped, e.Reason)
	}
	return fmt.Sprintf("%s %s %s, %s, %s%s%s", e.agent(), types, grant, form, bytesOf(e.Written), dropped, because(e.Why))
}

func bytesOf(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.Itoa(n) + " bytes"
}

func (e *Entry) leftovers() string {
	s := ""
	if e.Dropped > 0 {
		s += "; dropped: " + bytesOf(e.Dropped)
	}
	if e.Unsubmitted > 0 {
		s += "; typed but not submitted: " + bytesOf(e.Unsubmitted)
	}
	return s
}

func (e *Entry) exit() string {
	switch {
	case e.Signal != "":
		return "the program was ended by a signal: " + e.Signal
	case e.Code != nil:
		return "the program ended with status " + strconv.Itoa(*e.Code)
	}
	return "the program ended"
}

// who did it: a person elsewhere, or an agent.
func (e *Entry) who() string {
	if e.Agent != nil {
		return e.agent()
	}
	return cmp.Or(e.By, "somebody")
}

// weight is how much memory the entry takes, about, in bytes.
func (e *Entry) weight() int {
	n := entrySize + len(e.Bytes) + len(e.Text) + len(e.Asked) + len(e.Why)
	if e.Picture != nil {
		for _, line := range e.Picture.Lines {
			n += len(line)
		}
	}
	return n
}

// marked reports whether the asciicast gets a marker for the entry.
func (e *Entry) marked() bool {
	switch e.Kind {
	case Request, Grant, Refuse, End, Blackout, Said, Told, Prompt, Ask, Answer, Halt, Gap:
		return true
	case Input:
		return e.Why != "" || strings.HasPrefix(e.Form, mouse) && e.Written > 0 // nobody reads the bytes of a mouse
	default:
		return false
	}
}
