package requests

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/line"
	"terminalproxy/proxy/notice"
)

// shiftsMost is how often an input is judged anew because the program changed before it was
// written. Then the user decides.
const shiftsMost = 8

// hold implements [input.Job.Hold]. What it put to the user and is asked about again, unchanged, was let through, and so is the rest of
// that until the user types.
func (in *typing) hold(now time.Time, pieces []input.Piece, typed input.Line) (bool, error) {
	if say := pieces[0].Say; say != "" {
		in.does = say
	}
	if in.shifts > shiftsMost {
		in.judged.prompt = line.None
	}
	if in.free = in.h.Control.State(now).Level == protocol.LevelType; in.free && in.submits(head(pieces)) {
		in.free = false
		if !in.allowed || in.through != typed.User {
			if held, err := in.ask(now, pieces, typed); held || err != nil {
				return held, err
			}
		}
	}
	in.take(pieces)
	return false, nil
}

// ask puts pieces to the user; it reports false where the user has let them through.
func (in *typing) ask(now time.Time, pieces []input.Piece, typed input.Line) (bool, error) {
	q, exact := in.question(pieces, typed)
	if exact == in.asked {
		in.allowed, in.through = true, typed.User
		return false, nil
	}
	patience := control.ConfirmFor
	if in.m.TimeoutMs > 0 {
		patience = time.Duration(in.m.TimeoutMs) * time.Millisecond
	}
	q.Until = in.began.Add(patience)
	if in.hides(typed) || !in.h.Status.Fits(in.h.Control.Newest().Agent.Name, q, in.judged.cols, in.judged.rows) {
		return false, &refusal{protocol.CodeTooLarge, "the question to the user has no room for all that this would submit: clear the line (ctrl-u, or ctrl-c at a shell), or send less at once"}
	}
	err := in.h.Control.AskConfirmation(now, q)
	if errors.Is(err, control.ErrNobody) {
		return false, &refusal{protocol.CodeForbidden, "the grant is of level type: what submits or signals (Enter, Ctrl-C, a click, ...) needs the user, as does all input where the program is not at a line prompt, and nobody is there; type text at a prompt, or ask for level drive"}
	}
	in.asked, in.keys = exact, q.Keys
	return err == nil, err
}

// submits reports whether pieces, of one step, hold what the level does not cover: anything but text and editing at a line prompt.
// The lines of a bracketed paste are text to a line editor that asked for the brackets.
func (in *typing) submits(pieces []input.Piece) bool {
	j, first := in.judged, pieces[0]
	switch {
	case j.prompt == line.None:
		return true
	case first.Say != "":
		return commits(in.steps[0].InputPart)
	case first.Step != 0 && in.steps[first.Step-1].pasted(first):
		return !line.Pastes(j.facts)
	}
	for _, p := range pieces {
		if _, pasted := cutBrackets(p.Bytes); pasted && j.prompt == line.Editor {
			if !line.Pastes(j.facts) {
				return true
			}
		} else if keys.Submits(p.Bytes, j.prompt == line.Cooked) || !line.OnlyText(j.facts, j.prompt, p.Bytes) {
			return true
		}
	}
	return false
}

// hides reports whether something may be on the line that neither the screen nor the question shows: the beginning of what
// was typed is forgotten, or the row has no beginning on the screen.
func (in *typing) hides(typed input.Line) bool {
	return in.judged.prompt != line.None && (typed.Lost > 0 || !in.judged.buffer.Known && in.judged.buffer.Clipped)
}

// question puts the input into words: what would be sent, and at a line prompt what it makes the program run. exact is the
// part that the answer is about: it leaves out what the program suggests and nothing submits.
func (in *typing) question(pieces []input.Piece, typed input.Line) (q control.Confirmation, exact string) {
	q = control.Confirmation{Keys: spelled(pieces), Mouse: pieces[0].Say != ""}
	if in.judged.prompt == line.None || q.Mouse {
		if text := before(typed); text != "" {
			q.Line = "after " + text
		}
		return q, q.Keys + q.Line
	}
	b := in.judged.buffer
	keyed := string(pieces[0].Bytes) != pasteBegins && slices.ContainsFunc(head(pieces), hasKeyedText) && !line.TakesUTF8(in.judged.facts, in.judged.prompt)
	pieces, typed.Pieces = slices.Clone(pieces), withoutBrackets(typed.Pieces)
	for i := range pieces {
		pieces[i].Bytes, _ = cutBrackets(pieces[i].Bytes)
	}
	q.Keys = spelled(pieces)
	runs, recalled := textRuns(typed.Pieces), has(typed.Pieces, stays)
	shown, ghost := b.Split(typed.Mixed || recalled || has(typed.Pieces, behind))
	text, enter := textThenEnter(pieces)
	switch {
	case enter && text == "" && line.Repeats(in.judged.facts, in.judged.before, shown):
		q.Line = "· repeats the last command"
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
	if keyed {
		q.Line += " · what is not ASCII may act as keys"
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
	var all [][]byte
	for _, p := range pieces {
		if p.Say == "" {
			all = append(all, p.Bytes)
		}
	}
	switch does := pieces[0].Say; {
	case does != "" && len(all) > 0:
		return does + ", then send " + keys.Show(all...)
	case does != "":
		return does
	}
	return keys.Show(all...)
}

// before is what stands on the program's line of an agent's, as the user reads it.
func before(typed input.Line) string {
	if len(typed.Pieces) == 0 {
		return ""
	}
	text := keys.Show(withoutBrackets(typed.Pieces)...)
	if typed.Lost > 0 {
		text = fmt.Sprintf("… (%d bytes) and then %s", typed.Lost, text)
	}
	if typed.Mixed {
		text += ", and you typed there too"
	}
	return text
}

// refused words the refusal of an input that was held when control ended, or until its time was over.
func (in *typing) refused(r input.Receipt) (*refusal, bool) {
	a := in.h.Control
	what := notice.Clean(in.keys, 80)
	switch {
	case errors.Is(r.Err, input.ErrLate):
		return &refusal{protocol.CodeTimeout, "the user did not let " + what + " through in time; nothing of it was typed"}, true
	case r.Held && r.Fate == input.Dropped && a.State(time.Now()).Phase != control.Granted && a.LastEnd().Reason == protocol.ReasonReclaimed:
		say := "and took the keyboard back"
		if e := a.LastEnd(); e.Cause != control.NoCause || e.By != "" {
			say = "in time: " + why(e)
		}
		return &refusal{protocol.CodeUserRefused, "the user did not let " + what + " through " + say + "; nothing of it was typed"}, true
	}
	return nil, false
}
