package snapshot

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// View gives conditions the screen, and facts about the program behind it. Rows count from 0. The
// owner of the terminal model implements it, and calls this package from its own goroutine.
type View interface {
	// Rev returns the revision of the screen; it grows with every visible change.
	Rev() uint64
	Size() (cols, rows int)
	// RowText returns the text of a row without trailing blanks.
	RowText(row int) string
	// RowRev returns the revision at which the row changed last.
	RowRev(row int) uint64
	// RowWrapped reports whether the row continues in the next one.
	RowWrapped(row int) bool
	// RowPiece returns the text of a wrapped row with the blanks at its end.
	RowPiece(row int) string
	// FirstLine returns the lasting number that the first row will have in the history: it grows as
	// the main screen scrolls.
	FirstLine() uint64
	// LinesGone returns the lines that have left the screen since a revision and were not shown on
	// it, with wrapped rows joined; nil if they are unknown.
	LinesGone(since uint64) []string
	// Title returns the program's window title, and TitleRev the revision at which it was set last.
	Title() string
	TitleRev() uint64
	Cursor() (row, col int)
	// Hash returns the name of the screen that frames carry.
	Hash() string
	// Foreground returns the name of the foreground program, "" if unknown.
	Foreground() string
	// ExitStatus returns the exit status once the program has ended.
	ExitStatus() (code int, yes bool)
	// InputWait returns the word for how the program waits for input, having processed all that was
	// typed, or "" if it does not wait. now is the time of the check.
	InputWait(now time.Time) string
	// CommandFailed reports whether, as InputWait last found, a shell waits whose marks say that the
	// command typed last has failed.
	CommandFailed() bool
}

// kind is the kind of fact that a condition asks for.
type kind uint8

const (
	kindShown   kind = iota // text or a regular expression, on the screen or printed
	kindTitle               // text or a regular expression in the title
	kindGone                // text gone from the screen
	kindQuiet               // no change for a time
	kindSettled             // no change for the settle time
	kindChanged             // any change
	kindExit
	kindWaiting
	kindControl // decided by control: see [Waits.EndControlWaits]
)

// Condition is a compiled protocol.Until. It is immutable and may serve many waits.
type Condition struct {
	kind  kind
	text  string
	alike string // text in the form of [Normalize]
	regex *regexp.Regexp
	quiet time.Duration
	// repaints: a row that the program keeps repainting does not count as a change.
	repaints bool
}

// Compile makes the condition of u. Package protocol has checked that exactly one of its fields is
// set. The error is a *protocol.FieldError that names the field, a part of until, and its fault.
func Compile(u protocol.Until) (*Condition, error) { return compileUntil("until", u) }

// CompileAll makes the conditions of a wait: its own and the alternatives.
func CompileAll(m *protocol.Wait) (*Condition, []Alternative, error) {
	first, err := Compile(m.Until)
	if err != nil {
		return nil, nil, err
	}
	var alternatives []Alternative
	for _, more := range []struct {
		field string
		all   []protocol.Until
	}{{"any", m.Any}, {"stop", m.Stop}} {
		for _, u := range more.all {
			c, err := compileUntil(more.field, u)
			if err != nil {
				return nil, nil, err
			}
			alternatives = append(alternatives, Alternative{c, more.field == "stop", u})
		}
	}
	return first, alternatives, nil
}

func compileUntil(field string, u protocol.Until) (*Condition, error) {
	switch {
	case u.Text != "":
		return &Condition{kind: kindShown, text: u.Text, alike: Normalize(u.Text)}, nil
	case u.Regex != "":
		return compileRegex(kindShown, field+".regex", u.Regex)
	case u.Title != "":
		return &Condition{kind: kindTitle, text: u.Title, alike: Normalize(u.Title)}, nil
	case u.TitleRegex != "":
		return compileRegex(kindTitle, field+".titleRegex", u.TitleRegex)
	case u.Gone != "":
		return &Condition{kind: kindGone, text: u.Gone, alike: Normalize(u.Gone)}, nil
	case u.QuietMs > 0:
		quiet := time.Duration(u.QuietMs) * time.Millisecond
		return &Condition{kind: kindQuiet, quiet: quiet, repaints: u.Repaints}, nil
	case u.Settled:
		return &Condition{kind: kindSettled}, nil
	case u.Changed:
		return &Condition{kind: kindChanged}, nil
	case u.Exit:
		return &Condition{kind: kindExit}, nil
	case u.Waiting:
		return &Condition{kind: kindWaiting}, nil
	case u.Control:
		return &Condition{kind: kindControl}, nil
	}
	return nil, &protocol.FieldError{
		Code:  protocol.CodeBadMessage,
		Field: field,
		Say:   "sets no condition",
	}
}

func compileRegex(k kind, field, pattern string) (*Condition, error) {
	re, err := protocol.CompilePattern(field, pattern)
	if err != nil {
		return nil, err
	}
	return &Condition{kind: k, regex: re}, nil
}

// matchLine returns the part of a line or title that meets a condition for text.
func (c *Condition) matchLine(line string) (matched string, ok bool) {
	if c.regex == nil {
		return c.text, strings.Contains(Normalize(line), c.alike)
	}
	at := c.regex.FindStringIndex(line)
	if at == nil {
		return "", false
	}
	return line[at[0]:at[1]], true
}

// eachLine yields the screen's lines that have a row newer than after, each with its first row.
// Wrapped rows are joined.
func eachLine(v View, after uint64) iter.Seq2[int, string] {
	return func(yield func(first int, text string) bool) {
		_, rows := v.Size()
		for first := 0; first < rows; {
			last := first
			rev := v.RowRev(first)
			for last+1 < rows && v.RowWrapped(last) {
				last++
				rev = max(rev, v.RowRev(last))
			}
			if rev > after && !yield(first, lineText(v, first, last)) {
				return
			}
			first = last + 1
		}
	}
}

func lineText(v View, first, last int) string {
	if first == last {
		return v.RowText(first)
	}
	var line strings.Builder
	for row := first; row < last; row++ {
		line.WriteString(v.RowPiece(row))
	}
	line.WriteString(v.RowText(last))
	return line.String()
}

// isOnScreen reports whether a text in the form of [Normalize] is on the screen.
func isOnScreen(v View, text string) bool {
	for _, line := range eachLine(v, 0) {
		if strings.Contains(Normalize(line), text) {
			return true
		}
	}
	return false
}

// CheckExpect returns an error that tells an agent which condition of e the screen does not meet,
// or nil. A nil e is met.
func CheckExpect(e *protocol.Expect, v View) error {
	if e == nil {
		return nil
	}
	row, _ := v.Cursor()
	switch {
	case e.Seq != nil && *e.Seq != v.Rev():
		return fmt.Errorf("expected revision %d, the screen is at %d", *e.Seq, v.Rev())
	case e.Hash != "" && e.Hash != v.Hash():
		return fmt.Errorf("expected the screen with hash %s, it is %s", e.Hash, v.Hash())
	case e.CursorRow != nil && *e.CursorRow != row:
		return fmt.Errorf("expected the cursor in row %d, it is in row %d", *e.CursorRow, row)
	case e.Foreground != "" && e.Foreground != v.Foreground():
		return fmt.Errorf("expected %q in the foreground, it is %q", e.Foreground, v.Foreground())
	case e.Text != "" && !isOnScreen(v, Normalize(e.Text)):
		return fmt.Errorf("expected %q on the screen, it is not there", e.Text)
	}
	return nil
}
