package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/cmd/internal/commands/doctor"
	"terminalproxy/cmd/internal/config/proxyflags"
	settingsfile "terminalproxy/cmd/internal/config/settings"
)

var update = flag.Bool("update", false, "write the tables of docs/configuration.md anew")

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
	clitest.Isolate(t)
	path := clitest.Configure(t, someConfig)
	t.Setenv("PROXY_TOKEN_FILE", "/my/token")
	got := clitest.Command(t, "config")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	for _, line := range []string{
		"# " + path + "\n", "\nyield = \"2s\" ", "# config.toml:2\n", "\nreclaim-key = \"ctrl-]\" ", "\nsign = \"top\" ", "\nadd = ['ACME-\\d+']", "# config.toml:10\n",
		"\n[gateway.serve]\n", "\npage = true ", "\n# listen = \"127.0.0.1:7117\" ", "\n# agent = false ", "\n# token-file = \"/my/token\" ", "# environment PROXY_TOKEN_FILE\n", "# default\n", "\ntokens = \"/t\" ",
		"\n[[allow]] ", "# config.toml:20\nagent = \"claude\"\nfor = \"5m\"\nprogram = \"psql\"\n", "# config.toml:25\nprogram = \"ssh\"\n",
	} {
		require.Contains(t, got.Out, line)
	}
	c := inForceNow(t)
	require.Equal(t, path, c.Path)
	require.Contains(t, c.Settings, doctor.InForce{Table: "proxy", Key: "yield", Value: "2s", From: "file", Line: 2})
	require.Contains(t, c.Settings, doctor.InForce{Table: "proxy", Key: "token-file", Value: "/my/token", From: "environment", Name: "PROXY_TOKEN_FILE"})
	require.Contains(t, c.Settings, doctor.InForce{Table: "look", Key: "background", Value: 214.0, From: "default"})
	set := clitest.Command(t, "config", "--set").Out
	require.Equal(t, strings.Count(set, "# config.toml:")+strings.Count(set, "# environment "),
		strings.Count(set, " # "), "nothing built in")
	require.Regexp(t, `(?s)^# [^\n]*\n\n\[proxy\]\n# token-file = "/my/token" .*\nyield = "2s" .*\n\[gateway\.serve\]\npage = true .*\n\[\[never\]\] .*agent = "codex"\n$`, set)
	// The output could be the file.
	t.Setenv("PROXY_TOKEN_FILE", "")
	before := inForceNow(t)
	clitest.Configure(t, got.Out)
	after := inForceNow(t)
	for i := range after.Settings {
		after.Settings[i].Line = before.Settings[i].Line
	}
	for i := range after.Rules {
		after.Rules[i].Line = before.Rules[i].Line
	}
	require.Equal(t, before, after)

	require.NoError(t, os.Remove(path))
	got = clitest.Command(t, "config")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Contains(t, got.Out, "# "+path+" (no such file)\n")
	require.NotContains(t, got.Out, "config.toml:")
	require.Equal(t, path+"\n", clitest.Command(t, "config", "path").Out)
}

func inForceNow(t *testing.T) (c doctor.Configuration) {
	t.Helper()
	got := clitest.Command(t, "config", "--json")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.NoError(t, json.Unmarshal([]byte(got.Out), &c))
	return c
}

func TestAConfigurationSetsFlags(t *testing.T) {
	clitest.Isolate(t)
	path := clitest.Configure(t, "[gateway]\njson = true\n[gateway.serve]\nlisten = '127.0.0.1:7118'\n[gateway.token]\ntokens = '"+t.TempDir()+"/store/t'\n[gateway.token.create]\nrole = 'agent'\n")
	require.Contains(t, clitest.Command(t, "serve", "--check").Out, `"127.0.0.1:7118"`)
	require.Contains(t, clitest.Command(t, "serve", "--check", "--listen", "127.0.0.1:7119").Out, `"127.0.0.1:7119"`)
	require.Contains(t, clitest.Command(t, "serve", "--check", "--config", clitest.SettingsFile(t, "listen = '127.0.0.1:7120'")).Out, `"127.0.0.1:7120"`, "that file is named on the command line")
	got := clitest.Command(t, "token", "create", "claude")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Contains(t, got.Out, `"role": "agent"`)
	require.Contains(t, clitest.Command(t, "token", "ls").Out, "claude")

	clitest.Configure(t, "[gateway.serve]\n\nlisten = '0.0.0.0:1'\n")
	clitest.RunFailing(t, cli.StatusUsage, "or listen on 127.0.0.1 (set in "+path+":3)", "serve", "--check")
	clitest.Configure(t, "[gateway]\ngateway = 'file://x'\n")
	clitest.RunFailing(t, cli.StatusUsage, "file://x", "ls")
	clitest.RunFailing(t, cli.StatusUsage, "line://x", "ls", "--gateway", "line://x")
	t.Setenv("PROXY_GATEWAY", "env://x")
	clitest.RunFailing(t, cli.StatusUsage, "env://x", "ls")
}

// A command checks its own tables and the common ones. A command that takes the keyboard back
// checks no table.
func TestABrokenConfiguration(t *testing.T) {
	clitest.Isolate(t)
	path := clitest.Configure(t, "[gateway.serve]\nlistn = 'x'\n")
	clitest.RunFailing(t, cli.StatusUsage, "configuration: "+path+":2: unknown setting \"listn\"\nhint: did you mean: listen\n", "serve", "--check")
	clitest.RunFailing(t, cli.StatusNoGateway, "no gateway is running", "ls")
	got := clitest.Command(t, "config")
	got.MustFail(t, cli.StatusUsage, ":2: unknown setting \"listn\"\nhint: did you mean: listen\n")
	require.Contains(t, got.Out, "(not used: it has an error)")
	got = clitest.Command(t, "config", "--json")
	require.Contains(t, got.Out, `"error"`)

	for text, want := range map[string]string{
		"[gatway]\n":               ":1: unknown table \"gatway\"\nhint: did you mean: gateway\n",
		"[gateway.sreve]\n":        ":1: unknown table \"sreve\"\nhint: did you mean: serve\n",
		"[gateway]\nhelp = true\n": ":2: unknown setting \"help\"",
		"[redact]\nadd = ['(']\n":  ":2: add: ",
		"[gateway\n":               ": expected",
	} {
		path = clitest.Configure(t, text)
		clitest.RunFailing(t, cli.StatusUsage, "configuration: "+path+want[:strings.Index(want, ":")], "ls")
		require.Contains(t, clitest.Command(t, "ls").Err, want, text)
		for _, args := range [][]string{{"reclaim", "x"}, {"hide", "x"}} {
			got := clitest.Command(t, args...)
			got.MustFail(t, cli.StatusNoGateway, "gateway: configuration: "+path)
			require.Contains(t, got.Err, "; using the built-in defaults\n")
		}
		require.Equal(t, cli.StatusOK, clitest.Command(t, "version").Status)
		require.Equal(t, path+"\n", clitest.Command(t, "config", "path").Out)
		require.Equal(t, cli.StatusUsage, clitest.Command(t, "config").Status)
	}
}

// Every setting is in docs/configuration.md, with its default and its effect, or where --help has
// that. -update writes it.
func TestTheConfigurationIsDocumented(t *testing.T) {
	clitest.Isolate(t)
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

// explained are the commands whose settings have tables of their own: they run for long, so their
// settings are worth writing down. Those of the others are named; --help explains them.
var explained = []string{"chat", "mcp", "open", "serve"}

// documented returns the tables of all settings.
func documented(t *testing.T) string {
	t.Helper()
	all, err := doctor.SettingsOf(nil, cli.NewRoot(new(cli.Env), addCommands))
	require.NoError(t, err)
	var b strings.Builder
	var rows []string // of the commands that are not explained
	table := ""
	for _, s := range all {
		isNew, help := s.Table != table, helpOf(t, s)
		table = s.Table
		command, isCommands := strings.CutPrefix(table, settingsfile.TableGateway+".")
		if isCommands && !slices.Contains(explained, command) {
			if isNew {
				rows = append(rows, "| `"+command+"` | "+nameSetting(s))
			} else {
				rows[len(rows)-1] += ", " + nameSetting(s)
			}
			continue
		}
		if isNew {
			fmt.Fprintf(&b, "\n### [%s]\n\n| setting | default | |\n|---|---|---|\n", table)
		}
		help = strings.NewReplacer("|", `\|`, "\n", " ", `\`, `\\`).Replace(help)
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Key, documentedDefault(s), help)
	}
	b.WriteString("\n### [gateway.COMMAND] of other commands\n\n`gateway COMMAND --help` explains them.\n\n" +
		"| command | settings, with their defaults |\n|---|---|\n" +
		strings.Join(rows, " |\n") + " |\n")
	for _, kind := range []string{settingsfile.RulesAllow, settingsfile.RulesNever} {
		fmt.Fprintf(&b, "\n### [[%s]]\n\n| setting | default | |\n|---|---|---|\n", kind)
		for _, f := range settingsfile.RuleFields(kind) {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Key, f.Default, f.Help)
		}
	}
	return b.String()
}

// nameSetting returns a setting and its default, if that says something.
func nameSetting(s doctor.InForce) string {
	value := strings.Trim(documentedDefault(s), "`")
	if value == "" || value == "false" {
		return "`" + s.Key + "`"
	}
	return "`" + s.Key + " = " + value + "`"
}

// documentedDefault returns a setting's default, "" if it is empty.
func documentedDefault(s doctor.InForce) string {
	value := settingsfile.Literal(s.Value)
	switch value {
	case `""`, "0", `"0s"`, "[]":
		return ""
	}
	return "`" + value + "`"
}

// helpOf returns a setting's effect.
func helpOf(t *testing.T, s doctor.InForce) string {
	t.Helper()
	for _, o := range settingsfile.Options {
		if o.Table == s.Table && o.Key == s.Key {
			return o.Help
		}
	}
	flags := new(proxyflags.Flags).Set()
	if path := strings.Split(s.Table, "."); path[0] == settingsfile.TableGateway {
		cmd, _, err := cli.NewRoot(new(cli.Env), addCommands).Find(path[1:])
		require.NoError(t, err)
		_, settable := cli.TableOf(cmd)
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
	clitest.Isolate(t)
	clitest.Configure(t, "[[on]]\nevent = 'asked'\nrun = ['true']\n\n[[on]]\nevent = 'exit'\nrun = ['no-such-notifier', 'x']\n")
	got := clitest.Command(t, "config")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Contains(t, got.Out, "run = [\"no-such-notifier\", \"x\"]")
	require.Regexp(t, `# config\.toml:5: .*"no-such-notifier": executable file not found in \$PATH\n`, got.Out)
	require.Equal(t, 1, strings.Count(got.Out, "not found"))
	require.Regexp(t, `warn +configuration +\[\[on\]\] at line 5 runs nothing: "no-such-notifier"`, clitest.Command(t, "doctor").Out)
}
