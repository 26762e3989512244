package hub

import (
	"fmt"
	"strings"

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
	if n := fitting(rows, m.FromLine != nil); m.FromLine != nil {
		rows, stop = rows[:n], start+uint64(n) //nolint:gosec // not negative
	} else {
		cut := len(rows) - n
		rows, start = rows[cut:], stop-uint64(n) //nolint:gosec // not negative
		hidden = later(hidden, cut)
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

// later are the rows without the first n, counted from the next one.
func later(rows []int, n int) (out []int) {
	for _, row := range rows {
		if row >= n {
			out = append(out, row-n)
		}
	}
	return out
}

// answerBytes bounds the rows of history in one answer, which is one message, as a proxy does.
const answerBytes = 256 << 10

// fitting is how many rows, the first or the last ones, fit into an answer.
func fitting(rows []string, first bool) (n int) {
	for size := 0; n < len(rows); n++ {
		row := rows[len(rows)-1-n]
		if first {
			row = rows[n]
		}
		if size += len(row) + 1; size > answerBytes {
			break
		}
	}
	return n
}
