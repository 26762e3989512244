package screen

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of the commands that are kept.
const (
	maxCommands    = 32
	maxShells      = 8    // each within a command of the one before
	maxCommandLine = 4096 // bytes
)

// Place is a place of the main screen or its history: Line is a lasting number (see
// [Screen.HistoryNumber]), and Col is the number of columns behind the last one.
type Place struct {
	Line uint64
	Col  int
}

func (p Place) isBefore(q Place) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col
}

// Command is a command line that a shell ran, as its marks say (OSC 133 and 633). Any program can
// print them. What a program says within a command of a shell that names itself (aid) is not taken
// for that shell's.
type Command struct {
	// Line is as the marks name it, or what stood between the prompt and the output when that
	// began; "" where neither is known. What was veiled is no part of it.
	Line string
	// Begin and End are where its output begins and ends. While it runs, End has no meaning and
	// Ended is zero.
	Begin, End   Place
	Began, Ended time.Time
	Host, Cwd    string // the directory named last (OSC 7, 633), and its host; "" before the first
	Exit         int
	HasExit      bool
	// Depth counts the commands that still run, as the marks tell, within which this one was
	// marked.
	Depth int
	// Group holds the process group that had the terminal as the shell printed its prompt, 0 if
	// unknown.
	Group int
	// Alt says that the alternate screen was shown in the course of it, Erased that some of its
	// output was erased or overwritten.
	Alt, Erased bool
	// Hidden says that it began while the user hid the screen.
	Hidden bool
}

// shell is who prints marks.
type shell struct {
	aid   string
	line  string // of the next command, as 633;E names it
	typed *Place
	group int      // see [Command]
	runs  *Command // nil at the prompt
}

// Commands returns what the marks told of the commands that ran, newest last, with one that runs.
// Those within a command are forgotten when it ends: they were its output.
func (s *Screen) Commands() []*Command { return s.t.commands }

// MainCursorPlace is where the cursor of the main screen stands.
func (s *Screen) MainCursorPlace() Place { return s.t.markPlace() }

// options returns the options of a mark: name=value, between semicolons.
func options(s string) map[string]string {
	out := make(map[string]string)
	for option := range strings.SplitSeq(s, ";") {
		if name, value, ok := strings.Cut(option, "="); ok {
			out[name] = value
		}
	}
	return out
}

// hearShell follows a mark for the commands. status is that of D.
func (t *terminal) hearShell(kind, rest string, status *int) {
	given := options(rest)
	sh := t.shellOf(given["aid"], kind)
	if sh == nil {
		return
	}
	switch kind {
	case "A":
		t.endCommand(sh, nil)
	case "B":
		t.endCommand(sh, nil)
		place := t.markPlace()
		sh.typed, sh.line, sh.group = &place, "", t.group()
	case "C":
		t.beginCommand(sh, given)
	case "D":
		t.endCommand(sh, status)
	}
}

// shellOf returns the shell that calls itself aid, or nil if no such shell's mark counts. A mark
// within a command comes from a shell of its own, unless it has the name of the one that runs it;
// at the prompt it takes that one's place.
func (t *terminal) shellOf(aid, kind string) *shell {
	for i, sh := range t.shells {
		if sh.aid == aid {
			t.shells = t.shells[:i+1]
			return sh
		}
	}
	n := len(t.shells)
	next := &shell{aid: aid}
	switch {
	case kind == "D":
		return nil
	case n > 0 && t.shells[n-1].runs == nil: // as two snippets in one shell do
		n--
		next.line, next.typed, next.group = t.shells[n].line, t.shells[n].typed, t.shells[n].group
	case n > 0 && kind == "C" && t.shells[n-1].runs.Begin == t.markPlace():
		return nil // the same command, marked by another snippet
	case n == maxShells: // not the first, which no program may take the place of
		n--
		t.endCommand(t.shells[n], nil)
	}
	t.shells = append(t.shells[:n], next)
	return next
}

// markPlace returns the place of the main screen's cursor.
func (t *terminal) markPlace() Place {
	x, y, pending := t.x, t.y, t.pending
	if t.onAlt() {
		saved := t.main.saved
		x, y, pending = min(saved.x, t.cols-1), min(saved.y, t.rows-1), saved.pending
	}
	if pending {
		x++
	}
	return Place{t.rowNumber(y), x}
}

// rowNumber returns the lasting number of row y of the main screen.
func (t *terminal) rowNumber(y int) uint64 {
	return t.hist.base + t.renumbered + uint64(t.hist.length+y) //nolint:gosec // not negative
}

func (t *terminal) beginCommand(sh *shell, given map[string]string) {
	if sh.runs != nil {
		if sh.runs.Begin == t.markPlace() {
			return
		}
		t.endCommand(sh, nil)
	}
	c := &Command{
		Begin:  t.markPlace(),
		Began:  t.now(),
		Host:   t.host,
		Cwd:    t.cwd,
		Depth:  slices.Index(t.shells, sh),
		Group:  sh.group,
		Alt:    t.onAlt(),
		Hidden: t.veil&hiddenMark != 0,
	}
	if t.veil == 0 { // else what stands on the screen is veiled, and this is not told either
		c.Line = cmp.Or(unescape(given["cmdline_url"]), sh.line)
	}
	if c.Line == "" && sh.typed != nil {
		c.Line = t.textBetween(*sh.typed, c.Begin)
	}
	c.Line = shortened(c.Line)
	sh.runs, sh.typed, sh.line = c, nil, ""
	if len(t.commands) == maxCommands {
		ended := slices.IndexFunc(t.commands, func(c *Command) bool { return !c.Ended.IsZero() })
		t.commands = slices.Delete(t.commands, max(ended, 0), max(ended, 0)+1)
	}
	t.commands = append(t.commands, c)
}

// textBetween returns the text between two places of the main screen and its history, with blanks
// for what is veiled; little more than maxCommandLine bytes of it.
func (t *terminal) textBetween(from, to Place) string {
	oldest := t.hist.base + t.renumbered
	if from.Line < oldest {
		return ""
	}
	var text []byte
	for line := from.Line; line <= to.Line && len(text) <= maxCommandLine; line++ {
		cells, wrapped := t.cellsOf(int(line - oldest)) //nolint:gosec // a row that is kept
		if line == to.Line {
			cells = cells[:min(to.Col, len(cells))]
		}
		if line == from.Line {
			cells = cells[min(from.Col, len(cells)):]
		}
		for _, c := range cells {
			switch {
			case c.isEmpty() || t.isVeiled(c):
				text = append(text, "  "[:c.width()]...)
			default:
				text = t.clusters.appendCell(text, c)
			}
		}
		if !wrapped {
			text = append(trimBlanks(text, 0), '\n')
		}
	}
	return strings.TrimSpace(string(text))
}

// cellsOf returns the cells of row i of the history and the main screen, and whether the next row
// goes on with its text.
func (t *terminal) cellsOf(i int) (cells []cell, wrapped bool) {
	if i < t.hist.length {
		p := t.hist.at(i)
		return p.appendCells(nil, &t.styles, &t.clusters), p.wrapped
	}
	if i -= t.hist.length; i >= t.rows {
		return nil, false
	}
	r := t.main.at(i)
	return r.cells[:r.used], r.wrapped
}

// shortened cuts a command line to maxCommandLine bytes.
func shortened(line string) string {
	line = strings.ToValidUTF8(line, "\uFFFD")
	if len(line) <= maxCommandLine {
		return line
	}
	n := maxCommandLine
	for !utf8.RuneStart(line[n]) {
		n--
	}
	return line[:n] + "…"
}

// endCommand ends the command that sh runs, if it does. status is nil where it is not told.
func (t *terminal) endCommand(sh *shell, status *int) {
	c := sh.runs
	if c == nil {
		return
	}
	sh.runs = nil
	c.Ended, c.End = t.now(), t.markPlace()
	if c.End.isBefore(c.Begin) { // it moved the cursor up
		c.Begin, c.Erased = c.End, true
	}
	if status != nil {
		c.Exit, c.HasExit = *status, true
	}
	if at := slices.Index(t.commands, c); at >= 0 {
		clear(t.commands[at+1:])
		t.commands = t.commands[:at+1]
	}
}

// showsAlt notes for the commands that run that the alternate screen is shown.
func (t *terminal) showsAlt() {
	for _, sh := range t.shells {
		if sh.runs != nil {
			sh.runs.Alt = true
		}
	}
}

// disturbCommands notes for the commands that the rows of the main screen from y on were erased or
// moved.
func (t *terminal) disturbCommands(y int) {
	if t.grid != t.main || len(t.commands) == 0 && len(t.shells) == 0 || !t.anyText(y) {
		return
	}
	from := Place{Line: t.rowNumber(y)}
	for _, c := range t.commands {
		switch {
		case c.Ended.IsZero():
			c.Erased = true
			if from.isBefore(c.Begin) {
				c.Begin = from
			}
		case from.isBefore(c.End):
			c.End, c.Erased = from, true
			if c.End.isBefore(c.Begin) {
				c.Begin = c.End
			}
		}
	}
}

// anyText reports whether a row of the screen from y on holds anything.
func (t *terminal) anyText(y int) bool {
	return slices.ContainsFunc(t.grid.rows[y:], (*row).mayHoldText)
}

// eachPlace calls do for every known place of a command.
func (t *terminal) eachPlace(do func(*Place)) {
	for _, sh := range t.shells {
		if sh.typed != nil {
			do(sh.typed)
		}
	}
	for _, c := range t.commands {
		if do(&c.Begin); !c.Ended.IsZero() {
			do(&c.End)
		}
	}
}

// unescape resolves the percent escapes of a URL (RFC 3986, 2.1); a malformed one stays as it is.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
