package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	settingsfile "terminalproxy/cmd/internal/config/settings"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
)

func TestFlagsWinOverTheFileOfSettings(t *testing.T) {
	clitest.Isolate(t)
	tokens := filepath.Join(t.TempDir(), "store", "tokens")
	file := clitest.SettingsFile(t, "# how the office is reached\nlisten = '127.0.0.1:7118'\ntokens = \""+tokens+"\"\nhost = [\"desk\", 'lap']\nlog = true\n")
	got := clitest.Command(t, "serve", "--check", "--config", file)
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Equal(t, "the settings are valid: listen on ws://127.0.0.1:7118, tokens in "+tokens+"\n", got.Out)

	got = clitest.Command(t, "--json", "serve", "--check", "--listen", "127.0.0.1:7119", "--config", file)
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.JSONEq(t, `{"listen":"127.0.0.1:7119","tls":false,"tokens":"`+tokens+`"}`, got.Out)

	s := clitest.Serve(t, "--config", file) // with --listen 127.0.0.1:0
	require.Contains(t, s.Said, "tokens: "+tokens)
	require.NotContains(t, s.URL, ":7118")
}

// An unreachable cluster does not stop the server, but the check does not call the settings good
// either.
func TestACheckDoesNotApproveAnUnreachableCluster(t *testing.T) {
	clitest.Isolate(t)
	tokens := filepath.Join(t.TempDir(), "store", "tokens")
	got := clitest.Command(t, "serve", "--check", "--tokens", tokens, "--cluster", "nats://127.0.0.1:1")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Contains(t, got.Err, "nothing listens at 127.0.0.1:1")
	require.Equal(t, "the gateway can start, and joins the cluster once this is fixed: listen on ws://127.0.0.1:7117, tokens in "+tokens+"\n", got.Out)
}

func TestAWrongSettingNamesItsLineAndTheFix(t *testing.T) {
	clitest.Isolate(t)
	for content, want := range map[string][2]string{
		"\n\nlistn = 'x'":                 {`line 3: unknown setting "listn"`, "did you mean: listen"},
		"log = true\ntls_cert = 'x'":      {`line 2: unknown setting "tls_cert"`, "did you mean: tls-cert"},
		"zzzzzzzz = 1":                    {`line 1: unknown setting "zzzzzzzz"`, "the settings are: cluster, cluster-creds, cluster-tls-ca, host, listen, log, log-format, notify, notify-after, origin, "},
		"check = true":                    {`line 1: unknown setting "check"`, "the settings are: "},
		"config = 'x'":                    {`line 1: unknown setting "config"`, ""},
		"gateway = 'x'":                   {`line 1: unknown setting "gateway"`, ""},
		"[serve]\nlisten = 'x'":           {"line 1: the table [serve]: settings belong outside of tables", "remove the line with the brackets"},
		"log = 'yes'":                     {"line 1: log: must be true or false, without quotes", ""},
		"\nhost = 'desk'":                 {"line 2: host: must be a list of texts: host = [\"…\"]", ""},
		"host = ['a', 2]":                 {"line 1: host: must be a list of texts", ""},
		"listen = 7117":                   {"line 1: listen: must be a text in quotes", ""},
		"listen = '127.0.0.1:1'\nlog = ":  {"line 2: ", ""},
		"listen = 'a'\nlog=true\nlisten=": {"line 3: ", ""},
		"listen = 'a'\nlisten = 'b'":      {"line 2: ", ""},
	} {
		file := clitest.SettingsFile(t, content)
		got := clitest.Command(t, "serve", "--check", "--config", file)
		require.Equal(t, cli.StatusUsage, got.Status, content)
		require.Empty(t, got.Out)
		require.Contains(t, got.Err, "gateway: serve: --config "+file+": "+want[0], content)
		require.Contains(t, got.Err, "hint: "+want[1], content)
	}
}

// A writer of the file would decide who may connect.
func TestASettingsFileThatOthersCanWriteIsRefused(t *testing.T) {
	clitest.Isolate(t)
	refused := func(file string, want ...string) {
		t.Helper()
		got := clitest.Command(t, "serve", "--check", "--config", file)
		require.Equal(t, cli.StatusUsage, got.Status, got.Err)
		for _, part := range want {
			require.Contains(t, got.Err, part)
		}
	}
	file := clitest.SettingsFile(t, "log = true\n")
	dir := filepath.Dir(file)
	require.NoError(t, os.Chmod(file, 0o664))
	refused(file, "serve: --config "+file+": "+file+" has mode 0664, so other users can change it", "hint: chmod go-w "+file)
	require.NoError(t, os.Chmod(file, 0o644))
	require.NoError(t, os.Chmod(dir, 0o777))
	refused(file, dir+" has mode 0777", "hint: chmod go-w "+dir)
	link := filepath.Join(t.TempDir(), "link.toml")
	require.NoError(t, os.Symlink(file, link))
	refused(link, "serve: --config "+link+": "+dir+" has mode 0777")
	require.NoError(t, os.Chmod(dir, 0o777|os.ModeSticky))
	require.Equal(t, cli.StatusOK, clitest.Command(t, "serve", "--check", "--config", file).Status, "nobody replaces the files of others there")

	refused(dir, "not a regular file")
	refused(filepath.Join(dir, "none"), "no such file or directory")
	require.NoError(t, os.WriteFile(file, []byte("# "+strings.Repeat("x", settingsfile.MaxBytes)), 0o600))
	refused(file, "too long")
}

func TestAFileOfSettingsOfAnotherUserIsRefused_Root(t *testing.T) {
	needsRoot(t, "to make a file of another user")
	clitest.Isolate(t)
	file := clitest.SettingsFile(t, "log = true\n")
	require.NoError(t, os.Chown(file, 12345, 12345))
	got := clitest.Command(t, "serve", "--check", "--config", file)
	require.Equal(t, cli.StatusUsage, got.Status, got.Err)
	require.Contains(t, got.Err, file+" belongs to user 12345, who could change it")
	require.Contains(t, got.Err, "hint: let it belong to root")
}

// needsRoot skips a test that an ordinary user cannot set up.
func needsRoot(t *testing.T, purpose string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: " + purpose)
	}
}
