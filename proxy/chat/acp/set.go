package acp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/stdio"
)

// settingsState holds the settings as an agent reports them: as ConfigOptions, or as Modes and
// Models by older agents.
type settingsState struct {
	ConfigOptions []configOption
	Modes         struct {
		CurrentModeID  string
		AvailableModes []struct{ ID, Name, Description string }
	}
	Models struct {
		CurrentModelID  string
		AvailableModels []struct{ ModelID, Name, Description string }
	}
}

type configOption struct {
	ID, Category, Type string
	CurrentValue       any
	Options            []configValue
}

// configValue is a choice, or a group of choices.
type configValue struct {
	Value, Name, Description string
	Options                  []configValue
}

// setting is one with the way in which the agent takes it.
type setting struct {
	chat.Setting
	method, param, id string            // id of an option, "" for a mode and a model
	values            map[string]string // by what a person types for them
}

// addChoice adds a choice, or each choice of a group.
func (s *setting) addChoice(current string, v configValue) {
	for _, one := range v.Options {
		s.addChoice(current, one)
	}
	if v.Value == "" {
		return
	}
	label, description := v.Value, v.Name
	if strings.Contains(label, "://") { // no word to type
		label, description = v.Name, ""
	}
	if description == label || description == "" {
		description = v.Description
	} else if v.Description != "" {
		description += ": " + v.Description
	}
	s.values[label] = v.Value
	s.Choices = append(s.Choices, chat.Option{Label: label, Description: description})
	if v.Value == current {
		s.Value = label
	}
}

// names are what we call the kinds of options.
var names = map[string]string{"mode": chat.Mode, "model": chat.Model, "thought_level": "effort"}

func (s *settingsState) listSettings() (all []setting) {
	all = s.listOptions()
	mode := setting{
		Setting: chat.Setting{Name: chat.Mode},
		method:  "session/set_mode", param: "modeId",
		values: map[string]string{},
	}
	for _, m := range s.Modes.AvailableModes {
		mode.addChoice(s.Modes.CurrentModeID, configValue{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	model := setting{
		Setting: chat.Setting{Name: chat.Model},
		method:  "session/set_model", param: "modelId",
		values: map[string]string{},
	}
	for _, m := range s.Models.AvailableModels {
		model.addChoice(s.Models.CurrentModelID, configValue{Value: m.ModelID, Name: m.Name, Description: m.Description})
	}
	for _, one := range []setting{model, mode} {
		if len(one.Choices) > 0 && !slices.ContainsFunc(all, func(other setting) bool { return other.Name == one.Name }) {
			all = append(all, one)
		}
	}
	return all
}

// listOptions returns the agent's options with choices as settings.
func (s *settingsState) listOptions() (all []setting) {
	for _, o := range s.ConfigOptions {
		current, isText := o.CurrentValue.(string)
		if o.Type != "select" || !isText {
			continue
		}
		name, known := names[o.Category]
		if !known || slices.ContainsFunc(all, func(one setting) bool { return one.Name == name }) {
			name = strings.ReplaceAll(strings.ToLower(o.ID), " ", "_")
		}
		one := setting{
			Setting: chat.Setting{Name: name, Value: current},
			method:  "session/set_config_option", param: "value", id: o.ID,
			values: map[string]string{},
		}
		for _, v := range o.Options {
			one.addChoice(current, v)
		}
		all = append(all, one)
	}
	return all
}

// findMode finds a mode by the word that a person types for it, or by its id. If the agent lists no
// modes, the name is passed on as it is.
func (d *Driver) findMode(name string) (label, id string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.settings, func(one setting) bool { return one.Name == chat.Mode })
	if i < 0 {
		return name, name, nil
	}
	mode := d.settings[i]
	if label, ok := mode.Choice(name); ok {
		return label, mode.values[label], nil
	}
	var known []string
	for _, c := range mode.Choices {
		if mode.values[c.Label] == name {
			return c.Label, name, nil
		}
		known = append(known, stdio.ShortenText(c.Label))
	}
	return "", "", fmt.Errorf("it has no mode %.60q: it has %s", name, strings.Join(known, ", "))
}

// SetOption is that of [chat.SettingsDriver].
func (d *Driver) SetOption(name, value string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.settings, func(one setting) bool { return one.Name == name })
	if i < 0 {
		return errors.New("the agent no longer offers that")
	}
	one := d.settings[i]
	params := map[string]any{"sessionId": d.session, one.param: one.values[value]}
	if one.id != "" {
		params["configId"] = one.id
	}
	return d.callLocked(one.method, params, func(r reply) {
		var got settingsState
		if err := d.readResult(r, &got); err != nil {
			d.reportNotice("did not set the %s: %v", name, err)
			return
		}
		d.setOne(name, value)
		d.setAll(&got)
		d.reportSettings()
	})
}

// setOne stores the value of one setting.
func (d *Driver) setOne(name, value string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.settings {
		if d.settings[i].Name == name {
			d.settings[i].Value = value
		}
	}
}

// setAll stores all settings, if the agent reports them.
func (d *Driver) setAll(s *settingsState) {
	if len(s.ConfigOptions) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := s.listSettings()
	for _, one := range d.settings { // older agents report theirs only once
		if !slices.ContainsFunc(fresh, func(other setting) bool { return other.Name == one.Name }) && one.id == "" {
			fresh = append(fresh, one)
		}
	}
	d.settings = fresh
}

// updateSettings stores changed settings and reports them.
func (d *Driver) updateSettings(s *settingsState, mode string) {
	d.setAll(s)
	d.mu.Lock()
	for i := range d.settings {
		one := &d.settings[i]
		if one.Name != chat.Mode || mode == "" {
			continue
		}
		for label, value := range one.values {
			if value == mode {
				one.Value = label
			}
		}
	}
	d.mu.Unlock()
	d.reportSettings()
}

func (d *Driver) reportSettings() {
	var all []chat.Setting
	d.mu.Lock()
	for _, one := range d.settings {
		all = append(all, one.Setting)
	}
	d.mu.Unlock()
	d.report(chat.SettingsChanged{Settings: all})
}
