package requests

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/keys"
)

// shiftsMost bounds how often an input is judged anew because the program changed before the write.
// After that the user decides.
const shiftsMost = 8

// holdForConsent implements [pump.Job.Hold]. Being asked again with the same question means that
// the user let the input through; the rest of it then passes until the user types.
func (in *delivery) holdForConsent(
	now time.Time,
	pieces []pump.Piece,
	typed pump.Line,
) (bool, error) {
	if act := pieces[0].Say; act != "" {
		in.mouseAct = act
	}
	if in.shifts > shiftsMost {
		in.judged.prompt = line.None
	}
	in.unasked = in.h.Control.State(now).Level == protocol.LevelType
	if in.unasked && in.needsConsent(firstStep(pieces)) {
		in.unasked = false
		if !in.allowed || in.userKeysThen != typed.User {
			if held, err := in.askUser(now, pieces, typed); held || err != nil {
				return held, err
			}
		}
	}
	in.noteOutgoing(pieces)
	return false, nil
}

// askUser asks the user to let pieces through, and returns false if that has happened already.
func (in *delivery) askUser(now time.Time, pieces []pump.Piece, typed pump.Line) (bool, error) {
	q, exact := in.wordQuestion(pieces, typed)
	if exact == in.asked {
		in.allowed, in.userKeysThen = true, typed.User
		return false, nil
	}
	patience := control.ConfirmFor
	if in.m.TimeoutMs > 0 {
		patience = time.Duration(in.m.TimeoutMs) * time.Millisecond
	}
	q.Until = in.began.Add(patience)
	agent := in.h.Control.NewestState().Agent.Name
	if in.hasUnshownText(typed) ||
		!in.h.Status.FitsScreen(agent, q, in.judged.cols, in.judged.rows) {
		return false, &refusal{
			protocol.CodeTooLarge,
			"the question to the user has no room for all of the text that this would submit: " +
				"clear the line (ctrl-u, or ctrl-c at a shell), or send less at once",
		}
	}
	err := in.h.Control.AskConfirmation(now, q)
	if errors.Is(err, control.ErrNobody) {
		return false, &refusal{
			protocol.CodeForbidden,
			"the grant is of level type, and no person is there to approve: input that submits " +
				"or signals (Enter, Ctrl-C, a click, ...) needs the user, as does all input " +
				"away from a line prompt; type text at a prompt, or ask for level drive",
		}
	}
	in.asked, in.keys = exact, q.Keys
	return err == nil, err
}

// needsConsent reports whether pieces of one step exceed level type, which covers text and editing
// at a line prompt. Lines of a bracketed paste count as text for a line editor that enabled
// brackets.
func (in *delivery) needsConsent(pieces []pump.Piece) bool {
	j, first := in.judged, pieces[0]
	switch {
	case j.prompt == line.None:
		return true
	case first.Say != "":
		return mayTrigger(in.steps[0].InputPart)
	case first.Step != 0 && in.steps[first.Step-1].isBracketedPaste(first):
		return !line.TakesPasteAsText(j.facts)
	}
	for _, p := range pieces {
		if _, pasted := cutBrackets(p.Bytes); pasted && j.prompt == line.Editor {
			if !line.TakesPasteAsText(j.facts) {
				return true
			}
		} else if keys.MaySubmit(p.Bytes, j.prompt == line.Cooked) ||
			!line.OnlyText(j.facts, j.prompt, p.Bytes) {
			return true
		}
	}
	return false
}

// hasUnshownText reports whether the line may hold text that neither the screen nor the question
// shows, because its start was forgotten or has scrolled off.
func (in *delivery) hasUnshownText(typed pump.Line) bool {
	return in.judged.prompt != line.None &&
		(typed.Lost > 0 || !in.judged.buffer.Known && in.judged.buffer.Clipped)
}

// wordQuestion says what would be sent and, at a line prompt, what the program would run. exact is
// the part that the answer covers: it omits suggestions of the program, which are not submitted.
func (in *delivery) wordQuestion(
	pieces []pump.Piece,
	typed pump.Line,
) (q control.Confirmation, exact string) {
	q = control.Confirmation{Keys: describePieces(pieces), Mouse: pieces[0].Say != ""}
	if in.judged.prompt == line.None || q.Mouse {
		if text := lineBefore(typed); text != "" {
			q.Line = "after " + text
		}
		return q, q.Keys + q.Line
	}
	b := in.judged.buffer
	keyed := string(pieces[0].Bytes) != pasteBegins &&
		slices.ContainsFunc(firstStep(pieces), hasKeyedText) &&
		!line.TakesUTF8(in.judged.facts, in.judged.prompt)
	pieces, typed.Pieces = slices.Clone(pieces), withoutBrackets(typed.Pieces)
	for i := range pieces {
		pieces[i].Bytes, _ = cutBrackets(pieces[i].Bytes)
	}
	q.Keys = describePieces(pieces)
	runs, recalled := textRuns(typed.Pieces), hasOtherKey(typed.Pieces, keysWithoutRecall)
	shown, ghost := b.SplitSuggested(
		typed.Mixed || recalled || hasOtherKey(typed.Pieces, keysWithEmptyTail),
	)
	text, enter := textThenEnter(pieces)
	switch {
	case enter && text == "" && line.RepeatsLastCommand(in.judged.facts, in.judged.before, shown):
		q.Line = "· repeats the last command"
	case enter && ghost+b.After == ghost: // the cursor is at the end of what was typed
		q.Line = "· runs: " + quoteRows(shown+text)
	case enter && text == "":
		q.Line = "· runs: " + quoteRows(shown)
	case string(pieces[0].Bytes) == "\t":
		q.Line = "· completes: " + quoteRows(b.Before)
	default:
		q.Line = "· on the line: " + quoteRows(shown)
	}
	if recalled || line.LacksTyped(shown, runs) {
		q.Line += " · typed: " + keys.FormatPieces(typed.Pieces...)
	}
	if keyed {
		q.Line += " · non-ASCII text may act as keys"
	}
	exact = q.Keys + q.Line
	if ghost != "" {
		q.Line += " ¦ not sent: " + quoteRows(strings.Trim(ghost, "\n "))
	}
	return q, exact
}

// quoteRows quotes each row of a text of the screen.
func quoteRows(text string) string {
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		if rows[i] = keys.FormatPieces([]byte(row)); row == "" {
			rows[i] = `""`
		}
	}
	return strings.Join(rows, " ⏎ ")
}

// textRuns returns the stretches of text in what was typed.
func textRuns(pieces [][]byte) (runs []string) {
	text := ""
	for _, p := range pieces {
		keys.EachStroke(p, func(s keys.Stroke) {
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
	// keysWithEmptyTail are the keys that leave no typed text behind the cursor.
	keysWithEmptyTail = " Backspace Delete Right End Ctrl-E Ctrl-F Ctrl-H Ctrl-K Ctrl-L " +
		"Ctrl-U Ctrl-W "
	// keysWithoutRecall are the keys that leave only typed text on the line. Others recall an entry
	// of the history, complete.
	keysWithoutRecall = keysWithEmptyTail + "Left Home Ctrl-A Ctrl-B "
)

// hasOtherKey reports whether pieces hold a key missing from allowed.
func hasOtherKey(pieces [][]byte, allowed string) (yes bool) {
	for _, p := range pieces {
		keys.EachStroke(p, func(s keys.Stroke) {
			yes = yes || s.Key != "" && !strings.Contains(allowed, " "+s.Key+" ")
		})
	}
	return yes
}

// textThenEnter reads pieces that consist of optional text and one Enter.
func textThenEnter(pieces []pump.Piece) (text string, ok bool) {
	enters := 0
	for _, p := range pieces {
		keys.EachStroke(p.Bytes, func(s keys.Stroke) {
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

// describePieces words what pieces send, for the user.
func describePieces(pieces []pump.Piece) string {
	var all [][]byte
	for _, p := range pieces {
		if p.Say == "" {
			all = append(all, p.Bytes)
		}
	}
	switch does := pieces[0].Say; {
	case does != "" && len(all) > 0:
		return does + ", then send " + keys.FormatPieces(all...)
	case does != "":
		return does
	}
	return keys.FormatPieces(all...)
}

// lineBefore words what an agent has on the program's line, for the user.
func lineBefore(typed pump.Line) string {
	if len(typed.Pieces) == 0 {
		return ""
	}
	text := keys.FormatPieces(withoutBrackets(typed.Pieces)...)
	if typed.Lost > 0 {
		text = fmt.Sprintf("… (%d bytes) and then %s", typed.Lost, text)
	}
	if typed.Mixed {
		text += ", and you typed there too"
	}
	return text
}

// userRefusal explains why a held input was refused: its time was over, or control ended.
func (in *delivery) userRefusal(r pump.Receipt) (*refusal, bool) {
	a := in.h.Control
	sent := notice.Clean(in.keys, 80)
	switch {
	case errors.Is(r.Err, pump.ErrLate):
		return &refusal{
			protocol.CodeTimeout,
			"the user did not let " + sent + " through in time; nothing of it was typed",
		}, true
	case r.Held && r.Fate == pump.Dropped && a.State(time.Now()).Phase != control.Granted &&
		a.LastEnd().Reason == protocol.ReasonReclaimed:
		ending := "and took the keyboard back"
		if e := a.LastEnd(); e.Cause != control.NoCause || e.By != "" {
			ending = "in time: " + endSentence(e)
		}
		return &refusal{
			protocol.CodeUserRefused,
			"the user did not let " + sent + " through " + ending + "; nothing of it was typed",
		}, true
	}
	return nil, false
}
