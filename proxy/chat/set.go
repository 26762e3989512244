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
	s.log.add(Record{Item: cut(Item{Kind: Notice, Author: by, Text: "sets the " + name + " to " + value})})
	err := driver.Set(name, value)
	if err != nil {
		s.notice("the " + name + " was not set: " + err.Error())
	}
	return err
}

// sets takes in what can be set. What changed is told, also where nobody asked for it: a mode decides what the agent asks for.
func (s *Session) sets(now []Setting) {
	for _, one := range now {
		i := slices.IndexFunc(s.settings, func(was Setting) bool { return was.Name == one.Name })
		if i < 0 || one.Name == Mode && s.settings[i].Value == "" { // the mode in which it started
			continue
		}
		if s.settings[i].Value != one.Value {
			s.notice("the " + one.Name + " is " + one.Value + " now")
		}
	}
	s.settings = now
}
