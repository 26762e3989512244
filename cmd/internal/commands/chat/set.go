package chat

import (
	"fmt"
	"slices"
	"strings"

	"terminalproxy/gateway/text"
	"terminalproxy/proxy/chat"
)

// applySetting handles a line that sets something of the agent, such as "/model X", and reports
// whether it was one. Other lines go to the agent, including those about settings that this agent
// lacks.
func (t *talk) applySetting(line string) bool {
	name, value, _ := strings.Cut(line, " ")
	name, isCommand := strings.CutPrefix(name, "/")
	settings := t.session.Settings()
	i := slices.IndexFunc(settings, func(s chat.Setting) bool { return s.Name == name })
	if isCommand && t.session.State() == chat.Starting {
		t.view.printNotice("· not sent: %s is still starting: %s", t.agent.name, escapeInvisible(line))
		return true
	}
	if !isCommand || i < 0 || strings.Contains(line, "\n") {
		return false
	}
	value = strings.TrimSpace(value)
	chosen, ok := settings[i].Choice(value)
	switch {
	case value == "":
		t.view.printNotice("%s", choicesOf(settings[i]))
	case !ok:
		t.view.printNotice("· not sent: there is no %s %s\n%s", name, escapeInvisible(value),
			choicesOf(settings[i]))
	default:
		if err := t.session.Set(you, name, chosen); err != nil {
			t.view.printNotice("· the %s was not set: %v", name, err)
		}
	}
	return true
}

// choicesOf lists the values of a setting.
func choicesOf(s chat.Setting) string {
	var b strings.Builder
	fmt.Fprintf(&b, "· /%s", s.Name)
	if s.Value != "" {
		fmt.Fprintf(&b, " is %s", text.OneLine(s.Value))
	}
	if len(s.Choices) == 0 {
		b.WriteString("; any word sets it")
	}
	for _, c := range s.Choices {
		fmt.Fprintf(&b, "\n    %s", text.OneLine(c.Label))
		if c.Description != "" {
			fmt.Fprintf(&b, ": %s", text.OneLine(c.Description))
		}
	}
	return b.String()
}
