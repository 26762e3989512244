package doctor

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/agents/confine"
	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/gateway/userdirs"
)

// runDoctor returns the findings of doctor --json.
func runDoctor(t *testing.T, status int) map[string][]finding {
	t.Helper()
	got := clitest.Command(t, "doctor", "--json")
	require.Equal(t, status, got.Status, "%s%s", got.Out, got.Err)
	var said struct {
		Findings []finding
		Promise  string
	}
	require.NoError(t, json.Unmarshal([]byte(got.Out), &said))
	require.Equal(t, promise, said.Promise)
	by := make(map[string][]finding)
	for _, f := range said.Findings {
		require.Contains(t, []string{stateOK, stateWarn, stateWrong}, f.State)
		require.NotEmpty(t, f.Say, f.Name)
		by[f.Name] = append(by[f.Name], f)
	}
	return by
}

// R50: doctor promises what the README does.
func TestDoctorSaysWhatIsPromisedR50(t *testing.T) {
	clitest.Isolate(t)
	got := clitest.Command(t, "doctor")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Contains(t, got.Out, "\n\nThe grant protects against mistakes and against agents that act only through the gateway. "+
		"A process running as your user is not contained; use another user or a container for that.\n")
}

// doctor counts passed checks, lists them on request, and prints the others last.
func TestDoctorPutsWarningsLast(t *testing.T) {
	clitest.Isolate(t)
	t.Setenv("PATH", t.TempDir())
	clitest.Configure(t, "[proxi]\n")
	short := clitest.Command(t, "doctor")
	require.Regexp(t, `(?s)^\d+ checks passed \(--verbose lists them\)\n\nThe grant .*\n\nwarn .*\nwrong +configuration +.*unknown table "proxi"\n +do: did you mean: proxy\n$`, short.Out)
	require.NotContains(t, short.Out, "\nok")
	long := clitest.Command(t, "doctor", "-v")
	require.Regexp(t, `(?s)^ok .*\n\nThe grant .*\n\nwarn .*\nwrong `, long.Out)
	require.Contains(t, short.Out, strconv.Itoa(strings.Count("\n"+long.Out, "\nok "))+" checks passed")
}

// Each table of the configuration is checked: a wrong name or value in any is an error.
func TestDoctorChecksEveryTable(t *testing.T) {
	clitest.Isolate(t)
	const said = "configuration"
	for text, want := range map[string]string{
		"[proxi]\nagent = true\n":                     `:1: unknown table "proxi"`,
		"agent = true\n":                              ":1: agent: must be in a table",
		"[proxy]\nagnt = true\n":                      `:2: unknown setting "agnt"`,
		"[proxy]\nyield = '5h'\n":                     ":2: yield 5h0m0s: must be 0s to 1h",
		"[proxy]\ngrant-key = 'ctrl-c'\n":             ":2: grant-key: ",
		"[proxy]\nnotify = ['off', 'terminal']\n":     ":2: notify off: ",
		"[proxy]\nlog-level = 'loud'\n":               `:2: log-level "loud": unknown level`,
		"[proxy]\ngateway = 'ftp://x'\n":              ":2: gateway: ",
		"[proxy]\ntoken-file = '/none'\n":             ":2: token-file: ",
		"[proxy.x]\n":                                 `:1: unknown table "x"`,
		"[look]\ncolour = 'x'\n":                      `:2: unknown setting "colour"`,
		"[look]\nbackground = 17\n":                   ":2: background: the contrast",
		"[redact]\nadd = ['(']\n":                     ":2: add: ",
		"[redact]\nad = []\n":                         `:2: unknown setting "ad"`,
		"[gateway]\ngatway = 'x'\n":                   `:2: unknown setting "gatway"`,
		"[gateway]\ntoken-file = '/none'\n":           ":2: token-file: ",
		"[gateway.serv]\nlisten = 'x'\n":              `:1: unknown table "serv"`,
		"[gateway.doctor]\nlisen = 'x'\n":             `:2: unknown setting "lisen"`,
		"[gateway.policy.check]\nlevl = 'x'\n":        `:2: unknown setting "levl"`,
		"[gateway.token.create]\nsave = 'x'\n":        ":2: save: must be true or false",
		"[[allow]]\nagent = 'claude'\nprogrm = 'x'\n": `:3: unknown setting "progrm"`,
		"[allow]\nagent = 'claude'\n":                 ":1: [allow]: must be in double brackets",
		"[[never]]\nprogrm = 'x'\n":                   `:2: unknown setting "progrm"`,
		"[[nevr]]\nprogram = 'x'\n":                   `:1: unknown table "nevr"`,
		"[[on]]\nevnt = 'asked'\n":                    `:2: unknown setting "evnt"`,
		"[proxy\n":                                    ":",
	} {
		path := clitest.Configure(t, text)
		found := runDoctor(t, cli.StatusRefused)[said]
		require.Len(t, found, 1, text)
		require.Equal(t, stateWrong, found[0].State, text)
		require.Contains(t, found[0].Say, path+want, text)
		got := clitest.Command(t, "config")
		require.Equal(t, cli.StatusUsage, got.Status, text)
		require.Contains(t, got.Err, path+want, text)
	}
	clitest.Configure(t, "[proxi]\n[proxy]\nagnt = true\n[look]\ncolour = 'x'\n[[never]]\nprogrm = 'x'\n[gateway.doctor]\nlisen = 'x'\n")
	require.Len(t, runDoctor(t, cli.StatusRefused)[said], 5, "one of each table")
}

// Rules that cannot do what they say are pointed out: [[allow]] for an agent without a token or a
// script, and both for a program that is missing.
func TestDoctorChecksRules(t *testing.T) {
	clitest.Isolate(t)
	bin := t.TempDir()
	writeProgram(t, filepath.Join(bin, "tool"), "#!/bin/sh\n")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	require.Zero(t, clitest.Command(t, "token", "create", "claude", "--local").Status)
	for text, want := range map[string]string{
		"[[allow]]\nagent = 'claude'\nprogram = 'sh'\n":        "",
		"[[allow]]\nagent = 'claude'\nprogram = '*'\n":         "",
		"[[never]]\nprogram = 'tool'\n":                        "",
		"[[never]]\nhost = 'desk'\nprogram = 'no-such'\n":      "",
		"[[allow]]\nagent = 'codex'\nprogram = 'sh'\n":         "[[allow]] at config.toml:1 allows nothing: there is no local token codex",
		"[[never]]\nprogram = 'no-such'\n":                     "[[never]] at config.toml:1 is for no-such, and this machine has no such program",
		"[[allow]]\nagent = 'claude'\nprogram = 'tool'\n":      "[[allow]] at config.toml:1 is for tool, a script that starts",
		"[[on]]\nevent = 'exit'\nrun = ['no-such-notifier']\n": "[[on]] at line 1 runs nothing",
	} {
		clitest.Configure(t, text)
		found := runDoctor(t, cli.StatusOK)["configuration"]
		require.Equal(t, stateOK, found[0].State, text)
		if want == "" {
			require.Len(t, found, 1, text)
			continue
		}
		require.Len(t, found, 2, text)
		require.Equal(t, stateWarn, found[1].State, text)
		require.Contains(t, found[1].Say, want)
	}
}

func TestDoctorStartsNothing(t *testing.T) {
	dir := clitest.Isolate(t)
	require.Contains(t, runDoctor(t, cli.StatusOK)["local gateway"][0].Say, "not running; the next proxy --agent will serve it, in ")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	state, err := userdirs.State()
	require.NoError(t, err)
	require.NoDirExists(t, state)
	t.Setenv("TERMINALPROXY_DIR", filepath.Join(dir, "nowhere"))
	require.Contains(t, runDoctor(t, cli.StatusOK)["local gateway"][0].Say, "not running; the next proxy --agent will serve it, in ")
	require.NoDirExists(t, filepath.Join(dir, "nowhere"))
}

func TestDoctorSeesRunningProcesses(t *testing.T) {
	clitest.ShareTerminal(t)
	by := runDoctor(t, cli.StatusOK)
	require.Contains(t, by["local gateway"][0].Say, "serves the local socket, wire terminal-proxy.v1")
	if runtime.GOOS == "linux" {
		require.Contains(t, by["local gateway"][0].Say, "(process "+strconv.Itoa(os.Getpid())+")")
		require.Equal(t, stateOK, by["reclaim"][0].State, by["reclaim"][0].Say)
	}
	require.Contains(t, by["socket"][0].Say, "mode 0600")
	require.Equal(t, "sh -i, running, keyboard: user", by["session sh-1"][0].Say)
}

// Files that others can open are wrong. doctor says what to do, and exits with status 1.
func TestDoctorSeesOpenFiles(t *testing.T) {
	dir := clitest.Isolate(t)
	owner := clitest.OwnerFile(t)
	by := runDoctor(t, cli.StatusOK)
	require.Equal(t, "0 proxy, 0 agent, 0 viewer, 1 owner", by["tokens"][1].Say)
	require.Equal(t, stateWarn, by["owner token"][1].State, "R50")

	tokens, err := userdirs.TokensPath()
	require.NoError(t, err)
	for path, name := range map[string]string{tokens: "tokens", owner: "owner token", filepath.Dir(tokens): "state directory", dir: "directory"} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, info.Mode().Perm()|0o044))
		found := runDoctor(t, cli.StatusRefused)[name][0]
		require.Equal(t, stateWrong, found.State, name)
		require.Contains(t, found.Say+found.Do, "chmod "+strconv.FormatInt(int64(info.Mode().Perm()), 8)+" "+path)
		require.NoError(t, os.Chmod(path, info.Mode().Perm()))
	}
	require.NoError(t, os.Chmod(tokens, 0o644)) //nolint:gosec // the fault under test
	got := clitest.Command(t, "doctor")
	require.Equal(t, cli.StatusRefused, got.Status)
	require.Regexp(t, `(?m)^wrong +tokens +.* has mode 0644: other users can access it\n +do: chmod 600 `, got.Out)
	require.Regexp(t, `^gateway: doctor: 1 of \d+ checks failed\n$`, got.Err)
}

func TestDoctorSeesAStaleSocketAndAStrangeOne(t *testing.T) {
	dir := clitest.Isolate(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gateway.sock"), nil, 0o600))
	by := runDoctor(t, cli.StatusOK)
	require.Contains(t, by["local gateway"][0].Say, "left its socket, which the next one replaces")
	require.NoError(t, os.Chmod(filepath.Join(dir, "gateway.sock"), 0o666)) //nolint:gosec // the fault under test
	require.Equal(t, stateWrong, runDoctor(t, cli.StatusRefused)["socket"][0].State)
	require.NoError(t, os.Remove(filepath.Join(dir, "gateway.sock")))

	t.Setenv("PROXY_GATEWAY", "ws://127.0.0.1:1")
	require.Contains(t, runDoctor(t, cli.StatusRefused)["gateway of --gateway"][0].Say, "nothing listens there")
	t.Setenv("PROXY_GATEWAY", "http://x")
	require.Contains(t, runDoctor(t, cli.StatusRefused)["address of --gateway"][0].Say, "is not understood")
}

// The kernel's answer, in all its values.
func TestDoctorReadsTheKernel(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this reads /proc")
	}
	for _, c := range []struct {
		name, file, content, state, say string
	}{
		{"ptrace_scope", "kernel/yama/ptrace_scope", "", stateWarn, "no Yama"},
		{"ptrace_scope", "kernel/yama/ptrace_scope", "0\n", stateWarn, "any of your processes may trace"},
		{"ptrace_scope", "kernel/yama/ptrace_scope", "1\n", stateOK, "1: "},
		{"TIOCSTI", "dev/tty/legacy_tiocsti", "", stateWarn, "always on in this kernel"},
		{"TIOCSTI", "dev/tty/legacy_tiocsti", "1\n", stateWarn, "on: "},
		{"TIOCSTI", "dev/tty/legacy_tiocsti", "0\n", stateOK, "off: "},
		{"kernel", "kernel/osrelease", "6.1.0\n", stateOK, "6.1.0"},
		{"/proc", "kernel/osrelease", "", stateWarn, "settings are unknown"},
	} {
		root := t.TempDir()
		write := func(name, content string) {
			path := filepath.Join(root, "proc/sys", name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		}
		if c.name != "/proc" {
			write("kernel/osrelease", "6.1.0\n")
		}
		if c.content != "" {
			write(c.file, c.content)
		}
		d := &doctor{env: &cli.Env{Out: new(bytes.Buffer)}, root: root}
		d.checkKernel()
		found := false
		for _, f := range d.findings {
			if f.Name == c.name {
				found = true
				require.Equal(t, c.state, f.State, c.content)
				require.Contains(t, f.Say, c.say)
				require.Equal(t, c.state == stateOK, f.Do == "", "what to do about it")
			}
		}
		require.True(t, found, c.name)
		isClaim := func(f finding) bool { return f.Name == "ptrace_scope" || f.Name == "TIOCSTI" }
		require.Equal(t, c.name != "/proc", slices.ContainsFunc(d.findings, isClaim), "without /proc nothing is said of settings")
	}
}

func TestDoctorSaysWhichProxy(t *testing.T) {
	clitest.Isolate(t)
	t.Setenv("PATH", t.TempDir())
	require.Contains(t, runDoctor(t, cli.StatusOK)["proxy"][0].Say, "proxy is not in $PATH")
	for script, want := range map[string]string{
		"#!/bin/sh\necho proxy v1.2.3 0123456789ab\n":        "proxy has version v1.2.3 0123456789ab, and this gateway is from another build",
		"#!/bin/sh\necho 'proxy " + version.String() + "'\n": "version " + version.String() + ", ",
		"#!/bin/sh\necho squid\n":                            "is another program",
		"#!/bin/sh\nexit 1\n":                                "is another program",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "proxy"), []byte(script), 0o700)) //nolint:gosec // the file is executed
		t.Setenv("PATH", dir)
		require.Contains(t, runDoctor(t, cli.StatusOK)["proxy"][0].Say, want)
	}
}

func TestDoctorFindsTheParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this reads /proc")
	}
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "proc/7"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "proc/7/stat"), []byte("7 (a) b (c) S 42 7 7"), 0o600))
	require.Equal(t, 42, findParent(root, 7))
	require.Equal(t, 42, findProxy(root, 7))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "proc/42"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "proc/42/stat"), []byte("42 (proxy-leader) S 41 42 42"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "proc/42/comm"), []byte("proxy-leader\n"), 0o600))
	require.Equal(t, 41, findProxy(root, 7), "a program with a leader")
	require.Zero(t, findParent(root, 8))
	require.NoError(t, os.WriteFile(filepath.Join(root, "proc/7/stat"), []byte("nonsense"), 0o600))
	require.Zero(t, findParent(root, 7))
	require.Equal(t, os.Getppid(), findParent("", os.Getpid()))
}

func TestDoctorSaysWhetherTheClusterIsReached(t *testing.T) {
	for said, state := range map[string]string{
		`{}`: "", `{"cluster":{"connected":true,"gateways":2}}`: stateOK,
		`{"cluster":{"connected":true,"gateways":2,"trouble":"tls://a: nobody listens","do":"start it"}}`: stateWarn,
		`{"cluster":{"connected":true,"gateways":0}}`:                                                     stateWarn, `{"cluster":{"connected":false,"gateways":0}}`: stateWrong,
	} {
		var of healthReport
		require.NoError(t, json.Unmarshal([]byte(said), &of))
		d := &doctor{}
		d.checkCluster("", of)
		if state == "" {
			require.Empty(t, d.findings)
			continue
		}
		require.Equal(t, state, d.findings[0].State, said)
	}
}

// doctor says which installed agents can use the user's rights, and what holds the others back.
func TestDoctorSaysWhatConfinesAgents(t *testing.T) {
	clitest.Isolate(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("CODEX_HOME", t.TempDir())
	t.Setenv("COPILOT_HOME", t.TempDir())
	t.Setenv("GEMINI_CLI_HOME", t.TempDir())
	require.Empty(t, runDoctor(t, cli.StatusOK)["agents"], "no agent is installed")
	for _, name := range []string{"codex", "copilot", "gemini"} {
		writeProgram(t, filepath.Join(bin, name), "#!/bin/sh\n")
	}
	require.Contains(t, runDoctor(t, cli.StatusOK)["agents"][0].Say, "commands of codex, copilot, gemini can read your tokens")
	dirs, err := confine.Directories()
	require.NoError(t, err)
	for _, name := range []string{"codex", "copilot", "gemini"} {
		a, _ := confine.FindAgent(name)
		require.NoError(t, os.MkdirAll(filepath.Dir(a.File()), 0o700))
		require.NoError(t, os.WriteFile(a.File(), []byte(a.Settings(dirs)), 0o600))
	}
	by := runDoctor(t, cli.StatusOK)
	require.Empty(t, by["agents"])
	require.Contains(t, by["agent codex"][0].Say, "its sandbox keeps its commands from your tokens and sockets")
	require.Contains(t, by["agent gemini"][0].Say, "this prevents mistakes, not attacks")
	if runtime.GOOS == "linux" {
		require.Equal(t, stateWarn, by["agent copilot"][0].State)
		require.Contains(t, by["agent copilot"][0].Say, "does not work without bwrap and slirp4netns")
	}
}
