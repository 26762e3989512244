package doctor

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/gateway/userdirs"
)

func TestPolicyCheck(t *testing.T) {
	clitest.Isolate(t)
	path := clitest.Configure(t, "[[allow]]\nagent = 'claude'\nprogram = 'sh'\nlevel = 'drive'\n[[never]]\nprogram = 'cat'\n")
	says := func(want string, args ...string) {
		t.Helper()
		got := clitest.Command(t, append([]string{"policy", "check"}, args...)...)
		require.Equal(t, cli.StatusOK, got.Status, got.Err)
		require.Equal(t, want, got.Out)
	}
	says("asks: you decide\n  config.toml:1: no local token was shown\n"+
		"note: there is no local token claude: make one with gateway token create claude --local\n", "claude", "sh")
	got := clitest.Command(t, "token", "create", "claude", "--local")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	file, err := userdirs.LocalTokenPath("claude")
	require.NoError(t, err)
	require.Equal(t, "saved in "+file+"\n", got.Out)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Contains(t, clitest.Command(t, "token", "ls").Out, "agent (local)")

	says("allows: claude gets drive for 10m, 3 s after it was announced; Ctrl+\\ refuses (config.toml:1)\n", "claude", "sh")
	require.Equal(t, cli.StatusOK, clitest.Command(t, "token", "create", "old", "--local", "--expires", "1ns").Status)
	says("asks: you decide\n  config.toml:1: no local token was shown\n"+
		"note: the local token old has expired: revoke it, remove its file and make another one\n", "old", "sh")
	says("never: claude is refused at once (config.toml:5)\n", "claude", "cat")
	says("never: codex is refused at once (config.toml:5)\n"+
		"note: there is no local token codex: make one with gateway token create codex --local\n", "codex", "cat")
	clitest.RunFailing(t, cli.StatusUsage, "PROGRAM: /nowhere: no such file or directory\n", "policy", "check", "claude", "/nowhere")
	require.Equal(t, clitest.Result{Out: "revoked\n", Err: "hint: the file that holds it is useless now: rm " + file + "\n"}, clitest.Command(t, "token", "revoke", "claude"))
	clitest.RunFailing(t, cli.StatusRefused, "token revoke: unknown token \"claude\"\nhint: gateway token ls lists them", "token", "revoke", "claude")
	require.NoError(t, os.Chmod(path, 0o666))
	clitest.RunFailing(t, cli.StatusUsage, path+": "+path+" has mode 0666, so other users can change it", "policy", "check", "claude", "sh")
}

// The check promises no grant by an [[allow]] that proxy rejects.
func TestPolicyCheckOfAFileThatProxyRefuses(t *testing.T) {
	clitest.Isolate(t)
	const allow = "[[allow]]\nagent = 'claude'\nprogram = 'sh'\n"
	for more, say := range map[string]string{
		"[[on]]\nevent = 'aksed'\nrun = ['true']\n": `config.toml:5: [[on]] event: unknown event "aksed"`,
		"[proxy]\nyield = 'soon'\n":                 "config.toml:5: ",
		"[proxy.x]\n":                               `config.toml:4: unknown table "x"`,
	} {
		clitest.Configure(t, allow+more)
		clitest.RunFailing(t, cli.StatusUsage, say, "policy", "check", "claude", "sh")
	}
}

func TestALocalTokenIsAnAgents(t *testing.T) {
	clitest.Isolate(t)
	clitest.RunFailing(t, cli.StatusUsage, "--local is for --role agent", "token", "create", "x", "--local", "--role", "owner")
	clitest.RunFailing(t, cli.StatusUsage, "leave out --tokens", "token", "create", "x", "--local", "--tokens", t.TempDir()+"/t")
	clitest.RunFailing(t, cli.StatusUsage, "--agent-token: ", "request", "x", "--reason", "r", "--agent-token", "/nowhere")
}
