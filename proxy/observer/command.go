package observer

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/redact"
	"terminalproxy/proxy/screen"
)

// command answers a question about a command line, as far as the shell's marks tell of it. What it shows of rows is what the
// history and the screen show, and it names no line that was not on the screen for agents to see. The error is for the agent.
func (o *Observer) command(now time.Time, r *protocol.ReadResult, m *protocol.Read) error {
	all := o.model.Commands()
	c, why := o.asked(all, m.Command)
	if why != "" {
		return &protocol.FieldError{Code: protocol.CodeUnavailable, Say: why, RequestID: m.RequestID}
	}
	r.Command = o.said(now, all, c)
	out := o.output(c, r.Command)
	return out.read(r, m)
}

// asked is the nth command from the end, or why there is none.
func (o *Observer) asked(all []*screen.Command, nth int) (c *screen.Command, why string) {
	switch marks := o.model.Marks(); {
	case len(all) >= nth && all[len(all)-nth].Hidden:
		return nil, "that command began while the user hid the screen: nothing is told of it"
	case len(all) >= nth:
		return all[len(all)-nth], ""
	case len(all) == 1:
		return nil, "the shell's marks tell of one command only"
	case len(all) > 1:
		return nil, fmt.Sprintf("the shell's marks tell of the last %d commands only", len(all))
	case marks.State != screen.NoMark || marks.HasExit:
		return nil, "no command has run yet, as the shell's marks tell"
	}
	who := protocol.Visible(o.program.Foreground())
	if who == "" {
		who = "the program"
	}
	return nil, who + " has given no shell marks (OSC 133), by which commands are told apart: read the history; for bash, zsh and fish " +
		"the user can add them with the line that `gateway marks SHELL` names"
}

// said is what the marks tell of a command, for agents.
func (o *Observer) said(now time.Time, all []*screen.Command, c *screen.Command) *protocol.Command {
	out := &protocol.Command{
		Line: o.Redact(c.Line, -1), Cwd: o.directory(c), StartedAt: protocol.Milli(c.Began), Running: c.Ended.IsZero(),
		Lost: o.ended(c.Group), Erased: c.Erased, Alt: c.Alt,
	}
	if c.HasExit {
		out.ExitCode = &c.Exit
	}
	if ended := c.Ended; !ended.IsZero() {
		now = ended
	}
	out.DurationMs = max(0, now.Sub(c.Began).Milliseconds())
	for i := slices.Index(all, c); i >= 0; i-- {
		// A shell that ended could not say so, nor can one in whose place another was executed.
		if outer := all[i]; outer.Depth < c.Depth && !outer.Hidden && !o.ended(outer.Group) && (outer.Group == 0 || outer.Group != c.Group) {
			out.Within = o.Redact(outer.Line, -1)
			break
		}
	}
	return out
}

// ended reports whether nothing is left of a process group, which is 0 where it is not known.
func (o *Observer) ended(group int) bool { return group != 0 && !o.program.Alive(group) }

// hostname is this machine's.
var hostname = sync.OnceValue(func() string { name, _ := os.Hostname(); return name })

// directory is where a command was given, with the host where that is another one.
func (o *Observer) directory(c *screen.Command) string {
	dir := c.Cwd
	if c.Host != "" && c.Host != "localhost" && c.Host != hostname() && dir != "" {
		dir = c.Host + ":" + dir
	}
	return o.Redact(strings.ReplaceAll(dir, "\n", " "), -1)
}

// outputRows is the rows of a command's output as agents see them. first is the lasting number of the first one, hidden are those
// with text that a person cannot see.
type outputRows struct {
	rows   []string
	hidden []int
	first  uint64
}

// output is what a command has printed and is kept, and notes in said which rows these are, and what is missing.
func (o *Observer) output(c *screen.Command, said *protocol.Command) outputRows {
	oldest, length := o.model.HistoryNumber(), o.model.HistoryLen()
	from, to := c.Begin, c.End
	switch {
	case c.Ended.IsZero() && o.model.Alt():
		to = o.model.Here()
	case c.Ended.IsZero():
		to = screen.Place{Line: oldest + uint64(length+o.printed())} //nolint:gosec // not negative
	}
	if said.Overflow = from.Line < oldest; said.Overflow {
		from = screen.Place{Line: oldest}
	}
	start, stop := int(from.Line-oldest), max(int(to.Line)-int(oldest), 0) //nolint:gosec // rows that are kept
	if to.Col > 0 {
		stop++
	}
	rows := o.mainLines()
	if o.model.Alt() {
		said.Alt, said.Behind = true, stop > max(start, length)
		rows = nil
	}
	all := length + len(rows)
	start, stop = min(start, all), min(stop, all)
	out := outputRows{first: oldest + uint64(start)} //nolint:gosec // not negative
	if stop > start {
		out.rows = append(o.pastRows(start, min(stop, length)), rows[min(max(start-length, 0), len(rows)):max(stop-length, 0)]...)
		out.hidden = o.concealedLines(start, stop)
	}
	said.FirstLine, said.NextLine = out.first, out.first+uint64(len(out.rows))
	if n := len(out.rows); n > 0 && to.Col > 0 && int(to.Line-oldest) == start+n-1 { //nolint:gosec // rows that are kept
		out.rows[n-1] = cutRow(out.rows[n-1], 0, to.Col)
	}
	if len(out.rows) > 0 && from.Col > 0 {
		out.rows[0] = cutRow(out.rows[0], from.Col, -1)
	}
	return out
}

// mainLines are the rows of the main screen, where that is shown.
func (o *Observer) mainLines() []string {
	if o.model.Alt() {
		return nil
	}
	return o.currentLines()
}

// printed is how many rows of the main screen hold something, or stand over the cursor, where that is shown.
func (o *Observer) printed() int {
	lines := o.mainLines()
	n := len(lines)
	for n > 0 && lines[n-1] == "" {
		n--
	}
	if cursor := o.model.Cursor(); len(lines) > 0 {
		n = max(n, cursor.Row)
	}
	return n
}

// concealedLines are the rows from start to before stop, of the history and the screen after it, with text that the user cannot
// see.
func (o *Observer) concealedLines(start, stop int) []int {
	length := o.model.HistoryLen()
	rows := o.concealed(start, min(stop, length))
	for _, row := range o.hiddenText() {
		if i := length + row; start <= i && i < stop && !o.model.Alt() {
			rows = append(rows, i-start)
		}
	}
	return rows
}

// cutRow is the columns of a row from from to before to, -1 for its end.
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
	start, stop := 0, len(p.rows)
	r.OldestLine = p.first
	if m.FromLine != nil {
		if *m.FromLine < p.first || *m.FromLine > p.first+uint64(stop) {
			return p.outside(*m.FromLine, m.RequestID)
		}
		start = int(*m.FromLine - p.first) //nolint:gosec // at most stop
	}
	if m.Match != "" {
		pattern, err := m.Pattern()
		if err != nil {
			return err
		}
		for i := range p.hidden {
			p.hidden[i] -= start
		}
		r.Found = protocol.Find(pattern, p.rows[start:], p.first+uint64(start), p.hidden, m.Context, m.Scrollback) //nolint:gosec // not negative
		return nil
	}
	most := min(m.Scrollback, protocol.MaxHistory)
	if m.FromLine != nil {
		stop = min(stop, start+most)
		stop = start + protocol.FitRows(p.rows[start:stop], true, protocol.MaxAnswerBytes)
	} else {
		start = max(0, stop-most)
		start = stop - protocol.FitRows(p.rows[start:stop], false, protocol.MaxAnswerBytes)
	}
	r.FirstLine, r.NextLine = p.first+uint64(start), p.first+uint64(stop) //nolint:gosec // not negative
	r.Text = strings.Join(p.rows[start:stop], "\n")
	for _, row := range p.hidden {
		if start <= row && row < stop {
			r.HiddenText = append(r.HiddenText, row-start)
		}
	}
	return nil
}

// outside is the error for a line that is not in the output.
func (p *outputRows) outside(line uint64, requestID string) error {
	say := fmt.Sprintf("line %d is not in the output of that command, which has the lines %d to %d", line, p.first, p.first+uint64(len(p.rows))-1)
	if len(p.rows) == 0 {
		say = fmt.Sprintf("line %d is not in the output of that command, of which no rows are kept", line)
	}
	return &protocol.FieldError{Code: protocol.CodeBadMessage, Field: "fromLine", Say: say, RequestID: requestID}
}
