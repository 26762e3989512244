package desk

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/display/notice"
)

// Bounds of the words, in characters.
const (
	maxCommand = 200
	maxPlace   = 80
	maxPrompt  = 120
	// maxConfirm bounds text that the user confirms: all of it is shown.
	maxConfirm = 500
	maxRows    = 10
)

// IsOpen reports whether the user types an answer. The line on the screen is the desk's then.
func (d *Desk) IsOpen() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// HasQuestion reports whether a question waits.
func (d *Desk) HasQuestion() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open || len(d.queue) > 0
}

// ComposeLine returns the line to show on a screen of this size, or "", and the number of the
// question that it asks: 0 if that cannot be read there.
func (d *Desk) ComposeLine(cols, rows int) (line string, number uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.open:
		return d.inputLine(cols, max(1, min(rows-1, maxRows))), d.number
	case len(d.queue) == 0:
		return "", 0
	}
	text, keys := d.questionText(), d.questionKeys()
	most := min(rows-1, maxRows)
	d.small = !notice.Fits(cols, most, text, keys)
	if d.small {
		d.shown = time.Time{}
		short := "a program asks for your password: make the window larger to read it · " +
			d.conf.Refuse() + " refuses"
		if line, ok := notice.LayOutWhole(cols, max(1, rows-1), short); ok {
			return line, 0
		}
		return notice.Fit("too small: "+d.conf.Refuse(), cols), 0
	}
	return notice.Rows(cols, most, text, keys), d.number
}

// inputLine shows the answer as the user types it: dots for a secret.
func (d *Desk) inputLine(cols, most int) string {
	if d.gone != "" {
		const keys = "Enter closes"
		if !notice.Fits(cols, most, d.gone, keys) {
			return notice.Line(cols, d.gone, keys)
		}
		return notice.Rows(cols, most, d.gone, keys)
	}
	m := d.queue[0].ask
	text := strings.Repeat("•", utf8.RuneCount(d.text))
	if m.Kind == protocol.SecretText {
		text = string(d.text)
	}
	return notice.Input(cols, most, wanted(m.Kind)+" for "+m.Asker.Program+": ", text,
		"Enter sends · Esc closes · "+d.conf.Refuse()+" refuses")
}

// wanted names what a question asks for.
func wanted(kind string) string {
	if kind == protocol.SecretText {
		return "answer"
	}
	return "password"
}

// questionText words the first question. Its words are made once: they may be long.
func (d *Desk) questionText() string {
	q := d.queue[0]
	if q.words == "" {
		q.words = d.wordQuestion(q.ask)
	}
	if n := len(d.queue); n > 1 {
		return fmt.Sprintf("1 of %d: %s", n, q.words)
	}
	return q.words
}

// wordQuestion words a question. The command and the program's own text are put in quotation marks,
// because they may contain anything.
func (d *Desk) wordQuestion(m *protocol.SecretAsk) string {
	a := &m.Asker
	words := describeAgent(a)
	if m.Again {
		words = "again, the last answer was wrong: " + words
	}
	if m.Kind == protocol.SecretConfirm {
		words += " needs your yes for " + a.Program
	} else {
		words += " wants your " + wanted(m.Kind) + " for " + a.Program
	}
	if host := notice.Foreign(a.Host, maxPlace); host != "" {
		words += " at “" + host + "”"
	}
	words += ": " + d.quoteCommand(m)
	most := maxPrompt
	if m.Kind == protocol.SecretConfirm {
		most = maxConfirm
	}
	if prompt := notice.Foreign(m.Prompt, most); prompt != "" {
		words += " · " + a.Program + " says “" + prompt + "”"
	}
	return words
}

// quoteCommand names the command of a question, and its directory.
func (d *Desk) quoteCommand(m *protocol.SecretAsk) string {
	words := "“" + cutMiddle(notice.Foreign(m.Asker.Command, protocol.MaxText), maxCommand) + "”"
	if dir := shortDir(m.Asker.Cwd, d.conf.Home); dir != "" {
		words += " in “" + cutMiddle(dir, maxPlace) + "”"
	}
	return words
}

func (d *Desk) questionKeys() string {
	does := " answers"
	if d.queue[0].ask.Kind == protocol.SecretConfirm {
		does = " says yes"
	}
	again := ""
	if d.ignored == d.number {
		again = "press again: "
	}
	return again + d.conf.Answer() + does + " · " + d.conf.Refuse() + " refuses"
}

// shortDir returns a directory as people write it.
func shortDir(dir, home string) string {
	if rest, ok := strings.CutPrefix(dir, home); ok && home != "" &&
		(rest == "" || rest[0] == '/') {
		dir = "~" + rest
	}
	return notice.Foreign(dir, protocol.MaxText)
}

func agentName(a *protocol.SecretAsker) string {
	if a.Agent == "" {
		return ""
	}
	return names.DisplayName(a.Agent)
}

// describeAgent describes who started the program, if the gateway knows it.
func describeAgent(a *protocol.SecretAsker) string {
	switch name := agentName(a); {
	case name == "":
		return "a program of yours"
	case a.Proven:
		return "“" + name + "”"
	default:
		return "what looks like " + name
	}
}

// cutMiddle cuts a text in its middle to at most most characters.
func cutMiddle(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	head := most * 2 / 3
	return string(r[:head]) + "…" + string(r[len(r)-(most-head-1):])
}
