package observer

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/redact"
)

// answerCommand answers a question about a command line from the shell's marks. It shows rows as
// the history and the screen do, and names no line that agents could not see on the screen. The
// error is for the agent.
func (o *Observer) answerCommand(now time.Time, r *protocol.ReadResult, m *protocol.Read) error {
	all := o.model.Commands()
	c, reason := o.findCommand(all, m.Command)
	if reason != "" {
		return &protocol.FieldError{
			Code:      protocol.CodeUnavailable,
			Say:       reason,
			RequestID: m.RequestID,
		}
	}
	r.Command = o.describeCommand(now, all, c)
	out := o.outputOf(c, r.Command)
	return out.read(r, m)
}

// findCommand returns the nth command from the end, or the reason why it is not known.
func (o *Observer) findCommand(all []*screen.Command, nth int) (c *screen.Command, reason string) {
	switch marks := o.model.Marks(); {
	case len(all) >= nth && all[len(all)-nth].Hidden:
		return nil, "that command began while the user hid the screen: nothing of it is shown"
	case len(all) >= nth:
		return all[len(all)-nth], ""
	case len(all) == 1:
		return nil, "the shell's marks know of one command only"
	case len(all) > 1:
		return nil, fmt.Sprintf("the shell's marks know of the last %d commands only", len(all))
	case marks.State != screen.NoMark || marks.HasExit:
		return nil, "no command has run yet, by the shell's marks"
	}
	program := protocol.Visible(o.program.Foreground())
	if program == "" {
		program = "the program"
	}
	return nil, program + " has sent no shell marks (OSC 133), which tell commands apart: read " +
		"the history; for bash, zsh and fish the user can add them with the line that `gateway " +
		"marks SHELL` names"
}

// describeCommand makes the command for agents from the marks.
func (o *Observer) describeCommand(
	now time.Time, all []*screen.Command, c *screen.Command,
) *protocol.Command {
	out := &protocol.Command{
		Line:      o.Redact(c.Line, -1),
		Cwd:       o.workingDirectory(c),
		StartedAt: protocol.Milli(c.Began),
		Running:   c.Ended.IsZero(),
		Lost:      o.hasGroupEnded(c.Group),
		Erased:    c.Erased,
		Alt:       c.Alt,
	}
	if c.HasExit {
		out.ExitCode = &c.Exit
	}
	if ended := c.Ended; !ended.IsZero() {
		now = ended
	}
	out.DurationMs = max(0, now.Sub(c.Began).Milliseconds())
	for i := slices.Index(all, c); i >= 0; i-- {
		// A shell that has ended could not report it, and neither could one that was replaced by
		// exec.
		if outer := all[i]; outer.Depth < c.Depth && !outer.Hidden &&
			!o.hasGroupEnded(outer.Group) &&
			(outer.Group == 0 || outer.Group != c.Group) {
			out.Within = o.Redact(outer.Line, -1)
			break
		}
	}
	return out
}

// hasGroupEnded reports whether a known process group has no process left; group 0 is unknown.
func (i *inlet) hasGroupEnded(group int) bool {
	return group != 0 && !i.program.IsGroupAlive(group)
}

// hostname returns the name of this machine.
var hostname = sync.OnceValue(func() string { name, _ := os.Hostname(); return name })

// workingDirectory returns where a command was given, with the host if not this machine.
func (v *shownScreen) workingDirectory(c *screen.Command) string {
	dir := c.Cwd
	if c.Host != "" && c.Host != "localhost" && c.Host != hostname() && dir != "" {
		dir = c.Host + ":" + dir
	}
	return v.Redact(strings.ReplaceAll(dir, "\n", " "), -1)
}

// outputRows holds the rows of a command's output as agents see them.
type outputRows struct{ protocol.Excerpt }

// outputOf returns the kept rows that a command has printed. It notes in command which rows these
// are, and which are missing.
func (v *shownScreen) outputOf(c *screen.Command, command *protocol.Command) outputRows {
	oldest, length := v.model.HistoryNumber(), v.model.HistoryLen()
	from, to := c.Begin, c.End
	switch {
	case c.Ended.IsZero() && v.model.Alt():
		to = v.model.MainCursorPlace()
	case c.Ended.IsZero():
		to = screen.Place{Line: oldest + uint64(length+v.countPrintedRows())} //nolint:gosec // not negative
	}
	if command.Overflow = from.Line < oldest; command.Overflow {
		from = screen.Place{Line: oldest}
	}
	start, stop := int(from.Line-oldest), max(int(to.Line)-int(oldest), 0) //nolint:gosec // rows that are kept
	if to.Col > 0 {
		stop++
	}
	if v.model.Alt() {
		command.Alt, command.Behind = true, stop > max(start, length)
	}
	all := length + len(v.mainLines())
	start = min(start, all)
	out := outputRows{v.excerpt(start, max(start, min(stop, all)))}
	command.FirstLine, command.NextLine = out.First, out.First+uint64(len(out.Rows))
	if n := len(out.Rows); n > 0 && to.Col > 0 && int(to.Line-oldest) == start+n-1 { //nolint:gosec // rows that are kept
		out.Rows[n-1] = cutRow(out.Rows[n-1], 0, to.Col)
	}
	if len(out.Rows) > 0 && from.Col > 0 {
		out.Rows[0] = cutRow(out.Rows[0], from.Col, -1)
	}
	return out
}

// mainLines returns the rows of the main screen, or nil while the alternate screen is shown.
func (v *shownScreen) mainLines() []string {
	if v.model.Alt() {
		return nil
	}
	return v.currentLines()
}

// countPrintedRows counts the rows of the main screen down to the last one with text or to the
// cursor. It returns 0 on the alternate screen.
func (v *shownScreen) countPrintedRows() int {
	lines := v.mainLines()
	n := len(lines)
	for n > 0 && lines[n-1] == "" {
		n--
	}
	if cursor := v.model.Cursor(); len(lines) > 0 {
		n = max(n, cursor.Row)
	}
	return n
}

// concealedLines returns the rows with text that the user cannot see, from start to before stop, in
// the history and the screen after it.
func (v *shownScreen) concealedLines(start, stop int) []int {
	length := v.model.HistoryLen()
	rows := v.concealedRows(start, min(stop, length))
	for _, row := range v.hiddenText() {
		if i := length + row; start <= i && i < stop && !v.model.Alt() {
			rows = append(rows, i-start)
		}
	}
	return rows
}

// cutRow cuts the columns from from to before to out of a row; to may be -1 for its end.
func cutRow(row string, from, to int) string {
	if end := redact.ByteAt(row, to); to >= 0 && end >= 0 {
		row = row[:end]
	}
	begin := redact.ByteAt(row, from)
	if begin < 0 {
		return ""
	}
	return row[begin:]
}

// read answers m with rows of the output: those that match, those from a line on, or the last ones.
func (p *outputRows) read(r *protocol.ReadResult, m *protocol.Read) error {
	start, stop := 0, len(p.Rows)
	r.OldestLine = p.First
	if m.FromLine != nil {
		if *m.FromLine < p.First || *m.FromLine > p.First+uint64(stop) {
			return p.lineOutside(*m.FromLine, m.RequestID)
		}
		start = int(*m.FromLine - p.First) //nolint:gosec // at most stop
	}
	if m.Match != "" {
		pattern, err := m.Pattern()
		if err != nil {
			return err
		}
		r.Found = p.Skip(start).Find(pattern, m.Context, m.Scrollback)
		return nil
	}
	limit := min(m.Scrollback, protocol.MaxHistory)
	if m.FromLine != nil {
		stop = min(stop, start+limit)
		stop = start + protocol.FitRows(p.Rows[start:stop], true, protocol.MaxAnswerBytes)
	} else {
		start = max(0, stop-limit)
		start = stop - protocol.FitRows(p.Rows[start:stop], false, protocol.MaxAnswerBytes)
	}
	r.FirstLine, r.NextLine = p.First+uint64(start), p.First+uint64(stop) //nolint:gosec // not negative
	r.Text = strings.Join(p.Rows[start:stop], "\n")
	for _, row := range p.Hidden {
		if start <= row && row < stop {
			r.HiddenText = append(r.HiddenText, row-start)
		}
	}
	return nil
}

// lineOutside is the error about a line outside the output.
func (p *outputRows) lineOutside(line uint64, requestID string) error {
	message := fmt.Sprintf(
		"line %d is not in the output of that command, which has the lines %d to %d", line, p.First,
		p.First+uint64(len(p.Rows))-1,
	)
	if len(p.Rows) == 0 {
		message = fmt.Sprintf(
			"line %d is not in the output of that command, of which no rows are kept", line,
		)
	}
	return &protocol.FieldError{
		Code:      protocol.CodeBadMessage,
		Field:     "fromLine",
		Say:       message,
		RequestID: requestID,
	}
}
