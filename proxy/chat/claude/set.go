package claude

import (
	"encoding/json"
	"fmt"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/stdio"
)

// modes are those that a running Claude Code changes to. It refuses what it was not started for.
var modes = []chat.Option{
	{Label: "default", Description: "asks"},
	{Label: "acceptEdits", Description: "changes files without asking"},
	{Label: "plan", Description: "changes nothing"},
	{Label: "dontAsk", Description: "does only what the rules allow"},
	{Label: "auto", Description: "a model decides"},
	{Label: "bypassPermissions", Description: "asks nothing"},
}

// Set is that of [chat.Setter].
func (d *Driver) Set(name, value string) error {
	request := map[string]any{"subtype": "set_model", "model": value}
	if name == chat.Mode {
		request = map[string]any{"subtype": "set_permission_mode", "mode": value}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.controlLocked(request); err != nil {
		return err
	}
	d.sets[fmt.Sprintf("ours-%d", d.n)] = [2]string{name, value}
	return nil
}

// responded is an answer to a request of ours: whatever the first says, prompts are read from then on.
func (d *Driver) responded(_ string, b []byte) error {
	var m struct {
		Response struct {
			ID       string `json:"request_id"`
			Error    string
			Response struct {
				Models []struct{ Value, DisplayName, Description string }
				Mode   string `json:"current_permission_mode"`
			}
		}
	}
	err := json.Unmarshal(b, &m)
	if !d.ready {
		d.ready = true
		model := chat.Setting{Name: chat.Model}
		for _, one := range m.Response.Response.Models {
			model.Choices = append(model.Choices, chat.Option{Label: one.Value, Description: one.Description})
		}
		d.settings = []chat.Setting{model, {Name: chat.Mode, Value: m.Response.Response.Mode, Choices: modes}}
		d.report(chat.Sets{Settings: d.settings})
		d.report(chat.Ready{Conversation: d.config.ID})
		return err
	}
	d.mu.Lock()
	set, was := d.sets[m.Response.ID]
	delete(d.sets, m.Response.ID)
	d.mu.Unlock()
	switch {
	case was && m.Response.Error != "":
		d.notice("did not set the %s: %s", set[0], stdio.Short(m.Response.Error))
	case was:
		d.stands(set[0], set[1])
	}
	return err
}

// stands notes what is set, whoever did it; "" says nothing.
func (d *Driver) stands(name, value string) {
	if value == "" {
		return
	}
	now := append([]chat.Setting(nil), d.settings...)
	for i := range now {
		if now[i].Name == name && now[i].Value != value {
			now[i].Value = value
			d.settings = now
			d.report(chat.Sets{Settings: now})
		}
	}
}
