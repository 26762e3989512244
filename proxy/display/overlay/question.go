package overlay

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/display/notice"
)

// asking is a question in words.
type asking struct {
	text, keys string
	rows       int // that it may cover
	// The grant key counts only if the user can read all of parts. Other words may be cut.
	parts []string
	long  bool // a word of parts may be longer than a row
	// short are other forms of the question, for a window without room, the best first.
	short []string
}

// wordQuestion words the present question for a screen of this size.
func (w *wording) wordQuestion(cols, rows int) asking {
	st, reclaim := w.state, w.conf.Reclaim
	again := pressAgain(st.Question.Ignored && cols >= narrowCols)
	answer := func(key, does string) string { return again + key + " · " + reclaim + does }
	switch st.Question.Kind {
	case question.Menu:
		text := "no agent has the keyboard"
		if st.Hidden {
			text = "agents do not see this screen"
		}
		return asking{
			text: text, keys: again + w.menuKeys(), rows: min(rows-1, menuRows),
			parts: []string{w.menuGrantLabel()},
		}
	case question.Keyboard:
		if st.RuleGrant.Rule != "" {
			text := w.announcement()
			return asking{
				text: text + ": “" + st.Reason + "”", keys: reclaim + " refuses",
				rows: maxQuestionRows(cols, rows), parts: []string{text},
			}
		}
		text, reason := w.controlRequest(), ": “"+st.Reason+"”"
		if st.GoesOn {
			reason = "?"
		}
		return asking{
			text: text + reason,
			keys: answer(w.allowLabel(), " refuses"), rows: maxQuestionRows(cols, rows),
			parts: []string{text, w.allowLabel()}, short: w.shortQuestions(),
		}
	case question.Input:
		verb := " wants to send "
		if st.Pending.Mouse {
			verb = " wants to "
		}
		text := "“" + st.Agent.Name + "”" + verb + describeInput(st.Pending)
		return asking{
			text: text,
			keys: answer(w.grantLabel()+" sends it", " refuses and stops "+st.Agent.Name),
			rows: rows - 1, parts: []string{text}, long: true,
		}
	case question.Line:
		text, lets := "“"+st.Agent.Name+"” waits for your line", w.grantLabel()+" lets it type"
		return asking{
			text: text + ", to type “" + st.Types + "”", keys: answer(lets, " stops it"),
			rows: min(rows-1, remarkRows), parts: []string{text, lets},
			short: []string{text + " · " + lets},
		}
	case question.Prompt:
		return asking{
			text: w.secretText(), keys: again + w.dismissLabel(),
			parts: []string{w.dismissLabel()},
		}
	case question.Secret, question.Text, question.Confirm:
		does := " answers"
		if st.Question.Kind == question.Confirm {
			does = " says yes"
		}
		return asking{
			text: st.Question.Text, keys: answer(w.grantLabel()+does, " refuses"),
			rows: min(rows-1, programRows), parts: []string{st.Question.Text}, long: true,
		}
	case question.None, question.Message:
	}
	return asking{}
}

// position says how many questions wait.
func (w *wording) position() string {
	if n := w.state.Question.Behind; n > 0 && w.state.Question.Kind != question.Menu {
		return fmt.Sprintf("1 of %d: ", n+1)
	}
	return ""
}

// pressAgain returns the prefix of the grant key's label if the last Ctrl+G did not count. A narrow
// line has no room for it.
func pressAgain(again bool) string {
	if again {
		return "press again: "
	}
	return ""
}

// questionLine returns the line with the present question, and whether the user can read what the
// grant key gives. In a window too small for that, the key has no effect.
func (s *Status) questionLine(now time.Time, cols, rows int) (line string, readable bool) {
	q := s.state.Question
	if q.Typing {
		return s.typingLine(cols, rows), q.Kind != question.Message
	}
	a := s.wordQuestion(cols, rows)
	switch {
	case q.Kind == question.Menu && len(s.inbox.missed) > 0:
		line = s.inbox.missedLine(now, cols, rows, a.keys)
	case q.Kind == question.Prompt:
		line = notice.Line(cols, a.text, a.keys)
	default:
		line = notice.Rows(cols, a.rows, s.position()+a.text, a.keys)
	}
	if a.isReadable(line, cols) {
		return line, true
	}
	for _, form := range a.short {
		if line, ok := notice.LayOutWhole(cols, max(1, rows-1), form); ok {
			return line, true
		}
	}
	return s.crampedLine(cols, rows), false
}

func (a *asking) isReadable(line string, cols int) bool {
	widest := math.MaxInt
	if a.long {
		widest = cols - 2
	}
	lacksPart := func(part string) bool { return !holdsText(line, part, widest) }
	isTooWide := func(row string) bool {
		return displaywidth.String(strings.TrimRight(row, " ")) > cols
	}
	return !slices.ContainsFunc(a.parts, lacksPart) &&
		!slices.ContainsFunc(strings.Split(line, "\n"), isTooWide)
}

// typingLine is the line on which the user types: a message, or the answer to a program, below the
// question that it answers.
func (w *wording) typingLine(cols, rows int) string {
	q, most := w.state.Question, max(1, rows-1)
	if q.Kind == question.Message {
		return notice.Input(cols, most, "to "+notice.Recipient(q.Agent.Name)+": ", q.Typed,
			"Enter sends · Esc closes")
	}
	most = min(most, programRows)
	if q.Closed != "" {
		if most == 1 {
			return notice.Line(cols, q.Closed, "Enter closes")
		}
		return notice.Rows(cols, most, q.Closed, "Enter closes")
	}
	above := ""
	if most > 1 {
		above = notice.Rows(cols, most-1, q.Text, "") + "\n"
		most -= strings.Count(above, "\n")
	}
	head := "password: "
	if q.Kind == question.Text {
		head = "answer: "
	}
	return above + notice.Input(cols, most, head, q.Typed,
		"Enter sends · Esc closes · "+w.conf.Reclaim+" refuses")
}

// describeInput describes what would be sent, and its effect on the line.
func describeInput(c control.Confirmation) string {
	if c.Line == "" {
		return c.Keys
	}
	return c.Keys + " " + c.Line
}

// maxTitleInput bounds what a window's title shows of an input, in characters.
const maxTitleInput = 60

// FitsScreen reports whether all of the question about input can be read on a screen of this size,
// whatever is drawn beside it.
func (w *wording) FitsScreen(agent string, c control.Confirmation, cols, rows int) bool {
	if !w.conf.Line {
		return len([]rune(describeInput(c))) <= maxTitleInput
	}
	v := wording{conf: w.conf, state: control.State{Agent: control.Agent{Name: agent}, Pending: c}}
	v.grant.Store(w.grant.Load())
	v.state.Question = question.Shown{
		Asked: question.Asked{Kind: question.Input}, Ignored: true, Behind: 98,
	}
	a := v.wordQuestion(cols, rows)
	return a.isReadable(notice.Rows(cols, a.rows, v.position()+a.text, a.keys), cols)
}

// questionTitle is the part of the window's title about the present question, or "". If the user
// wants no line, it asks the question.
func (w *wording) questionTitle() string {
	switch kind := w.state.Question.Kind; {
	case kind.IsTyped(), kind == question.Confirm:
		return "[a program asks for a password]"
	case kind != question.Line && kind != question.Input && kind != question.Keyboard:
		return ""
	case !w.conf.Line:
		a := w.wordQuestion(maxTitle, 2)
		return "[" + a.parts[0] + ": " + a.keys + "]"
	case kind == question.Line:
		return "[" + w.state.Agent.Name + " waits for your line]"
	}
	return "[agent asks]"
}

// announcement names the agent that is about to get control, its token, and the user's rule. An
// agent chooses its own name, but not its token. If the user cannot read all of it, the rule gives
// no control.
func (w *wording) announcement() string {
	st := w.state
	token := " (token " + st.Agent.Token
	if st.AskingProgram != "" {
		token += ", " + st.AskingProgram
	}
	asker := w.namedAsker("“" + st.Agent.Name + "”")
	return asker + token + ")" + w.upcomingGrant() + ", by your rule at " + st.RuleGrant.Rule
}

func (w *wording) upcomingGrant() string {
	st := w.state
	text := " drives"
	if st.Level == protocol.LevelType {
		text = " types"
	}
	if st.RuleGrant.OneProgram {
		text += " this program"
	}
	return text + " in " + formatDuration(control.AnnounceFor) + formatTerm(st.For)
}
