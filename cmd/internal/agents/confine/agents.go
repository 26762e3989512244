package confine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

const geminiName = "gemini"

// claude is Claude Code: permissions hold its own tools back, the sandbox its commands.
func claude() Agent {
	type filesystem struct {
		DenyRead  []string `json:"denyRead"`
		DenyWrite []string `json:"denyWrite"`
	}
	type sandbox struct {
		Enabled     bool       `json:"enabled"`
		Unavailable bool       `json:"failIfUnavailable"`
		Unsandboxed bool       `json:"allowUnsandboxedCommands"`
		Filesystem  filesystem `json:"filesystem"`
	}
	type permissions struct {
		Deny []string `json:"deny"`
	}
	type settings struct {
		Permissions permissions `json:"permissions"`
		Sandbox     sandbox     `json:"sandbox"`
	}
	rules := func(dirs []string) (deny []string) {
		for _, dir := range dirs {
			deny = append(deny, "Read(/"+dir+"/**)", "Edit(/"+dir+"/**)")
		}
		return deny
	}
	return Agent{
		Name: "claude", Uses: Sandbox, Needs: []string{"bwrap", "socat"},
		File: func() string { return homeFile("CLAUDE_CONFIG_DIR", ".claude", "settings.json") },
		Settings: func(dirs []string) string {
			return indentJSON(settings{
				Permissions: permissions{Deny: rules(dirs)},
				Sandbox: sandbox{
					Enabled: true, Unavailable: true,
					Filesystem: filesystem{DenyRead: dirs, DenyWrite: dirs},
				},
			})
		},
		holds: func(text []byte, dirs []string) bool {
			// without the key, commands may ask to leave the sandbox
			s := settings{Sandbox: sandbox{Unsandboxed: true}}
			return json.Unmarshal(text, &s) == nil && s.Sandbox.Enabled && !s.Sandbox.Unsandboxed &&
				containsAll(s.Permissions.Deny, rules(dirs)) &&
				containsAll(s.Sandbox.Filesystem.DenyRead, dirs) &&
				containsAll(s.Sandbox.Filesystem.DenyWrite, dirs)
		},
	}
}

// codex is Codex: a permission profile replaces its older sandbox_mode.
func codex() Agent {
	return Agent{
		Name: "codex", Uses: Sandbox,
		File: func() string { return homeFile("CODEX_HOME", ".codex", "config.toml") },
		Settings: func(dirs []string) string {
			var b strings.Builder
			b.WriteString("# in place of sandbox_mode, above the first table\n" +
				"default_permissions = \"confined\"\n\n" +
				"[permissions.confined]\nextends = \":workspace\"\n\n" +
				"[permissions.confined.filesystem]\n")
			for _, dir := range dirs {
				fmt.Fprintf(&b, "%q = \"deny\"\n", dir)
			}
			return b.String()
		},
		holds: func(text []byte, dirs []string) bool {
			var s struct {
				Mode        string `toml:"sandbox_mode"`
				Default     string `toml:"default_permissions"`
				Permissions map[string]struct {
					Filesystem map[string]any `toml:"filesystem"`
				} `toml:"permissions"`
			}
			if _, err := toml.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil || s.Mode != "" {
				return false
			}
			for _, dir := range dirs {
				if s.Permissions[s.Default].Filesystem[dir] != "deny" {
					return false
				}
			}
			return true
		},
	}
}

// copilot is Copilot CLI. MCP servers stay outside its sandbox: gateway mcp needs the socket.
func copilot() Agent {
	type filesystem struct {
		Denied []string `json:"deniedPaths"`
	}
	type policy struct {
		Filesystem filesystem `json:"filesystem"`
	}
	type sandbox struct {
		Enabled bool   `json:"enabled"`
		Bypass  bool   `json:"allowBypass"`
		Servers bool   `json:"sandboxMcpServers"`
		Policy  policy `json:"userPolicy"`
	}
	type settings struct {
		Sandbox sandbox `json:"sandbox"`
	}
	return Agent{
		Name: "copilot", Uses: Sandbox, Needs: []string{"bwrap", "slirp4netns"},
		File: func() string { return homeFile("COPILOT_HOME", ".copilot", "settings.json") },
		Settings: func(dirs []string) string {
			return indentJSON(settings{sandbox{
				Enabled: true,
				Policy:  policy{filesystem{dirs}},
			}})
		},
		holds: func(text []byte, dirs []string) bool {
			s := settings{sandbox{Bypass: true}} // its default
			return json.Unmarshal(text, &s) == nil && s.Sandbox.Enabled && !s.Sandbox.Bypass &&
				containsAll(s.Sandbox.Policy.Filesystem.Denied, dirs)
		},
	}
}

// geminiTools are the tools of Gemini CLI that reach files.
var geminiTools = []string{
	"run_shell_command", "read_file", "read_many_files", "write_file", "replace", "list_directory",
	"glob", "grep_search",
}

// gemini is Gemini CLI: a policy of its own compares the arguments of its tools.
func gemini() Agent {
	pattern := func(dirs []string) string {
		var all []string
		for _, dir := range dirs {
			all = append(all, regexp.QuoteMeta(dir))
		}
		// ~ and $HOME name the directories, too, whose last part is the same by default
		return strings.Join(append(all, `/terminalproxy`), "|")
	}
	return Agent{
		Name: geminiName, Uses: Patterns,
		File: func() string {
			return homeFile("GEMINI_CLI_HOME", "", ".gemini", "policies", "terminalproxy.toml")
		},
		Settings: func(dirs []string) string {
			quoted, _ := json.Marshal(geminiTools)
			return fmt.Sprintf("[[rule]]\ntoolName = %s\nargsPattern = '%s'\ndecision = \"deny\"\n"+
				"priority = 999\ndenyMessage = \"The user keeps these files from agents.\"\n",
				quoted, pattern(dirs))
		},
		holds: func(text []byte, dirs []string) bool {
			var s struct {
				Rules []struct {
					Tools    []string `toml:"toolName"`
					Pattern  string   `toml:"argsPattern"`
					Decision string   `toml:"decision"`
				} `toml:"rule"`
			}
			if _, err := toml.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil {
				return false
			}
			for _, r := range s.Rules {
				if r.Decision == "deny" && r.Pattern == pattern(dirs) && containsAll(r.Tools, geminiTools) {
					return true
				}
			}
			return false
		},
	}
}

// opencode compares the arguments of its tools; the last rule that matches counts.
func opencode() Agent {
	type permission struct {
		Bash     map[string]string `json:"bash"`
		External map[string]string `json:"external_directory"`
		Read     map[string]string `json:"read"`
		Edit     map[string]string `json:"edit"`
	}
	type settings struct {
		Permission permission `json:"permission"`
	}
	deny := func(dirs []string, before, more string) map[string]string {
		all := map[string]string{more: "deny"}
		for _, dir := range dirs {
			all[before+dir+"*"] = "deny"
		}
		return all
	}
	rules := func(dirs []string) settings {
		// commands name the directories by ~ and $HOME, too, and files are relative to the project
		files := deny(dirs, "", "*/terminalproxy/*")
		return settings{permission{
			Bash: deny(dirs, "*", "*/terminalproxy*"), External: files, Read: files, Edit: files,
		}}
	}
	return Agent{
		Name: "opencode", Uses: Patterns,
		File: func() string {
			return homeFile("XDG_CONFIG_HOME", ".config", "opencode", "opencode.json")
		},
		Settings: func(dirs []string) string { return indentJSON(rules(dirs)) },
		holds: func(text []byte, dirs []string) bool {
			var s settings
			want := rules(dirs).Permission
			return json.Unmarshal(text, &s) == nil &&
				denies(s.Permission.Bash, want.Bash) &&
				denies(s.Permission.External, want.External) &&
				denies(s.Permission.Read, want.Read) && denies(s.Permission.Edit, want.Edit)
		},
	}
}

// denies reports whether every pattern of want is denied.
func denies(have, want map[string]string) bool {
	for pattern := range want {
		if have[pattern] != "deny" {
			return false
		}
	}
	return true
}

func containsAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

// indentJSON returns a value as a settings file writes it.
func indentJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // texts and booleans always encode
	return b.String()
}
