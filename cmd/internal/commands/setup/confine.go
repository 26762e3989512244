package setup

import (
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/agents/confine"
	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/userdirs"
)

//go:embed confine
var confineFiles embed.FS

// The confinements for any agent.
const (
	confineUser      = "user"
	confineContainer = "devcontainer"
)

// confinement is the output of the command.
type confinement struct {
	For  string `json:"for"`
	File string `json:"file"` // the file's path
	Text string `json:"text"`
	Hint string `json:"hint"`
}

// NewConfine makes the command that prints settings to keep an agent's own shell away from the
// user's tokens and sockets.
func NewConfine(env *cli.Env) *cobra.Command {
	var names []string
	for _, a := range confine.Agents() {
		names = append(names, a.Name)
	}
	names = append(names, confineUser, confineContainer)
	known := strings.Join(names, ", ")
	return &cobra.Command{
		Use:   "confine AGENT",
		Short: "Print settings that keep an agent's own shell away from your tokens and sockets",
		Args:  cobra.ArbitraryArgs,
		Long: "confine prints settings for an agent that runs commands as you. Without them, such " +
			"a command can read your owner token and\n" +
			"give itself the keyboard. AGENT is one of " + known + ".\n" +
			"The sandboxes of claude, codex and copilot keep each command from these files. gemini " +
			"and opencode compare names: that prevents mistakes only.\n" +
			"user and devcontainer confine every agent: with a user of its own, or in a container. " +
			"gateway doctor names agents without any.",
		Example: "  gateway confine claude        # merge into ~/.claude/settings.json\n" +
			"  gateway confine user > agent-user.sh && sh agent-user.sh",
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(_ *cobra.Command, args []string) error { return runConfine(env, known, args) },
	}
}

// runConfine prints the settings for one agent; known lists all agents with settings.
func runConfine(env *cli.Env, known string, args []string) error {
	if len(args) != 1 {
		return cli.Fail(cli.StatusUsage, "confine: name one of %s", known).
			WithHint("see gateway confine --help")
	}
	c, err := findConfinement(args[0])
	switch {
	case errors.Is(err, errUnknownAgent):
		return cli.Fail(cli.StatusUsage, "confine: there are no settings for %.40q: name one "+
			"of %s", args[0], known).WithHint("gateway confine user is for every agent")
	case err != nil:
		return err
	}
	if !env.JSON {
		_, _ = fmt.Fprintln(env.Err, "hint: "+c.Hint)
	}
	return env.PrintAnswer(c, strings.TrimSuffix(c.Text, "\n"))
}

var errUnknownAgent = errors.New("unknown agent")

// findConfinement returns the settings for a name of the command line.
func findConfinement(name string) (c confinement, err error) {
	dirs, err := confine.Directories()
	if err != nil {
		return c, err
	}
	switch name {
	case confineUser:
		text, err := confineFiles.ReadFile("confine/user.sh")
		return confinement{
			name, "agent-user.sh", string(text),
			"read it, then run it: it makes the user agent, or the one that you name",
		}, err
	case confineContainer:
		return devcontainer()
	}
	a, found := confine.FindAgent(name)
	if !found {
		return c, errUnknownAgent
	}
	c = confinement{For: name, File: a.File(), Text: a.Settings(dirs)}
	c.Hint = "merge this into " + c.File
	switch {
	case a.Uses == confine.Patterns:
		c.Hint += "; it compares names, so it prevents mistakes and no attack"
	case len(a.Needs) > 0:
		c.Hint += "; on Linux its sandbox needs " + strings.Join(a.Needs, " and ")
	}
	return c, nil
}

// devcontainer returns the description of a container in which an agent has only its own token.
func devcontainer() (c confinement, err error) {
	config, err := userdirs.ConfigPath()
	if err != nil {
		return c, err
	}
	var s snippet
	if err := s.findPrograms(); err != nil {
		return c, err
	}
	text, err := confineFiles.ReadFile("confine/devcontainer.json")
	if err != nil {
		return c, err
	}
	token := filepath.Join(filepath.Dir(config), "devcontainer.token")
	return confinement{
		confineContainer, ".devcontainer/devcontainer.json",
		strings.NewReplacer("@GATEWAY@", s.gateway, "@TOKEN@", token).Replace(string(text)),
		"gateway token create devcontainer --role agent --out " + token + "; gateway serve",
	}, nil
}
