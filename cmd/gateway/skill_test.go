package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/gateway/text"
)

// contrib reads a file that is shipped for other programs.
func contrib(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../contrib", name))
	require.NoError(t, err)
	return string(content)
}

// contribJSON returns all JSON files in contrib, by their names there.
func contribJSON(t *testing.T) map[string]any {
	t.Helper()
	all := make(map[string]any)
	for _, pattern := range []string{"*.json", "*/*.json", "*/.*.json", "*/*/*.json", "*/.*/*.json"} {
		names, err := filepath.Glob("../../contrib/" + pattern)
		require.NoError(t, err)
		for _, name := range names {
			name, _ = filepath.Rel("../../contrib", name)
			var v any
			require.NoError(t, json.Unmarshal([]byte(contrib(t, name)), &v), name)
			all[name] = v
		}
	}
	return all
}

// The skill is one text for all, and short: every agent that uses a terminal pays for it.
func TestSkill(t *testing.T) {
	got := clitest.Command(t, "skill")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Equal(t, contrib(t, "plugin/skills/user-terminal/SKILL.md"), got.Out)
	head := regexp.MustCompile(`(?s)^---\nname: user-terminal\ndescription: ([^\n]{1,500})\n---\n\n(.+)$`).FindStringSubmatch(got.Out)
	require.NotNil(t, head)
	require.Less(t, text.Tokens(head[1]), 80, "each conversation of each agent holds it")
	require.Less(t, text.Tokens(head[2]), 620)
	require.NotContains(t, head[1], ": ", "of a YAML text without quotes")
}

// The skill names existing tools, views and commands.
func TestTheSkillNamesOnlyExistingTools(t *testing.T) {
	sources, err := filepath.Glob("../../gateway/doors/mcp/*.go")
	require.NoError(t, err)
	var defined strings.Builder
	for _, name := range sources {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		defined.Write(source)
	}
	skill := clitest.Command(t, "skill").Out
	tools := regexp.MustCompile(`terminal_[a-z_]*[a-z]`).FindAllString(skill, -1)
	require.NotEmpty(t, tools)
	for _, tool := range tools {
		require.Regexp(t, `define\(\s*"`+tool+`"`, defined.String())
	}
	list := regexp.MustCompile("`gateway ls`[^.]*`release`").FindString(skill)
	for _, name := range regexp.MustCompile("`(?:gateway )?([a-z]+)`").FindAllStringSubmatch(list, -1) {
		require.Equal(t, cli.StatusOK, clitest.Command(t, name[1], "--help").Status, name[1])
	}
	require.NotEmpty(t, list)
}

// commands returns what a JSON value would run: a command with its arguments, or a line for a
// shell.
func commands(v any) (all [][]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			all = append(all, commands(e)...)
		}
	case map[string]any:
		for key, e := range v {
			if key != "command" {
				all = append(all, commands(e)...)
				continue
			}
			line := strings.Fields(strings.Join(texts(e), " "))
			all = append(all, append(line, texts(v["args"])...))
		}
	}
	return all
}

func texts(v any) (all []string) {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	list, _ := v.([]any)
	for _, e := range list {
		all = append(all, e.(string))
	}
	return all
}

// Each file for another program is of this release, and runs existing commands.
func TestContribRunsExistingCommands(t *testing.T) {
	all := contribJSON(t)
	for _, name := range []string{
		"server.json", "opencode/opencode.json", "plugin/.mcp.json", "plugin/gemini-extension.json", "plugin/hooks/claude.json",
	} {
		require.Contains(t, all, name)
		require.NotEmpty(t, commands(all[name]), name)
	}
	for name, v := range all {
		if of, ok := v.(map[string]any)["version"]; ok {
			require.Equal(t, version.Release, of, name)
		}
		for _, words := range commands(v) {
			require.Equal(t, "gateway", words[0], name)
			require.Equal(t, cli.StatusOK, clitest.Command(t, words[1], "--help").Status, "%s: %s", name, words)
		}
	}
}

// The bounds are those of the schema that it names, 2025-12-11.
func TestTheRegistrysEntry(t *testing.T) {
	var got struct {
		Name, Title, Description, Version string
		Schema                            string         `json:"$schema"`
		Meta                              map[string]any `json:"_meta"`
	}
	d := json.NewDecoder(strings.NewReader(contrib(t, "server.json")))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&got))
	require.Equal(t, "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json", got.Schema)
	require.Regexp(t, `^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`, got.Name)
	for _, text := range []string{got.Title, got.Description} {
		require.NotEmpty(t, text)
		require.LessOrEqual(t, len(text), 100)
	}
	require.Len(t, got.Meta, 1)
	require.Contains(t, got.Meta, "io.modelcontextprotocol.registry/publisher-provided", "publishers may add no other")
}
