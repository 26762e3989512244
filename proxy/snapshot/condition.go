package snapshot

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// View is what a condition can see: the screen and the program behind it. Rows count from 0. Whoever owns the terminal
// model implements it, and calls this package from the goroutine that owns both.
type View interface {
	// Rev is the revision of the screen; it grows with every visible change.
	Rev() uint64
	Size() (cols, rows int)
	// RowText is the text of a row, blanks at its end cut.
	RowText(row int) string
	// RowRev is the revision at which the row changed last.
	RowRev(row int) uint64
	// RowWrapped says that the row goes on in the next one.
	RowWrapped(row int) bool
	// Left is the lines that have left the screen since a revision and were not seen on it, rows joined where they wrap; nil
	// where that is not known any more.
	Left(since uint64) []string
	// Title is what the program calls its window, and TitleRev the revision at which it said that last.
	Title() string
	TitleRev() uint64
	Cursor() (row, col int)
	// Hash is the name of the screen that frames carry.
	Hash() string
	// Foreground is the name of the foreground program, "" when unknown.
	Foreground() string
	// Exited is the exit status once the program has ended.
	Exited() (code int, yes bool)
	// Waiting is the word for it when the program waits for input, and has dealt with all that was typed before; "" when it
	// does not. now is the time of the check.
	Waiting(now time.Time) string
}

// kind is what a condition is about.
type kind uint8

const (
	kindShown   kind = iota // text or a regular expression, on the screen or printed
	kindTitle               // text or a regular expression in the title
	kindGone                // text that is nowhere on the screen
	kindQuiet               // no change for a time
	kindSettled             // no change for the settle time
	kindChanged             // any change
	kindExit
	kindWaiting
	kindControl // decided by whoever owns control: see [Waits.Decide]
)

// Condition is a protocol.Until ready to be evaluated. It is never changed and may serve many waits.
type Condition struct {
	kind  kind
	text  string
	alike string // text as it is compared
	regex *regexp.Regexp
	quiet time.Duration
}

// Compile makes the condition of u, which has been checked by package protocol: exactly one field is set. The error is a
// *protocol.FieldError that names the field, a part of until, and says what is wrong with it.
func Compile(u protocol.Until) (*Condition, error) { return compile("until", u) }

// CompileAll makes the conditions of a wait: the first one in the wait's own place, the others to go with it.
func CompileAll(m *protocol.Wait) (*Condition, []Also, error) {
	first, err := Compile(m.Until)
	if err != nil {
		return nil, nil, err
	}
	var also []Also
	for _, more := range []struct {
		field string
		all   []protocol.Until
	}{{"any", m.Any}, {"stop", m.Stop}} {
		for _, u := range more.all {
			c, err := compile(more.field, u)
			if err != nil {
				return nil, nil, err
			}
			also = append(also, Also{c, more.field == "stop", u})
		}
	}
	return first, also, nil
}

func compile(field string, u protocol.Until) (*Condition, error) {
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
		return &Condition{kind: kindQuiet, quiet: time.Duration(u.QuietMs) * time.Millisecond}, nil
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
	return nil, &protocol.FieldError{Code: protocol.CodeBadMessage, Field: field, Say: "sets no condition"}
}

func compileRegex(k kind, field, pattern string) (*Condition, error) {
	re, err := protocol.CompilePattern(field, pattern)
	if err != nil {
		return nil, err
	}
	return &Condition{kind: k, regex: re}, nil
}

// find is what of a line, or of a title, meets a condition for text.
func (c *Condition) find(line string) (matched string, ok bool) {
	if c.regex == nil {
		return c.text, strings.Contains(Normalize(line), c.alike)
	}
	at := c.regex.FindStringIndex(line)
	if at == nil {
		return "", false
	}
	return line[at[0]:at[1]], true
}

// eachLine are the lines of the screen, rows joined where they wrap, that have a row newer than after, by their first rows.
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

// lineText joins rows. A row that wraps is full, so that the blanks cut from its end are text.
func lineText(v View, first, last int) string {
	if first == last {
		return v.RowText(first)
	}
	var line strings.Builder
	for row := first; row <= last; row++ {
		line.WriteString(v.RowText(row))
	}
	return line.String()
}

// shows reports whether text, in the form of [Normalize], is on the screen.
func shows(v View, text string) bool {
	for _, line := range eachLine(v, 0) {
		if strings.Contains(Normalize(line), text) {
			return true
		}
	}
	return false
}

// CheckExpect says which condition of e the screen does not meet, in words for whoever set it; nil when all hold. A nil
// e holds.
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
	case e.Text != "" && !shows(v, Normalize(e.Text)):
		return fmt.Errorf("expected %q on the screen, it is not there", e.Text)
	}
	return nil
}
