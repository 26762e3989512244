package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/proxyflags"
	settingsfile "terminalproxy/cmd/internal/settings"
)

var update = flag.Bool("update", false, "write the tables of docs/configuration.md anew")

// configure writes the user's configuration, for tests that run alone.
func configure(t *testing.T, text string) (path string) {
	t.Helper()
	path, err := settingsfile.Path()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const someConfig = `[proxy]
yield = "2s"
notify = ["off"]
reclaim-key = 'ctrl-]'

[look]
sign = "top"

[redact]
add = ['ACME-\d+']

[gateway]
gateway = "unix:/nowhere"

[gateway.serve]
page = true
[gateway.token]
tokens = "/t"

[[allow]]
agent = "claude"
program = "psql"
for = "5m"

[[never]]
program = 'ssh'
[[never]]
agent = "codex"
`

func TestConfigShowsWhereEachValueComesFrom(t *testing.T) {
	isolate(t)
	path := configure(t, someConfig)
	t.Setenv("PROXY_TOKEN_FILE", "/my/token")
	got := command(t, "config")
	require.Equal(t, statusOK, got.status, got.err)
	for _, line := range []string{
		"# " + path + "\n", "\nyield = \"2s\" ", "# config.toml:2\n", "\nreclaim-key = \"ctrl-]\" ", "\nsign = \"top\" ", "\nadd = ['ACME-\\d+']", "# config.toml:10\n",
		"\n[gateway.serve]\n", "\npage = true ", "\n# listen = \"127.0.0.1:7117\" ", "\n# agent = false ", "\n# token-file = \"/my/token\" ", "# environment PROXY_TOKEN_FILE\n", "# default\n", "\ntokens = \"/t\" ",
		"\n[[allow]] ", "# config.toml:20\nagent = \"claude\"\nfor = \"5m\"\nprogram = \"psql\"\n", "# config.toml:25\nprogram = \"ssh\"\n",
	} {
		require.Contains(t, got.out, line)
	}
	// The output could be the file.
	t.Setenv("PROXY_TOKEN_FILE", "")
	before := inForceNow(t)
	configure(t, got.out)
	after := inForceNow(t)
	for i := range after.Settings {
		after.Settings[i].Line = before.Settings[i].Line
	}
	for i := range after.Rules {
		after.Rules[i].Line = before.Rules[i].Line
	}
	require.Equal(t, before, after)

	require.NoError(t, os.Remove(path))
	got = command(t, "config")
	require.Equal(t, statusOK, got.status, got.err)
	require.Contains(t, got.out, "# "+path+" (no such file)\n")
	require.NotContains(t, got.out, "config.toml:")
	require.Equal(t, path+"\n", command(t, "config", "path").out)
}

func inForceNow(t *testing.T) (c configuration) {
	t.Helper()
	got := command(t, "config", "--json")
	require.Equal(t, statusOK, got.status, got.err)
	require.NoError(t, json.Unmarshal([]byte(got.out), &c))
	return c
}

func TestConfigAsJSON(t *testing.T) {
	isolate(t)
	path := configure(t, someConfig)
	t.Setenv("PROXY_GATEWAY", "unix:/env")
	c := inForceNow(t)
	require.Equal(t, path, c.Path)
	require.True(t, c.Exists)
	require.Contains(t, c.Settings, inForce{Table: "proxy", Key: "yield", Value: "2s", From: "file", Line: 2})
	require.Contains(t, c.Settings, inForce{Table: "proxy", Key: "notify", Value: []any{"off"}, From: "file", Line: 3})
	require.Contains(t, c.Settings, inForce{Table: "proxy", Key: "gateway", Value: "unix:/env", From: "environment", Name: "PROXY_GATEWAY"})
	require.Contains(t, c.Settings, inForce{Table: "gateway", Key: "gateway", Value: "unix:/env", From: "environment", Name: "PROXY_GATEWAY"})
	require.Contains(t, c.Settings, inForce{Table: "gateway.serve", Key: "page", Value: true, From: "file", Line: 16})
	require.Contains(t, c.Settings, inForce{Table: "look", Key: "background", Value: 214.0, From: "default"})
}

func TestAConfigurationSetsFlags(t *testing.T) {
	isolate(t)
	path := configure(t, "[gateway]\njson = true\n[gateway.serve]\nlisten = '127.0.0.1:7118'\n[gateway.token]\ntokens = '"+t.TempDir()+"/store/t'\n[gateway.token.create]\nrole = 'agent'\n")
	require.Contains(t, command(t, "serve", "--check").out, `"127.0.0.1:7118"`)
	require.Contains(t, command(t, "serve", "--check", "--listen", "127.0.0.1:7119").out, `"127.0.0.1:7119"`)
	require.Contains(t, command(t, "serve", "--check", "--config", settingsFile(t, "listen = '127.0.0.1:7120'")).out, `"127.0.0.1:7120"`, "that file is named on the command line")
	got := command(t, "token", "create", "claude")
	require.Equal(t, statusOK, got.status, got.err)
	require.Contains(t, got.out, `"role": "agent"`)
	require.Contains(t, command(t, "token", "ls").out, "claude")

	configure(t, "[gateway.serve]\n\nlisten = '0.0.0.0:1'\n")
	runFailing(t, statusUsage, "or listen on 127.0.0.1 (set in "+path+":3)", "serve", "--check")
	configure(t, "[gateway]\ngateway = 'file://x'\n")
	runFailing(t, statusUsage, "file://x", "ls")
	runFailing(t, statusUsage, "line://x", "ls", "--gateway", "line://x")
	t.Setenv("PROXY_GATEWAY", "env://x")
	runFailing(t, statusUsage, "env://x", "ls")
}

// A command checks its own tables and the common ones. A command that takes the keyboard back
// checks no table.
func TestABrokenConfiguration(t *testing.T) {
	isolate(t)
	path := configure(t, "[gateway.serve]\nlistn = 'x'\n")
	runFailing(t, statusUsage, "configuration: "+path+":2: unknown setting \"listn\"\nhint: did you mean: listen\n", "serve", "--check")
	runFailing(t, statusNoGateway, "no gateway is running", "ls")
	got := command(t, "config")
	got.mustFail(t, statusUsage, ":2: unknown setting \"listn\"\nhint: did you mean: listen\n")
	require.Contains(t, got.out, "(not used: something in it is wrong)")
	got = command(t, "config", "--json")
	require.Contains(t, got.out, `"error"`)

	for text, want := range map[string]string{
		"[gatway]\n":               ":1: unknown table \"gatway\"\nhint: did you mean: gateway\n",
		"[gateway.sreve]\n":        ":1: unknown table \"sreve\"\nhint: did you mean: serve\n",
		"[gateway.ls.x]\n":         ":1: unknown table \"x\"",
		"[gateway]\nhelp = true\n": ":2: unknown setting \"help\"",
		"[redact]\nadd = ['(']\n":  ":2: add: ",
		"[gateway\n":               ": expected",
	} {
		path = configure(t, text)
		runFailing(t, statusUsage, "configuration: "+path+want[:strings.Index(want, ":")], "ls")
		require.Contains(t, command(t, "ls").err, want, text)
		for _, args := range [][]string{{"reclaim", "x"}, {"hide", "x"}} {
			if strings.Contains(text, "ls") {
				continue // these commands do not read it
			}
			got := command(t, args...)
			got.mustFail(t, statusNoGateway, "gateway: configuration: "+path)
			require.Contains(t, got.err, "; using the built-in defaults\n")
		}
		require.Equal(t, statusOK, command(t, "version").status)
		require.Equal(t, path+"\n", command(t, "config", "path").out)
		require.Equal(t, statusUsage, command(t, "config").status)
	}
}

// Every setting is in docs/configuration.md, with its default and its effect. -update writes it.
func TestTheConfigurationIsDocumented(t *testing.T) {
	isolate(t)
	const name = "../../docs/configuration.md"
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	begin, _, ok := strings.Cut(string(text), generated)
	require.True(t, ok, "%s has no line %q", name, generated)
	want := begin + generated + documented(t)
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(want), 0o644))
	}
	lines := strings.Split(string(text), "\n")
	for _, line := range strings.Split(want, "\n") {
		require.Contains(t, lines, line, "a flag is new or says something else: go test ./cmd/gateway -run Documented -update")
	}
	require.Len(t, lines, strings.Count(want, "\n")+1, "a flag is gone: go test ./cmd/gateway -run Documented -update")
}

const generated = "<!-- What follows is made from the code: go test ./cmd/gateway -run Documented -update -->\n"

// documented returns the tables of all settings.
func documented(t *testing.T) string {
	t.Helper()
	all, err := settingsOf(nil)
	require.NoError(t, err)
	var b strings.Builder
	table := ""
	for _, s := range all {
		if s.Table != table {
			table = s.Table
			fmt.Fprintf(&b, "\n### [%s]\n\n| setting | default | |\n|---|---|---|\n", table)
		}
		value := settingsfile.Literal(s.Value)
		switch value {
		case `""`, "0", `"0s"`, "[]":
			value = ""
		default:
			value = "`" + value + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Key, value, strings.NewReplacer("|", `\|`, "\n", " ", `\`, `\\`).Replace(helpOf(t, s)))
	}
	for _, kind := range []string{settingsfile.RulesAllow, settingsfile.RulesNever} {
		fmt.Fprintf(&b, "\n### [[%s]]\n\n| setting | default | |\n|---|---|---|\n", kind)
		for _, f := range settingsfile.RuleFields(kind) {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Key, f.Default, f.Help)
		}
	}
	return b.String()
}

// helpOf returns a setting's effect.
func helpOf(t *testing.T, s inForce) string {
	t.Helper()
	for _, o := range settingsfile.Options {
		if o.Table == s.Table && o.Key == s.Key {
			return o.Help
		}
	}
	flags := new(proxyflags.Flags).Set()
	if path := strings.Split(s.Table, "."); path[0] == settingsfile.TableGateway {
		cmd, _, err := (&app{}).newRoot().Find(path[1:])
		require.NoError(t, err)
		_, settable := tableOf(cmd)
		flags = settable.Set
	}
	flag := flags.Lookup(s.Key)
	require.NotNil(t, flag, s.Key)
	_, help := pflag.UnquoteUsage(flag)
	require.NotEmpty(t, help, s.Key)
	return help
}

// Otherwise, an event's program that does not exist would fail in silence.
func TestAProgramThatIsNotFoundIsNamed(t *testing.T) {
	isolate(t)
	configure(t, "[[on]]\nevent = 'asked'\nrun = ['true']\n\n[[on]]\nevent = 'exit'\nrun = ['no-such-notifier', 'x']\n")
	got := command(t, "config")
	require.Equal(t, statusOK, got.status, got.err)
	require.Contains(t, got.out, "run = [\"no-such-notifier\", \"x\"]")
	require.Regexp(t, `# config\.toml:5: .*"no-such-notifier": executable file not found in \$PATH\n`, got.out)
	require.Equal(t, 1, strings.Count(got.out, "not found"))
	require.Regexp(t, `warn +configuration +\[\[on\]\] at line 5 runs nothing: "no-such-notifier"`, command(t, "doctor").out)
}
