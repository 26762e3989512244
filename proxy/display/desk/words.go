package desk

import (
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/display/notice"
)

// Bounds of the words, in characters.
const (
	maxCommand = 200
	maxPlace   = 80
	maxPrompt  = 120
	// maxConfirm bounds text that the user confirms: all of it is shown.
	maxConfirm = 500
)

// wordQuestion words a question. The command and the program's own text are put in quotation marks,
// because they may contain anything.
func (d *Desk) wordQuestion(m *protocol.SecretAsk, agent question.Agent) string {
	a := &m.Asker
	words := describeAgent(agent.Name, a.Proven)
	if m.Again {
		words = "again, the last answer was wrong: " + words
	}
	if m.Kind == protocol.SecretConfirm {
		words += " needs your yes for " + a.Program
	} else {
		words += " wants your " + wanted[m.Kind] + " for " + a.Program
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

// wanted names what a question asks for.
var wanted = map[string]string{
	protocol.SecretHidden: "password", protocol.SecretText: "answer",
}

// shortDir returns a directory as people write it.
func shortDir(dir, home string) string {
	if rest, ok := strings.CutPrefix(dir, home); ok && home != "" &&
		(rest == "" || rest[0] == '/') {
		dir = "~" + rest
	}
	return notice.Foreign(dir, protocol.MaxText)
}

// describeAgent describes who started the program, if the gateway knows it.
func describeAgent(name string, proven bool) string {
	switch {
	case name == "":
		return "a program of yours"
	case proven:
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
