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

// SetOption is that of [chat.SettingsDriver].
func (d *Driver) SetOption(name, value string) error {
	request := map[string]any{"subtype": "set_model", "model": value}
	if name == chat.Mode {
		request = map[string]any{"subtype": "set_permission_mode", "mode": value}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.sendControlLocked(request); err != nil {
		return err
	}
	d.sets[fmt.Sprintf("ours-%d", d.controlsSent)] = [2]string{name, value}
	return nil
}

// handleControlResponse handles the answer to a control request. After the first one, even an
// error, prompts are read.
func (d *Driver) handleControlResponse(_ string, b []byte) error {
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
			choice := chat.Option{Label: one.Value, Description: one.Description}
			model.Choices = append(model.Choices, choice)
		}
		mode := chat.Setting{Name: chat.Mode, Value: m.Response.Response.Mode, Choices: modes}
		d.settings = []chat.Setting{model, mode}
		d.report(chat.SettingsChanged{Settings: d.settings})
		d.report(chat.Ready{Conversation: d.config.ID})
		return err
	}
	d.mu.Lock()
	set, found := d.sets[m.Response.ID]
	delete(d.sets, m.Response.ID)
	d.mu.Unlock()
	switch {
	case found && m.Response.Error != "":
		d.reportNotice("did not set the %s: %s", set[0], stdio.ShortenText(m.Response.Error))
	case found:
		d.setValue(set[0], set[1])
	}
	return err
}

// setValue stores and reports the value of a setting, unless it is "" or unchanged.
func (d *Driver) setValue(name, value string) {
	if value == "" {
		return
	}
	now := append([]chat.Setting(nil), d.settings...)
	for i := range now {
		if now[i].Name == name && now[i].Value != value {
			now[i].Value = value
			d.settings = now
			d.report(chat.SettingsChanged{Settings: now})
		}
	}
}
