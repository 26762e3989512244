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
	// Choices are the values, and what they mean. Where there are none, any word may be one.
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

// Choice is the value that a word means: one of the choices, or any word where there are none. "" is no value.
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

// Set sets something of the agent. It is in the log before the agent gets it; what comes of it follows there.
func (s *Session) Set(by, name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended() {
		return ErrOver
	}
	i := slices.IndexFunc(s.settings, func(one Setting) bool { return one.Name == name })
	driver, takes := s.driver.(Setter)
	if i < 0 || !takes {
		return ErrNoSetting
	}
	value, ok := s.settings[i].Choice(value)
	if !ok {
		return errors.New(name + ": there is no such choice")
	}
	err := s.addRecord(Record{Item: &Item{Kind: Notice, Author: by, Text: "sets the " + name + " to " + value}}, true)
	if err == nil {
		err = driver.Set(name, value)
	}
	if err != nil {
		s.notice("the " + name + " was not set: " + err.Error())
	}
	return err
}

// sets takes in what can be set. Each change is in the log, whoever made it, and the mode from the start: it decides what the agent asks for.
func (s *Session) sets(now []Setting) {
	for _, one := range now {
		i := slices.IndexFunc(s.settings, func(was Setting) bool { return was.Name == one.Name })
		switch {
		case one.Value == "" || i >= 0 && s.settings[i].Value == one.Value:
		case one.Name == Mode && (i < 0 || s.settings[i].Value == ""):
			s.notice("the mode is " + one.described())
		case one.Name == Mode:
			s.notice("the mode is " + one.described() + " now")
		case i >= 0:
			s.notice("the " + one.Name + " is " + one.Value + " now")
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

// described is the value with what it means, where that is known.
func (s Setting) described() string {
	for _, c := range s.Choices {
		if c.Label == s.Value && c.Description != "" {
			return s.Value + " (" + c.Description + ")"
		}
	}
	return s.Value
}
