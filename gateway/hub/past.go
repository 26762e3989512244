package hub

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// dismiss does what may still be done to an ended session, and reports whether m was that: close it, which forgets it, for the agent
// that started it and for people; and hide it, which forgets what it showed.
func (h *Hub) dismiss(p *Peer, s *session, m protocol.Message) bool {
	switch m := m.(type) {
	case *protocol.Close:
		if p.member.Role == RoleAgent && p.member.ID != s.starter {
			return false
		}
		h.bury(s, true)
	case *protocol.ControlDecide:
		if m.Hide != protocol.HideOn {
			return false
		}
		s.black(&protocol.Blackout{On: true, Why: protocol.BlackoutUser})
		s.past = nil
		h.endingsChanged()
	default:
		return false
	}
	p.out.put(&protocol.Done{RequestID: protocol.RequestID(m)})
	return true
}

// history adds to r the rows of an ended session's history that m asks for, as its proxy would have. A line that is not kept
// is refused with the sentence that it returns.
func (s *session) history(r *protocol.ReadResult, m *protocol.Read) (refusal string) {
	past := s.past
	oldest, stop := past.Oldest(), past.NextLine
	most := uint64(max(0, min(m.Scrollback, protocol.MaxHistory))) //nolint:gosec // not negative
	start := stop - min(stop-oldest, most)
	switch {
	case m.FromLine != nil:
		if *m.FromLine < oldest || *m.FromLine > stop {
			return fmt.Sprintf("the program has ended, and of its history the lines from %d to before %d are kept", oldest, stop)
		}
		start = *m.FromLine
		stop = min(stop, start+most)
	case m.Follow:
		line, known := past.Unseen(m.SinceSeq)
		if !known {
			start = stop // what is new is not known
			break
		}
		start = max(start, line)
		r.Frame.Since, r.Unseen = m.SinceSeq, stop-line
	}
	rows, hidden := past.Rows(start, stop)
	if n := protocol.FitRows(rows, m.FromLine != nil, protocol.MaxAnswerBytes); m.FromLine != nil {
		rows, stop = rows[:n], start+uint64(n) //nolint:gosec // not negative
	} else {
		cut := len(rows) - n
		rows, start = rows[cut:], stop-uint64(n) //nolint:gosec // not negative
		hidden = laterRows(hidden, cut)
	}
	r.OldestLine, r.FirstLine, r.NextLine = oldest, start, stop
	r.Text = strings.Join(rows, "\n")
	for _, row := range hidden {
		if row < len(rows) {
			r.HiddenText = append(r.HiddenText, row)
		}
	}
	return ""
}

// find searches the history of an ended session, and the last screen where that is the main one.
func (s *session) find(r *protocol.ReadResult, m *protocol.Read) *protocol.Error {
	pattern, err := m.Pattern()
	if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
		return bad.Reply()
	}
	var rows []string
	var hidden []int
	first := uint64(0)
	if s.past != nil {
		r.OldestLine = s.past.Oldest()
		first = min(s.past.NextLine, r.OldestLine)
		rows, hidden = s.past.Rows(first, s.past.NextLine)
	}
	if screen := &r.Frame.Screen; !screen.Alt {
		for _, row := range r.Frame.HiddenText {
			hidden = append(hidden, len(rows)+row)
		}
		rows = append(rows, screen.Lines...)
	}
	skip := 0
	if m.FromLine != nil && *m.FromLine > first {
		skip = int(min(*m.FromLine-first, uint64(len(rows)))) //nolint:gosec // bounded here
	}
	r.Found = protocol.Find(pattern, rows[skip:], first+uint64(skip), laterRows(hidden, skip), m.Context, m.Scrollback) //nolint:gosec // not negative
	if s.past != nil {
		r.Found.Gone = s.past.Gone
	}
	return nil
}

// laterRows are the rows without the first n, counted from the next one.
func laterRows(rows []int, n int) (out []int) {
	for _, row := range rows {
		if row >= n {
			out = append(out, row-n)
		}
	}
	return out
}

// waited is how a wait on an ended session ends: whoever waited for the end has it, and so has who waited for a text that the
// program has printed. Nothing else will come true.
func (h *Hub) waited(s *session, m *protocol.Wait) *protocol.WaitResult {
	r := &protocol.WaitResult{ID: h.nextID(), SessionID: s.key.id, Seq: s.info.Seq, Frame: s.frame(), ExitCode: &s.info.ExitCode, Signal: s.info.Signal}
	hidden := r.Frame.Blackout.ByUser()
	if came := s.found(r.Frame, m, hidden); came != nil {
		r.Met, r.Stopped, r.Matched = !came.stop, came.stop, came.matched
		if len(m.Any)+len(m.Stop) > 0 {
			r.Came = came.until
		}
	}
	if m.SinceSeq > 0 && m.Scrollback > 0 && s.past != nil && !hidden {
		news := r.Read()
		_ = s.history(news, &protocol.Read{SinceSeq: m.SinceSeq, Follow: true, Scrollback: m.Scrollback}) // it names no line
		r.Text, r.FirstLine, r.NextLine, r.OldestLine, r.HiddenText, r.Unseen = news.Text, news.FirstLine, news.NextLine, news.OldestLine, news.HiddenText, news.Unseen
	}
	return r
}

// came is a condition of a wait that an ended session meets.
type came struct {
	until   *protocol.Until
	stop    bool
	matched string
	regex   *regexp.Regexp
}

// find reports whether a row meets the condition, and notes what of it.
func (c *came) find(row string) bool {
	switch {
	case c.regex != nil:
		at := c.regex.FindStringIndex(row)
		if at != nil {
			c.matched = row[at[0]:at[1]]
		}
		return at != nil
	case c.until.Text != "":
		c.matched = c.until.Text
		return strings.Contains(row, c.until.Text)
	}
	return false
}

// found is the condition of m that the rows meet first, else that of the end, nil for none. The user's hidden rows meet none.
func (s *session) found(f *protocol.Frame, m *protocol.Wait, hidden bool) *came {
	all := []*came{{until: &m.Until}}
	for i := range m.Any {
		all = append(all, &came{until: &m.Any[i]})
	}
	for i := range m.Stop {
		all = append(all, &came{until: &m.Stop[i], stop: true})
	}
	for _, c := range all {
		if c.until.Regex != "" {
			c.regex, _ = protocol.CompilePattern("until.regex", c.until.Regex) // one that does not compile finds nothing, as a wait that came too late
		}
	}
	over := time.Now().Add(protocol.SearchTime)
	for _, row := range s.printed(f, m, hidden) {
		if time.Now().After(over) {
			break // as if the text had not come: nobody waits for a dear expression
		}
		for _, c := range all {
			if c.find(row) {
				return c
			}
		}
	}
	at := slices.IndexFunc(all, func(c *came) bool { return c.until.Exit })
	if at < 0 {
		return nil
	}
	all[at].matched = "exit"
	return all[at]
}

// printed is the rows that count for a wait: those that have left the screen since a revision that it names, and those of the last
// screen, unless older ones may be among them.
func (s *session) printed(f *protocol.Frame, m *protocol.Wait, hidden bool) (rows []string) {
	if hidden {
		return nil
	}
	if since := max(m.AfterSeq, m.SinceSeq); since > 0 && s.past != nil {
		if line, known := s.past.Unseen(since); known {
			rows, _ = s.past.Rows(max(line, s.past.Oldest()), s.past.NextLine)
		}
	}
	if m.AfterSeq <= protocol.FirstSeq {
		rows = append(rows, f.Screen.Lines...)
	}
	return rows
}
