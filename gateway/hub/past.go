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

// past holds the ended sessions and answers requests in place of their proxies. A session stays in
// it from its end until it is forgotten or opened again. Guarded by Hub.mu.
type past struct {
	ids        *idSource     // Hub.idSource
	tombstones []*session    // oldest first
	changes    chan struct{} // see [Hub.EndedChanges]
}

// addEnded adds a session, and removes and returns the oldest ones beyond the bounds.
func (p *past) addEnded(s *session) (forgotten []*session) {
	p.tombstones = append(p.tombstones, s)
	p.noteChange()
	size := 0
	for _, s := range p.tombstones {
		size += s.past.Size()
	}
	for len(p.tombstones) > maxTombstones || size > maxPast {
		size -= p.tombstones[0].past.Size()
		forgotten = append(forgotten, p.tombstones[0])
		p.tombstones = p.tombstones[1:]
	}
	return forgotten
}

func (p *past) removeEnded(s *session) {
	p.tombstones = slices.DeleteFunc(p.tombstones, func(t *session) bool { return t == s })
	p.noteChange()
}

func (p *past) noteChange() {
	select {
	case p.changes <- struct{}{}:
	default:
	}
}

// replyTo returns the answer to a request about an ended session: waits and reads succeed, other
// requests fail.
func (p *past) replyTo(s *session, m protocol.Message) protocol.Message {
	switch m := m.(type) {
	case *protocol.Wait:
		return p.endWait(s, m)
	case *protocol.Read:
		return p.readEnded(s, m)
	}
	return &protocol.Error{Code: protocol.CodeExited, Message: s.exitText()}
}

func (p *past) readEnded(s *session, m *protocol.Read) protocol.Message {
	r := &protocol.ReadResult{ID: p.ids.nextID(), SessionID: s.key.id, Frame: s.lastFrame()}
	switch {
	case m.Command > 0:
		return &protocol.Error{
			Code: protocol.CodeExited,
			Message: "the program has ended, and the record of its commands with it: read the " +
				"history",
		}
	case m.Match != "" && !r.Frame.Blackout.ByUser():
		if err := s.searchHistory(r, m); err != nil {
			return err
		}
	case s.past != nil && m.Scrollback > 0 && !r.Frame.Blackout.ByUser():
		if refusal := s.readHistory(r, m); refusal != "" {
			return &protocol.Error{
				Code: protocol.CodeBadMessage, Field: "fromLine", Message: refusal,
			}
		}
	case s.newest != nil && (m.Text || m.Scrollback > 0):
		r.Text = s.newest.Content // without the proxy, the rows of history have no numbers
		if !m.Text {
			r.Text = lastRows(r.Text, m.Scrollback)
		}
	}
	return r
}

// lastRows returns the last n rows of a text. A row may end with a line feed.
func lastRows(text string, n int) string {
	at := len(strings.TrimSuffix(text, "\n"))
	for ; n > 0 && at >= 0; n-- {
		at = strings.LastIndexByte(text[:at], '\n')
	}
	return text[at+1:]
}

// messagesOf returns an ended session as its proxy would publish it.
func (p *past) messagesOf(s *session) []protocol.Message {
	i := &s.info
	all := []protocol.Message{&protocol.SessionOpen{
		ID: p.ids.nextID(), SessionID: i.SessionID, Name: i.Name, Command: i.Command, Args: i.Args,
		Cwd: i.Cwd, Cols: i.Cols, Rows: i.Rows,
		Pid: i.Pid, StartedAt: i.StartedAt, ParentSessionID: i.ParentSessionID,
		Headless: i.Headless, AgentID: s.starter,
	}}
	if newest := s.currentSnapshot(); newest != nil {
		all = append(all, newest)
	}
	return append(all, &protocol.SessionClose{
		ID: p.ids.nextID(), SessionID: i.SessionID, ExitCode: i.ExitCode, Signal: i.Signal,
		EndedAt: s.ended.UnixMilli(), Past: s.past,
	})
}

// closeMessage returns the end of the session as a message.
func (p *past) closeMessage(s *session) *protocol.SessionClose {
	return &protocol.SessionClose{
		ID: p.ids.nextID(), SessionID: s.key.id, ExitCode: s.info.ExitCode, Signal: s.info.Signal,
	}
}

// readHistory adds the rows of an ended session's history to r, as its proxy would. If a line has
// been dropped, it returns the text of the refusal.
func (s *session) readHistory(r *protocol.ReadResult, m *protocol.Read) (refusal string) {
	start, stop, refusal := askedLines(s.past, r, m)
	if refusal != "" {
		return refusal
	}
	kept := s.past.Rows(start, stop)
	rows := kept.Rows
	if n := protocol.FitRows(rows, m.FromLine != nil, protocol.MaxAnswerBytes); m.FromLine != nil {
		rows, stop = rows[:n], start+uint64(n) //nolint:gosec // not negative
	} else {
		cut := len(rows) - n
		start = stop - uint64(n) //nolint:gosec // not negative
		kept = kept.Skip(cut)
		rows = kept.Rows
	}
	r.OldestLine, r.FirstLine, r.NextLine = s.past.Oldest(), start, stop
	r.Text = strings.Join(rows, "\n")
	for _, row := range kept.Hidden {
		if row < len(rows) {
			r.HiddenText = append(r.HiddenText, row)
		}
	}
	if m.Attributes {
		r.Wraps = protocol.WrapsBefore(kept.Wraps, len(rows))
	}
	return ""
}

// askedLines returns the range of lines that m asks for; stop is exclusive. For a reader that
// follows, it sets in r which lines are unseen.
func askedLines(
	past *protocol.Past, r *protocol.ReadResult, m *protocol.Read,
) (start, stop uint64, refusal string) {
	oldest, stop := past.Oldest(), past.NextLine
	most := uint64(max(0, min(m.Scrollback, protocol.MaxHistory))) //nolint:gosec // not negative
	start = stop - min(stop-oldest, most)
	switch {
	case m.FromLine != nil:
		if *m.FromLine < oldest || *m.FromLine > stop {
			return 0, 0, fmt.Sprintf(
				"the program has ended, and only the lines from %d to before %d of its history "+
					"are kept",
				oldest, stop,
			)
		}
		start = *m.FromLine
		stop = min(stop, start+most)
	case m.Follow:
		line, known := past.Unseen(m.SinceSeq)
		if !known {
			return stop, stop, "" // the new rows are unknown
		}
		start = max(start, line)
		r.Frame.Since, r.Unseen = m.SinceSeq, stop-line
	}
	return start, stop, ""
}

// searchHistory searches the history of an ended session, and the last screen if it is the main
// one.
func (s *session) searchHistory(r *protocol.ReadResult, m *protocol.Read) *protocol.Error {
	pattern, err := m.Pattern()
	if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
		return bad.Reply()
	}
	var all protocol.Excerpt
	if s.past != nil {
		r.OldestLine = s.past.Oldest()
		all = s.past.Rows(min(s.past.NextLine, r.OldestLine), s.past.NextLine)
	}
	if !r.Frame.Screen.Alt {
		all.AppendScreen(r.Frame)
	}
	if m.FromLine != nil && *m.FromLine > all.First {
		all = all.Skip(int(min(*m.FromLine-all.First, uint64(len(all.Rows))))) //nolint:gosec // bounded here
	}
	r.Found = all.Find(pattern, m.Context, m.Scrollback)
	if s.past != nil {
		r.Found.Gone = s.past.Gone
	}
	return nil
}

// endWait returns the result of a wait on an ended session. A wait for the end is met, and so is
// a wait for text that the program has printed.
func (p *past) endWait(s *session, m *protocol.Wait) *protocol.WaitResult {
	r := &protocol.WaitResult{
		ID: p.ids.nextID(), SessionID: s.key.id, Seq: s.info.Seq, Frame: s.lastFrame(),
		ExitCode: &s.info.ExitCode, Signal: s.info.Signal,
	}
	hidden := r.Frame.Blackout.ByUser()
	if found := s.firstMatch(r.Frame, m, hidden); found != nil {
		r.Met, r.Stopped, r.Matched = !found.stop, found.stop, found.matched
		if len(m.Any)+len(m.Stop) > 0 {
			r.Came = found.until
		}
	}
	if m.SinceSeq > 0 && m.Scrollback > 0 && s.past != nil && !hidden {
		unseen := r.Read()
		// readHistory cannot refuse: no line is named
		_ = s.readHistory(unseen, &protocol.Read{
			SinceSeq: m.SinceSeq, Follow: true, Scrollback: m.Scrollback,
		})
		r.Text, r.HiddenText, r.Unseen = unseen.Text, unseen.HiddenText, unseen.Unseen
		r.FirstLine, r.NextLine, r.OldestLine = unseen.FirstLine, unseen.NextLine, unseen.OldestLine
	}
	return r
}

// match is a wait's condition and the text of an ended session that meets it.
type match struct {
	until   *protocol.Until
	stop    bool
	matched string
	regex   *regexp.Regexp
}

// matchRow reports whether a row meets the condition, and records the matching text.
func (c *match) matchRow(row string) bool {
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

// firstMatch returns the condition that the rows meet first, else one for the end, else nil. Rows
// that the user hides match no condition.
func (s *session) firstMatch(f *protocol.Frame, m *protocol.Wait, hidden bool) *match {
	all := []*match{{until: &m.Until}}
	for i := range m.Any {
		all = append(all, &match{until: &m.Any[i]})
	}
	for i := range m.Stop {
		all = append(all, &match{until: &m.Stop[i], stop: true})
	}
	for _, c := range all {
		if c.until.Regex != "" {
			// an invalid expression matches nothing, like a wait that came too late
			c.regex, _ = protocol.CompilePattern("until.regex", c.until.Regex)
		}
	}
	deadline := time.Now().Add(protocol.SearchTime)
	for _, row := range s.linesSince(f, m, hidden) {
		if time.Now().After(deadline) {
			break // an expensive expression counts as not found
		}
		for _, c := range all {
			if c.matchRow(row) {
				return c
			}
		}
	}
	at := slices.IndexFunc(all, func(c *match) bool { return c.until.Exit })
	if at < 0 {
		return nil
	}
	all[at].matched = "exit"
	return all[at]
}

// linesSince returns the lines that count for a wait: those that left the screen since the revision
// that it names, and the last screen, unless older lines may be on it.
func (s *session) linesSince(f *protocol.Frame, m *protocol.Wait, hidden bool) []string {
	if hidden {
		return nil
	}
	var all protocol.Excerpt
	if s.past != nil {
		from := s.past.NextLine
		if line, known := s.past.Unseen(max(m.AfterSeq, m.SinceSeq)); known && max(m.AfterSeq, m.SinceSeq) > 0 {
			from = max(line, s.past.Oldest())
		}
		all = s.past.Rows(from, s.past.NextLine)
	}
	if m.AfterSeq <= protocol.FirstSeq {
		all.AppendScreen(f)
	}
	return all.Lines()
}
