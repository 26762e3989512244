package text

import (
	"fmt"
	"strconv"
	"time"

	"terminalproxy/protocol"
)

// Command is the page of a command's output, or of the rows of it that match; got needs
// [protocol.ReadResult.Command]. nth is the command's number as the reader gave it; paged: the
// reader asked for the rows from a line on.
func (d Dialect) Command(got *protocol.ReadResult, nth int, paged bool, now time.Time) Page {
	said := describeCommand(got.Command, now)
	if got.Found != nil {
		p := d.Found(got)
		matches := p.Say
		p.Bare, p.Part = false, true
		p.Say = func(from, to int) string { return said + "; " + matches(from, to) }
		return p
	}
	p := Page{Rows: HistoryRows(got), Oldest: paged, Part: true}
	return p.withNote(func(from, to int) string {
		return said + "; " + d.outputNote(got, nth, from, to)
	})
}

// describeCommand describes what the shell's marks report about a command, and the state of its
// rows.
func describeCommand(c *protocol.Command, now time.Time) string {
	words := "the shell's marks say: "
	if c.Within != "" {
		words = "marks in the output of another command, which still runs, say: "
	}
	ran := Span(time.Duration(c.DurationMs) * time.Millisecond)
	switch {
	case c.Running && c.Lost:
		words += "begun " + ran + " ago, its end is unknown"
	case c.Running:
		words += "running for " + ran
	case c.ExitCode != nil:
		words += ExitStatus(*c.ExitCode, "") + " after " + ran
	default:
		words += "ended after " + ran + ", exit status unknown"
	}
	ended := time.UnixMilli(c.StartedAt + c.DurationMs)
	if !c.Running && c.StartedAt > 0 && now.Sub(ended) >= time.Second {
		words += ", " + Span(now.Sub(ended)) + " ago"
	}
	for _, fact := range []struct {
		holds bool
		note  string
	}{
		{c.Lost, "the shell that ran it has ended, so nothing is known of what came after"},
		{c.Alt, "it showed the alternate screen, which leaves no rows"},
		{c.Behind, "more of its rows are behind the alternate screen: read again when the " +
			"program leaves it"},
		{c.Erased, "some of its output was erased or overwritten"},
		{c.Overflow, "its first rows are no longer kept"},
	} {
		if fact.holds {
			words += "; " + fact.note
		}
	}
	return words
}

// outputNote names the rows of an answer from from to before to, and the rows that are not shown.
func (d Dialect) outputNote(got *protocol.ReadResult, nth, from, to int) string {
	c := got.Command
	first, next := got.FirstLine+uint64(from), got.FirstLine+uint64(to) //nolint:gosec // rows of the answer
	all := c.NextLine - c.FirstLine
	if all == 0 {
		return "no output"
	}
	note := rowCount(int(all)) + " of output" //nolint:gosec // rows that are kept
	before, after := first-c.FirstLine, c.NextLine-next
	if before+after > 0 {
		note = fmt.Sprintf("%d of %s", next-first, note)
	}
	if next > first {
		note += ", " + lineSpan(first, next)
	}
	if n := min(before, protocol.MaxHistory); n > 0 {
		page := d.Output(nth, first-n, int(n)) //nolint:gosec // bounded
		note += fmt.Sprintf("; %d before these: %s", before, page)
	}
	if n := min(after, protocol.MaxHistory); n > 0 {
		page := d.Output(nth, next, int(n)) //nolint:gosec // bounded
		note += fmt.Sprintf("; %d after these: %s", after, page)
	}
	return note
}

// CommandFacts lists the facts on a command that a program may have forged: its command line, its
// directory, and the command around it.
func CommandFacts(c *protocol.Command) []string {
	line := "command line: not known"
	if c.Line != "" {
		line = "command line: " + quoteLine(c.Line)
	}
	facts := []string{line}
	if c.Cwd != "" {
		facts = append(facts, "directory: "+quoteLine(c.Cwd))
	}
	if c.Within != "" {
		facts = append(facts, "within: "+quoteLine(c.Within))
	}
	return facts
}

// quoteLine quotes s on one line, so that readers can tell it from the gateway's own text.
func quoteLine(s string) string { return strconv.Quote(Clean(s)) }

// ConcealedOutput warns of lines in a command's output with text that the user cannot see.
func ConcealedOutput(got *protocol.ReadResult) string {
	if got.Found != nil {
		return ConcealedWarning(got.Found)
	}
	lines := make([]int, 0, len(got.HiddenText))
	for _, row := range got.HiddenText {
		lines = append(lines, row+int(got.FirstLine)-1) //nolint:gosec // a program would have to print for years
	}
	return UnseenWarning("line", lines)
}
