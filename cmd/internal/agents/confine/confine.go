// Package confine makes the settings that keep a coding agent's own shell away from the user's
// tokens and sockets, and recognises those in force.
package confine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"terminalproxy/gateway/userdirs"
)

// Strength says what holds an agent back.
type Strength int

// The strengths.
const (
	Absent   Strength = iota
	Patterns          // the agent compares names: this prevents mistakes
	Sandbox           // the kernel refuses the agent's commands
)

// Agent is a coding agent with a shell of its own.
type Agent struct {
	Name string // its program
	Uses Strength
	// File returns the path of the settings.
	File func() string
	// Needs lists the programs without which its sandbox does not start on Linux.
	Needs []string
	// Settings returns the text that belongs into the file.
	Settings func(dirs []string) string
	// holds reports whether the text of a file holds these settings.
	holds func(text []byte, dirs []string) bool
}

// Agents lists the known agents.
func Agents() []Agent {
	return []Agent{claude(), codex(), copilot(), gemini(), opencode()}
}

// FindAgent returns an agent by its name.
func FindAgent(name string) (a Agent, found bool) {
	all := Agents()
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return a, false
	}
	return all[i], true
}

// FindStrength returns what holds the agent back now, by its settings.
func (a Agent) FindStrength(dirs []string) Strength {
	paths := []string{a.File()}
	if a.Name == geminiName { // it reads every policy of the directory
		paths, _ = filepath.Glob(filepath.Join(filepath.Dir(a.File()), "*.toml"))
	}
	for _, path := range paths {
		if text, err := readSettings(path); err == nil && a.holds(text, dirs) {
			return a.Uses
		}
	}
	return Absent
}

// maxSettings bounds an agent's settings, in bytes.
const maxSettings = 1 << 20

// readSettings reads an agent's file. A pipe in its place must not hold up the reader.
func readSettings(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return io.ReadAll(io.LimitReader(file, maxSettings))
}

// Directories returns the directories of the user's tokens, keys and sockets.
func Directories() (dirs []string, err error) {
	config, err := userdirs.ConfigPath()
	if err != nil {
		return nil, err
	}
	state, err := userdirs.State()
	if err != nil {
		return nil, err
	}
	run, _, _ := userdirs.LocalSocket()
	return []string{filepath.Dir(config), state, run}, nil
}

// homeFile returns the path of a file in the directory that a variable names, else in one of the
// user's home.
func homeFile(variable, below string, parts ...string) string {
	dir := os.Getenv(variable)
	if dir == "" {
		home, _ := os.UserHomeDir()
		dir = filepath.Join(home, below)
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}
