package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/onevent"
	"terminalproxy/cmd/internal/proxyflags"
	"terminalproxy/cmd/internal/settings"
	"terminalproxy/proxy"
	"terminalproxy/proxy/policy"
)

// configured is what the user's own configuration says, in place of what the command line and the environment leave out. With
// something wrong in it none of that counts, but for what agents must not see: the program runs all the same.
type configured struct {
	file   *settings.File
	taste  proxy.Taste
	rules  []onevent.Rule
	agents policy.Set
	lines  map[string]int // of the flags that the file set, by name
	typed  []string       // names of the flags on the command line
	said   proxyflags.Flags
	wrong  error // what is wrong, nil for nothing
}

// configure reads the configuration and sets the flags that it says.
func (f *flags) configure(set *pflag.FlagSet) {
	c := &f.configured
	set.Visit(func(flag *pflag.Flag) { c.typed = append(c.typed, flag.Name) })
	c.said = f.Flags
	file, err := settings.User()
	c.file = file
	if err == nil {
		err = file.Table(settings.TableProxy).Only()
	}
	if err == nil {
		c.taste, err = file.Taste()
	}
	if err == nil {
		c.rules, _, err = file.Rules()
	}
	if err == nil {
		c.agents, err = file.Policy()
	}
	if err == nil {
		c.lines, err = file.Preset(settings.TableProxy, settings.Flags{Set: set, Never: settings.NeverProxy})
	}
	if err != nil {
		f.unconfigure(set, err)
		return
	}
	// Agents see a shared terminal already: what the file says of every session is not for one within.
	asks := slices.ContainsFunc(f.typed, func(name string) bool { return slices.Contains(agentOnly, name) })
	if f.presets("agent") && os.Getenv(proxy.SessionVariable) != "" && !f.Nested && !asks {
		f.Agent = false
	}
}

// presets reports whether the file set a flag.
func (f *flags) presets(name string) bool { return f.lines[name] > 0 }

// unconfigure takes back what the configuration said.
func (f *flags) unconfigure(set *pflag.FlagSet, why error) {
	f.Flags = f.said
	set.VisitAll(func(flag *pflag.Flag) { flag.Changed = slices.Contains(f.typed, flag.Name) })
	f.lines, f.rules, f.wrong, f.taste, f.agents = nil, nil, why, f.file.Safe(), f.file.Nevers()
}

// blames says what is wrong in the configuration where an error is about a flag that it set, nil for another error.
func (f *flags) blames(err error) error {
	user, ok := errors.AsType[*proxy.UserError](err)
	if !ok {
		return nil
	}
	name, ok := strings.CutPrefix(user.Say, "--")
	if !ok {
		return nil
	}
	if end := strings.IndexFunc(name, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }); end >= 0 {
		name = name[:end]
	}
	if !f.presets(name) {
		return nil
	}
	return &settings.Error{Path: f.file.Path, Line: f.lines[name], Say: strings.TrimPrefix(user.Say, "--"), Hint: user.Hint}
}

// settle runs do, once more without the configuration if that is what do fails at.
func (f *flags) settle(set *pflag.FlagSet, do func() error) error {
	err := do()
	if why := f.blames(err); why != nil {
		f.unconfigure(set, why)
		return do()
	}
	return err
}

// trouble says in a line what is wrong with the configuration, "" for nothing.
func (f *flags) trouble() string {
	if f.wrong == nil {
		return ""
	}
	text := strings.Join(strings.Fields(f.wrong.Error()), " ")
	if e, ok := errors.AsType[*settings.Error](f.wrong); ok && strings.HasPrefix(e.Hint, "did you mean") {
		text += " (" + strings.Replace(e.Hint, ":", "", 1) + "?)"
	}
	return fmt.Sprintf("proxy: configuration: %s; using the built-in defaults", text)
}
