package acp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/stdio"
)

// standing is how what can be set stands, as an agent says it. It may say so in two ways: the second one is of older agents.
type standing struct {
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

// add adds a choice.
func (s *setting) add(current string, v configValue) {
	for _, one := range v.Options {
		s.add(current, one)
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

func (s *standing) settings() (all []setting) {
	for _, o := range s.ConfigOptions {
		current, isText := o.CurrentValue.(string)
		if o.Type != "select" || !isText {
			continue
		}
		name, known := names[o.Category]
		if !known || slices.ContainsFunc(all, func(one setting) bool { return one.Name == name }) {
			name = strings.ReplaceAll(strings.ToLower(o.ID), " ", "_")
		}
		one := setting{Setting: chat.Setting{Name: name, Value: current}, method: "session/set_config_option", param: "value", id: o.ID, values: map[string]string{}}
		for _, v := range o.Options {
			one.add(current, v)
		}
		all = append(all, one)
	}
	mode := setting{Setting: chat.Setting{Name: chat.Mode}, method: "session/set_mode", param: "modeId", values: map[string]string{}}
	for _, m := range s.Modes.AvailableModes {
		mode.add(s.Modes.CurrentModeID, configValue{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	model := setting{Setting: chat.Setting{Name: chat.Model}, method: "session/set_model", param: "modelId", values: map[string]string{}}
	for _, m := range s.Models.AvailableModels {
		model.add(s.Models.CurrentModelID, configValue{Value: m.ModelID, Name: m.Name, Description: m.Description})
	}
	for _, one := range []setting{model, mode} {
		if len(one.Choices) > 0 && !slices.ContainsFunc(all, func(other setting) bool { return other.Name == one.Name }) {
			all = append(all, one)
		}
	}
	return all
}

// findMode is a mode by what a person types for it, or by its id. An agent that names no modes may know it all the same.
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
		known = append(known, stdio.Short(c.Label))
	}
	return "", "", fmt.Errorf("it has no mode %.60q: it has %s", name, strings.Join(known, ", "))
}

// Set is that of [chat.Setter].
func (d *Driver) Set(name, value string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.settings, func(one setting) bool { return one.Name == name })
	if i < 0 {
		return errors.New("the agent does not offer that any more")
	}
	one := d.settings[i]
	params := map[string]any{"sessionId": d.session, one.param: one.values[value]}
	if one.id != "" {
		params["configId"] = one.id
	}
	return d.callLocked(one.method, params, func(r reply) {
		var got standing
		if err := d.read(r, &got); err != nil {
			d.notice("did not set the %s: %v", name, err)
			return
		}
		d.now(name, value)
		d.stands(&got)
		d.tellSettings()
	})
}

// now notes that something is set.
func (d *Driver) now(name, value string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.settings {
		if d.settings[i].Name == name {
			d.settings[i].Value = value
		}
	}
}

// stands takes in how all stands, where an agent says so.
func (d *Driver) stands(s *standing) {
	if len(s.ConfigOptions) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := s.settings()
	for _, one := range d.settings { // what older agents say is said once
		if !slices.ContainsFunc(fresh, func(other setting) bool { return other.Name == one.Name }) && one.id == "" {
			fresh = append(fresh, one)
		}
	}
	d.settings = fresh
}

// changed is news of what is set, by whomever.
func (d *Driver) changed(s *standing, mode string) {
	d.stands(s)
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
	d.tellSettings()
}

func (d *Driver) tellSettings() {
	var all []chat.Setting
	d.mu.Lock()
	for _, one := range d.settings {
		all = append(all, one.Setting)
	}
	d.mu.Unlock()
	d.report(chat.Sets{Settings: all})
}
