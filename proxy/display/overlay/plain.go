package overlay

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// plainFamilies are the families of terminals that know no ECMA-48 sequences, after terminfo(5).
var plainFamilies = []string{"dumb", "unknown", "network", "dialup", "printer", "lpr", "vt52"}

// TakesSequences reports whether a terminal of this type (TERM) takes ECMA-48 sequences. Others
// would print them, or do something else. An unknown type is assumed to take them, as nearly all
// new ones do.
func TakesSequences(term string) bool {
	family, _, _ := strings.Cut(term, "-")
	return term != "" && !slices.Contains(plainFamilies, family)
}

// plainText is the text that a terminal without sequences shows. It is printed once, on rows of its
// own, and stays there.
type plainText struct {
	text  string // while it is due
	open  bool   // the cursor is behind it
	lines int    // line feeds since then
	sign  bool   // the sign was printed
}

// printPlain makes the bytes that print a new line. A question is printed again once a screen of
// output has followed it: its keys count as long as it is asked.
func (p *Painter) printPlain(now time.Time, rows int, line string, ring bool, asks uint64) []byte {
	s := p.conf.Status
	s.takeBegun()
	s.appendAlert(nil) // a terminal's alert is a sequence
	if line == "" {
		line = p.plainSign(s.signForms(now))
	}
	line = trimRows(line)
	p.shownQuestion, p.question = asks, 0
	var show []byte
	if ring {
		show = append(show, '\a')
	}
	last := p.plain
	switch {
	case line == "":
		show = p.endPlainRow(show)
		p.plain.text = ""
		return show
	case line == last.text && (asks == 0 || last.lines < rows):
		return show
	case last.open && s.isTypedInto() && !strings.Contains(last.text+line, "\n"):
		blanks := max(0, displaywidth.String(last.text)-displaywidth.String(line))
		show = append(append(show, '\r'), line+strings.Repeat(" ", blanks)...)
	default:
		show = append(show, "\r\n"+strings.ReplaceAll(line, "\n", "\r\n")...)
	}
	p.plain.text, p.plain.open, p.plain.lines = line, true, 0
	return show
}

// isTypedInto reports whether the user types a message or an answer on the line.
func (s *Status) isTypedInto() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Question.Typing
}

// plainSign returns the sign once for each grant, and once the message that the grant is over.
func (p *Painter) plainSign(forms []string) string {
	switch begun := len(forms) > 0; {
	case begun && !p.plain.sign:
		p.plain.sign = true
		return forms[0]
	case !begun && p.plain.sign:
		p.plain.sign = false
		return "no agent has the keyboard"
	}
	return ""
}

// endPlainText moves the cursor below the text before a chunk of the program's output.
func (p *Painter) endPlainText(chunk, dst []byte) []byte {
	p.plain.lines += bytes.Count(chunk, []byte("\n"))
	return p.endPlainRow(dst)
}

// flooded stands for the line feeds of output that the painter does not see.
const flooded = 1 << 20

// noteFlood moves the cursor below the text, before output that the painter does not see.
func (p *Painter) noteFlood() []byte {
	p.plain.lines = flooded
	return p.endPlainRow(nil)
}

func (p *Painter) endPlainRow(dst []byte) []byte {
	if p.plain.open {
		p.plain.open = false
		dst = append(dst, "\r\n"...)
	}
	return dst
}

// trimRows removes the blanks around each row.
func trimRows(text string) string {
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		rows[i] = strings.TrimSpace(row)
	}
	return strings.Join(rows, "\n")
}
