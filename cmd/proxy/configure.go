package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/config/proxyflags"
	"terminalproxy/cmd/internal/config/settings"
	"terminalproxy/cmd/internal/hooks/onevent"
	"terminalproxy/proxy"
	"terminalproxy/proxy/consent/policy"
)

// configured holds the user's configuration, which supplies what the command line and the
// environment leave out. If it has an error, only its rules about what agents must not see apply.
// The program runs anyway.
type configured struct {
	file   *settings.File
	taste  proxy.Taste
	rules  []onevent.Rule
	agents policy.Set
	lines  map[string]int // of the flags that the file set, by name
	typed  []string       // names of the flags on the command line
	given  proxyflags.Flags
	fault  error // nil if the configuration is good
	// unshared is the reason why no agent can see the session although --agent is set, or nil.
	unshared error
}

// applyConfig reads the configuration and sets its flags.
func (f *flags) applyConfig(set *pflag.FlagSet) {
	c := &f.configured
	set.Visit(func(flag *pflag.Flag) { c.typed = append(c.typed, flag.Name) })
	c.given = f.Flags
	file, err := settings.User()
	c.file = file
	if err == nil {
		err = file.Table(settings.TableProxy).RefuseUnknownTables()
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
		c.lines, err = file.Preset(settings.TableProxy, settings.Flags{
			Set:   set,
			Never: settings.NeverProxy,
		})
	}
	if err != nil {
		f.dropConfig(set, err)
		return
	}
	// Agents see a shared terminal already: a nested session is shared only if the command line
	// asks for it.
	asks := slices.ContainsFunc(f.typed, func(name string) bool {
		return slices.Contains(agentOnly, name)
	})
	if f.isPreset("agent") && os.Getenv(proxy.SessionVariable) != "" && !f.Nested && !asks {
		f.Agent = false
	}
}

// isPreset reports whether the file set a flag.
func (f *flags) isPreset(name string) bool { return f.lines[name] > 0 }

// dropConfig undoes what the configuration set.
func (f *flags) dropConfig(set *pflag.FlagSet, why error) {
	f.Flags = f.given
	set.VisitAll(func(flag *pflag.Flag) { flag.Changed = slices.Contains(f.typed, flag.Name) })
	f.lines, f.rules, f.fault, f.taste, f.agents = nil, nil, why, f.file.SafeTaste(), f.file.NeverRules()
}

// configError returns the configuration's error if err is about a flag that the configuration set,
// else nil.
func (f *flags) configError(err error) error {
	user, ok := errors.AsType[*proxy.UserError](err)
	if !ok {
		return nil
	}
	name, ok := strings.CutPrefix(user.Say, "--")
	if !ok {
		return nil
	}
	if end := strings.IndexFunc(name, func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z')
	}); end >= 0 {
		name = name[:end]
	}
	if !f.isPreset(name) {
		return nil
	}
	return &settings.Error{
		Path: f.file.Path,
		Line: f.lines[name],
		Say:  strings.TrimPrefix(user.Say, "--"),
		Hint: user.Hint,
	}
}

// retryWithoutConfig runs do, and once more without the configuration if do fails because of it.
func (f *flags) retryWithoutConfig(set *pflag.FlagSet, do func() error) error {
	err := do()
	if why := f.configError(err); why != nil {
		f.dropConfig(set, why)
		return do()
	}
	return err
}

// configWarning describes a fault of the configuration in a line, or returns "".
func (f *flags) configWarning() string {
	if f.fault == nil {
		return ""
	}
	text := strings.Join(strings.Fields(f.fault.Error()), " ")
	if e, ok := errors.AsType[*settings.Error](f.fault); ok &&
		strings.HasPrefix(e.Hint, "did you mean") {
		text += " (" + strings.Replace(e.Hint, ":", "", 1) + "?)"
	}
	return fmt.Sprintf("proxy: configuration: %s; using the built-in defaults", text)
}
