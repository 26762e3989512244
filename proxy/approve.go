package proxy

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/line"
	"terminalproxy/proxy/notice"
)

// holding is an input of an agent's as far as the user has to let it through: under a grant of level type, whatever would
// submit or signal. The input is held whole, text and all, so that the user sees everything that one key lets through. It
// belongs to the pump's goroutine.
type holding struct {
	s     *session
	m     *protocol.Input
	epoch uint64 // of the grant that it belongs to
	began time.Time
	from  uint64 // the screen's revision when the first byte was written
	keys  string // what was put to the user last, "" for nothing
	asked string // the whole of that question, as far as the answer is about it
	let   bool   // the user let that through
	does  string // what the mouse does, in words

	excuse func(error) bool // see [input.Job.Excuse]

	judged judgement // of the line, under level type; the observer's goroutine sets it before Prepare answers

	written int // as the receipt says

	// These belong to the observer's goroutine:
	at       *protocol.Cell              // where the mouse acts
	answered bool                        // the receipt is on its way
	correct  func(*protocol.InputResult) // corrects it before that; nil if it is right
	group    int                         // had the terminal when the input began to wait for the user's line, 0 if it did not
}

// hold implements [input.Job.Hold]. What it put to the user and is asked about again, unchanged, was let through.
func (h *holding) hold(now time.Time, pieces []input.Piece, typed input.Line) (bool, error) {
	h.does = pieces[0].Say
	if h.s.authority.State(now).Level != control.Type || !h.submits(pieces) {
		return false, nil
	}
	q, exact := h.question(pieces, typed)
	if exact == h.asked {
		h.let = true
		return false, nil
	}
	patience := control.HoldFor
	if h.m.TimeoutMs > 0 {
		patience = time.Duration(h.m.TimeoutMs) * time.Millisecond
	}
	q.Until = h.began.Add(patience)
	if h.hides(typed) || !h.s.status.Fits(h.s.authority.state().Agent.Name, q, h.judged.cols, h.judged.rows) {
		return false, &refusal{protocol.CodeTooLarge, "the question to the user has no room for all that this would submit: clear the line (ctrl-u, or ctrl-c at a shell), or send less at once"}
	}
	err := h.s.authority.Hold(now, q)
	if errors.Is(err, control.ErrNobody) {
		return false, &refusal{protocol.CodeForbidden, "the grant is of level type: what submits or signals (Enter, Ctrl-C, a click, ...) needs the user, as does all input where the program is not at a line prompt, and nobody is there; type text at a prompt, or ask for level drive"}
	}
	h.asked, h.keys = exact, q.Keys
	return err == nil, err
}

// submits reports whether pieces hold what the level does not cover: anything but text and editing at a line prompt. The
// lines of a bracketed paste are text to a line editor that asked for the brackets.
func (h *holding) submits(pieces []input.Piece) bool {
	j := h.judged
	switch {
	case j.prompt == line.None:
		return true
	case h.does != "":
		return commits(h.m)
	case h.m.InputKind == protocol.InputPaste && string(pieces[0].Bytes) == pasteBegins:
		return !line.Pastes(j.facts)
	}
	for _, p := range pieces {
		if keys.Submits(p.Bytes, j.prompt == line.Cooked) || !line.OnlyText(j.facts, j.prompt, p.Bytes) {
			return true
		}
	}
	return false
}

// hides reports whether something may be on the line that neither the screen nor the question shows: the beginning of what
// was typed is forgotten, or the row has no beginning on the screen.
func (h *holding) hides(typed input.Line) bool {
	return h.judged.prompt != line.None && (typed.Lost > 0 || !h.judged.buffer.Known && h.judged.buffer.Clipped)
}

// question puts the input into words: what would be sent, and at a line prompt what it makes the program run. exact is the
// part that the answer is about: it leaves out what the program suggests and nothing submits.
func (h *holding) question(pieces []input.Piece, typed input.Line) (q control.Held, exact string) {
	q = control.Held{Keys: spelled(pieces), Mouse: h.does != ""}
	if h.judged.prompt == line.None || q.Mouse {
		if text := before(typed); text != "" {
			q.Line = "after " + text
		}
		return q, q.Keys + q.Line
	}
	b := h.judged.buffer
	runs, recalled := textRuns(typed.Pieces), has(typed.Pieces, stays)
	shown, ghost := b.Split(typed.Mixed || recalled || has(typed.Pieces, behind))
	text, enter := textThenEnter(pieces)
	switch {
	case enter && ghost+b.After == ghost: // nothing that was typed stands behind the cursor
		q.Line = "· runs: " + quotedRows(shown+text)
	case enter && text == "":
		q.Line = "· runs: " + quotedRows(shown)
	case string(pieces[0].Bytes) == "\t":
		q.Line = "· completes: " + quotedRows(b.Before)
	default:
		q.Line = "· on the line: " + quotedRows(shown)
	}
	if recalled || line.Hides(shown, runs) {
		q.Line += " · typed: " + keys.Show(typed.Pieces...)
	}
	exact = q.Keys + q.Line
	if ghost != "" {
		q.Line += " ¦ not sent: " + quotedRows(strings.Trim(ghost, "\n "))
	}
	return q, exact
}

// quotedRows is text of the screen as the user reads it, each row in quotes.
func quotedRows(text string) string {
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		if rows[i] = keys.Show([]byte(row)); row == "" {
			rows[i] = `""`
		}
	}
	return strings.Join(rows, " ⏎ ")
}

// textRuns are the runs of text in what was typed.
func textRuns(pieces [][]byte) (runs []string) {
	text := ""
	for _, p := range pieces {
		keys.Strokes(p, func(s keys.Stroke) {
			if s.Text != "" {
				text += s.Text
				return
			}
			if text != "" {
				runs = append(runs, text)
			}
			text = ""
		})
	}
	if text != "" {
		runs = append(runs, text)
	}
	return runs
}

const (
	// behind are the keys after which nothing that was typed stands behind the cursor.
	behind = " Backspace Delete Right End Ctrl-E Ctrl-F Ctrl-H Ctrl-K Ctrl-L Ctrl-U Ctrl-W "
	// stays are the keys after which the line holds nothing but what was typed; others recall an entry of the history, complete.
	stays = behind + "Left Home Ctrl-A Ctrl-B "
)

// has reports whether pieces hold a key that is none of those.
func has(pieces [][]byte, those string) (yes bool) {
	for _, p := range pieces {
		keys.Strokes(p, func(s keys.Stroke) { yes = yes || s.Key != "" && !strings.Contains(those, " "+s.Key+" ") })
	}
	return yes
}

// textThenEnter reads pieces that are nothing but text, or none, and one Enter.
func textThenEnter(pieces []input.Piece) (text string, ok bool) {
	enters := 0
	for _, p := range pieces {
		keys.Strokes(p.Bytes, func(s keys.Stroke) {
			switch {
			case s.Key == "Enter":
				enters++
			case s.Key != "" || enters > 0:
				enters = 2
			default:
				text += s.Text
			}
		})
	}
	return text, enters == 1
}

// spelled is what pieces would send, as the user reads it.
func spelled(pieces []input.Piece) string {
	if pieces[0].Say != "" {
		return pieces[0].Say
	}
	all := make([][]byte, len(pieces))
	for i, p := range pieces {
		all[i] = p.Bytes
	}
	return keys.Show(all...)
}

// before is what stands on the program's line of an agent's, as the user reads it.
func before(typed input.Line) string {
	if len(typed.Pieces) == 0 {
		return ""
	}
	text := keys.Show(typed.Pieces...)
	if typed.Lost > 0 {
		text = fmt.Sprintf("… (%d bytes) and then %s", typed.Lost, text)
	}
	if typed.Mixed {
		text += ", and you typed there too"
	}
	return text
}

// refused words the refusal of an input that was held when control ended, or until its time was over.
func (h *holding) refused(r input.Receipt) (*refusal, bool) {
	a := h.s.authority
	what := notice.Clean(h.keys, 80)
	switch {
	case errors.Is(r.Err, input.ErrLate):
		return &refusal{protocol.CodeTimeout, "the user did not let " + what + " through in time; nothing of it was typed"}, true
	case r.Held && r.Fate == input.Dropped && !a.Driven() && a.LastEnd().Reason == control.Reclaimed:
		return &refusal{protocol.CodeUserRefused, "the user did not let " + what + " through and took the keyboard back; nothing of it was typed"}, true
	}
	return nil, false
}
