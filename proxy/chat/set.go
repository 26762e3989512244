package chat

import (
	"errors"
	"slices"
	"strings"
)

// What most agents let a person set. An agent may name more.
const (
	Model = "model"
	Mode  = "mode" // what it does without asking
)

// Setting is something of an agent that a person can set while it runs.
type Setting struct {
	Name  string // in lower case, without blanks
	Value string // "" where the agent does not say
	// Choices are the values and their meanings. If empty, any word may be a value.
	Choices []Option
}

// ErrNoSetting is the answer to setting what the agent does not have.
var ErrNoSetting = errors.New("the agent has no such setting")

// Settings are all that can be set. They must not be changed.
func (s *Session) Settings() []Setting {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Choice returns the value for a word: one of the choices, or any word if the setting has no
// choices. "" is never a value.
func (s Setting) Choice(word string) (value string, ok bool) {
	if len(s.Choices) == 0 {
		return word, word != "" && !strings.ContainsAny(word, " \n")
	}
	i := slices.IndexFunc(s.Choices, func(c Option) bool { return c.Label == word })
	if i < 0 {
		i = slices.IndexFunc(s.Choices, func(c Option) bool { return strings.EqualFold(c.Label, word) })
	}
	if i < 0 {
		return "", false
	}
	return s.Choices[i].Label, true
}

// Set sets something of the agent. It is in the log before the agent gets it; what comes of it
// follows there.
func (s *Session) Set(by, name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded() {
		return ErrOver
	}
	i := slices.IndexFunc(s.settings, func(one Setting) bool { return one.Name == name })
	driver, takes := s.driver.(SettingsDriver)
	if i < 0 || !takes {
		return ErrNoSetting
	}
	value, ok := s.settings[i].Choice(value)
	if !ok {
		return errors.New(name + ": there is no such choice")
	}
	err := s.addRecordChecked(Record{Item: &Item{Kind: Notice, Author: by, Text: "sets the " + name + " to " + value}}, true)
	if err == nil {
		err = driver.SetOption(name, value)
	}
	if err != nil {
		s.addNotice("the " + name + " was not set: " + err.Error())
	}
	return err
}

// updateSettings stores the settings and logs each change. The mode is logged from the start: it
// decides about which actions the agent asks.
func (s *Session) updateSettings(now []Setting) {
	for _, one := range now {
		i := slices.IndexFunc(s.settings, func(old Setting) bool { return old.Name == one.Name })
		switch {
		case one.Value == "" || i >= 0 && s.settings[i].Value == one.Value:
		case one.Name == Mode && (i < 0 || s.settings[i].Value == ""):
			s.addNotice("the mode is " + one.describeValue())
		case one.Name == Mode:
			s.addNotice("the mode is " + one.describeValue() + " now")
		case i >= 0:
			s.addNotice("the " + one.Name + " is " + one.Value + " now")
		}
	}
	s.settings = now
}

// Mode is the mode in which the agent works, "" where it does not say.
func (s *Session) Mode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.settings {
		if one.Name == Mode {
			return one.Value
		}
	}
	return ""
}

// describeValue returns the value, with its meaning if known.
func (s Setting) describeValue() string {
	for _, c := range s.Choices {
		if c.Label == s.Value && c.Description != "" {
			return s.Value + " (" + c.Description + ")"
		}
	}
	return s.Value
}
