package hub

import (
	"fmt"
	"slices"
	"strings"

	"terminalproxy/protocol"
)

// history adds to r the rows of an ended session's history that m asks for, as its proxy would have. A line that is not kept
// is refused with the sentence that it returns.
func (s *session) history(r *protocol.ReadResult, m *protocol.Read) (refusal string) {
	past := s.past
	rows := pastRows(past)
	oldest, stop := past.FirstLine, past.NextLine
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
		at := slices.IndexFunc(past.Seen, func(seen protocol.Seen) bool { return seen.Seq == m.SinceSeq })
		if at < 0 {
			start = stop // what is new is not known
			break
		}
		line := min(past.Seen[at].Line, stop)
		start = max(start, line)
		r.Frame.Since, r.Unseen = m.SinceSeq, stop-line
	}
	r.OldestLine, r.FirstLine, r.NextLine = oldest, start, stop
	r.Text = strings.Join(rows[start-oldest:stop-oldest], "\n")
	for _, row := range past.HiddenText {
		if line := oldest + uint64(max(0, row)); line >= start && line < stop { //nolint:gosec // not negative
			r.HiddenText = append(r.HiddenText, int(line-start)) //nolint:gosec // rows of a message
		}
	}
	return ""
}

// pastRows are the rows of a history, as many as its numbers say: what a proxy sends is not taken on trust.
func pastRows(past *protocol.Past) []string {
	n := past.NextLine - past.FirstLine
	if n == 0 {
		return nil
	}
	return strings.Split(past.Text, "\n")
}
