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

// maxShifts bounds how often an input is judged again because the program changed before the write.
// After that the user decides.
const maxShifts = 8

// consent asks the user about an input under level type: the user has to let through each key that
// would submit or signal. The whole rest of the input is held then, so that the user sees all that
// one key lets through. Owned by the pump's goroutine.
type consent struct {
	in           *delivery
	keys         string // the keys of the last question to the user, "" for no question
	asked        string // that whole question, without what the answer does not cover
	allowed      bool   // the user let it through
	userKeysThen int    // how many keys the user had typed by then
	shifts       int    // changes of the program between judgement and write
	unasked      bool   // the next write needs no consent of the user, by judged
	// judged is the judgement of the line, set by the observer's goroutine before Prepare answers.
	judged judgement
}

// holdForConsent reports whether pieces have to wait for the user. A second call that leads to the
// same question means that the user let the input through; the rest of it then passes until the
// user types.
func (c *consent) holdForConsent(
	now time.Time, pieces []pump.Piece, typed pump.Line,
) (bool, error) {
	if c.shifts > maxShifts {
		c.judged.prompt = line.None
	}
	c.unasked = c.in.Control.State(now).Level == protocol.LevelType
	if !c.unasked || !c.needsConsent(firstStep(pieces)) {
		return false, nil
	}
	c.unasked = false
	if c.allowed && c.userKeysThen == typed.User {
		return false, nil
	}
	return c.askUser(now, pieces, typed)
}

// judgeLine judges the line for pieces under level type, and brackets their text. It returns false
// while the judgement has to wait until the line is settled.
func (c *consent) judgeLine(pieces []pump.Piece, began, now time.Time) ([]pump.Piece, bool) {
	judged, still := c.in.all.line.assessLine(now, began, isText(firstStep(pieces)))
	c.judged = judged
	pieces = judged.bracketText(pieces)
	return pieces, still || judged.prompt == line.Editor && judged.read &&
		!c.needsConsent(firstStep(pieces))
}

// checkTarget implements [pump.Job.Holds]: input that the user was not asked about may only reach
// the program that was judged.
func (c *consent) checkTarget() bool {
	if !c.unasked || c.judged.isStillValid(c.in.Program) {
		return true
	}
	c.shifts++
	return false
}

// isText reports whether pieces hold text and editing keys only.
func isText(pieces []pump.Piece) bool {
	for _, p := range pieces {
		if p.Description != "" || keys.MaySubmit(p.Bytes, false) {
			return false
		}
	}
	return true
}

// askUser asks the user to let pieces through, and returns false if that has happened already.
func (c *consent) askUser(now time.Time, pieces []pump.Piece, typed pump.Line) (bool, error) {
	q, exact := c.wordQuestion(pieces, typed)
	if exact == c.asked {
		c.allowed, c.userKeysThen = true, typed.User
		return false, nil
	}
	patience := control.ConfirmFor
	if c.in.m.TimeoutMs > 0 {
		patience = time.Duration(c.in.m.TimeoutMs) * time.Millisecond
	}
	q.Until = c.in.began.Add(patience)
	agent := c.in.Control.NewestState().Agent.Name
	if c.hasUnshownText(typed) ||
		!c.in.Status.FitsScreen(agent, q, c.judged.cols, c.judged.rows) {
		return false, &refusal{
			protocol.CodeTooLarge,
			"the question to the user has no room for all of the text that this would submit: " +
				"clear the line (ctrl-u, or ctrl-c at a shell), or send less at once",
		}
	}
	err := c.in.Control.AskConfirmation(now, q)
	if errors.Is(err, control.ErrNobody) {
		return false, &refusal{
			protocol.CodeForbidden,
			"the grant is of level type, and no person is there to approve: input that submits " +
				"or signals (Enter, Ctrl-C, a click, ...) needs the user, as does all input " +
				"away from a line prompt; type text at a prompt, or ask for level drive",
		}
	}
	c.asked, c.keys = exact, q.Keys
	return err == nil, err
}

// needsConsent reports whether pieces of one step exceed level type, which covers text and editing
// at a line prompt. Lines of a bracketed paste count as text for a line editor that enabled
// brackets.
func (c *consent) needsConsent(pieces []pump.Piece) bool {
	j, first := c.judged, pieces[0]
	switch {
	case j.prompt == line.None:
		return true
	case first.Description != "":
		return mayTrigger(c.in.steps[0].InputPart)
	case first.Step != 0 && c.in.steps[first.Step-1].isBracketedPaste(first):
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
func (c *consent) hasUnshownText(typed pump.Line) bool {
	return c.judged.prompt != line.None &&
		(typed.Lost > 0 || !c.judged.buffer.Known && c.judged.buffer.Clipped)
}

// wordQuestion describes what would be sent and, at a line prompt, what the program would run.
// exact is the part that the answer covers: it omits suggestions of the program, which are not
// submitted.
func (c *consent) wordQuestion(
	pieces []pump.Piece, typed pump.Line,
) (q control.Confirmation, exact string) {
	q = control.Confirmation{Keys: describePieces(pieces), Mouse: pieces[0].Description != ""}
	if c.judged.prompt == line.None || q.Mouse {
		if text := lineBefore(typed); text != "" {
			q.Line = "after " + text
		}
		return q, q.Keys + q.Line
	}
	b := c.judged.buffer
	keyed := string(pieces[0].Bytes) != pasteBegins &&
		slices.ContainsFunc(firstStep(pieces), hasUnbracketedNonASCII) &&
		!line.TakesUTF8(c.judged.facts, c.judged.prompt)
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
	case enter && text == "" && line.RepeatsLastCommand(c.judged.facts, c.judged.before, shown):
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

// describePieces describes to the user what pieces send.
func describePieces(pieces []pump.Piece) string {
	var all [][]byte
	for _, p := range pieces {
		if p.Description == "" {
			all = append(all, p.Bytes)
		}
	}
	switch does := pieces[0].Description; {
	case does != "" && len(all) > 0:
		return does + ", then send " + keys.FormatPieces(all...)
	case does != "":
		return does
	}
	return keys.FormatPieces(all...)
}

// describeSteps describes to the user what steps would send.
func describeSteps(steps []step) (does string) {
	for _, s := range steps {
		switch s.InputKind {
		case protocol.InputMouse:
			does += describeWish(s.InputPart)
		case protocol.InputKeys:
			if pieces, err := keyPieces(s.Data, keys.Modes{}, keys.CtrlKey{}, true); err == nil {
				does += describePieces(pieces)
			}
		default:
			does += keys.FormatPieces([]byte(lineEnds.Replace(s.Data)))
		}
	}
	return does
}

// lineBefore describes to the user what an agent has on the program's line.
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

// userRefusal explains why a held input was refused: time ran out, or control ended.
func (c *consent) userRefusal(r pump.Receipt) (*refusal, bool) {
	a := c.in.Control
	sent := notice.Clean(c.keys, 80)
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

// isTypeLevel reports whether input is under level type now.
func isTypeLevel(c Control) bool {
	st := c.NewestState()
	return st.Phase == control.Granted && st.Level == protocol.LevelType
}
