package serve

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
)

func TestGatewaysOfOneClusterHaveOneName(t *testing.T) {
	one, other := clusterFlags{servers: []string{"a.example.org", "tls://b.example.org"}}, clusterFlags{servers: []string{"tls://b.example.org", "nats://a.example.org"}}
	require.NoError(t, one.checkFlags())
	require.NoError(t, other.checkFlags())
	require.Equal(t, one.clusterName(), other.clusterName())
	require.NotEqual(t, one.clusterName(), (&clusterFlags{servers: []string{"nats://a.example.org"}}).clusterName())
	require.Empty(t, (&clusterFlags{}).clusterName())
}

func TestAWorldReadableCredentialIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.nk")
	require.NoError(t, os.WriteFile(path, []byte("SU"), 0o600))
	flags := clusterFlags{servers: []string{"nats://a"}, creds: path, ca: path}
	require.NoError(t, flags.checkFlags())
	require.NoError(t, os.Chmod(path, 0o640), "a service's group may read it")
	require.NoError(t, flags.checkFlags())
	require.NoError(t, os.Chmod(path, 0o644))
	require.ErrorContains(t, flags.checkFlags(), "--cluster-creds: "+path+" has mode 0644")
	flags.creds = ""
	require.NoError(t, flags.checkFlags(), "certificates are no secret")
}

// The hint names the setting, what is wrong with its file, and the next step.
func TestAnUnusableFileHasAHint(t *testing.T) {
	clitest.Isolate(t)
	const seed, authority = "nk -gen user", "of the authority that signed"
	dir := t.TempDir()
	write := func(text string) string {
		file, err := os.CreateTemp(dir, "")
		require.NoError(t, err)
		_, err = file.WriteString(text)
		require.NoError(t, errors.Join(err, file.Close()))
		return file.Name()
	}
	for name, c := range map[string]struct{ flag, path, say, hint string }{
		"no such seed":        {"--cluster-creds", dir + "/none", "no such file", seed},
		"an empty seed":       {"--cluster-creds", write(""), "is empty", seed},
		"no seed":             {"--cluster-creds", write("hello\n"), "holds neither the seed", seed},
		"no such certificate": {"--cluster-tls-ca", dir + "/none", "no such file", authority},
		"no certificate":      {"--cluster-tls-ca", write("hello\n"), "holds no certificate", authority},
	} {
		for _, check := range []string{"--check", "--log"} {
			got := clitest.Command(t, "serve", "--listen", "127.0.0.1:0", "--cluster", "nats://127.0.0.1:1", check, c.flag, c.path)
			require.Contains(t, []int{cli.StatusUsage, cli.StatusRefused}, got.Status, name)
			require.Contains(t, got.Err, "serve: "+c.flag+": ", name)
			require.Contains(t, got.Err, c.say, name)
			require.Regexp(t, `(?m)^hint: .*`+c.hint, got.Err, name)
		}
	}
}
