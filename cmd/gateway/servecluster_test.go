package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGatewaysOfOneClusterHaveOneName(t *testing.T) {
	one, other := clusterFlags{servers: []string{"a.example.org", "tls://b.example.org"}}, clusterFlags{servers: []string{"tls://b.example.org", "nats://a.example.org"}}
	require.NoError(t, one.check())
	require.NoError(t, other.check())
	require.Equal(t, one.name(), other.name())
	require.NotEqual(t, one.name(), (&clusterFlags{servers: []string{"nats://a.example.org"}}).name())
	require.Empty(t, (&clusterFlags{}).name())
}

func TestASecretThatEverybodyReadsIsNoCredential(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.nk")
	require.NoError(t, os.WriteFile(path, []byte("SU"), 0o600))
	flags := clusterFlags{servers: []string{"nats://a"}, creds: path, ca: path}
	require.NoError(t, flags.check())
	require.NoError(t, os.Chmod(path, 0o640), "a service's group may read it")
	require.NoError(t, flags.check())
	require.NoError(t, os.Chmod(path, 0o644))
	require.ErrorContains(t, flags.check(), "--cluster-creds: "+path+" has mode 0644")
	flags.creds = ""
	require.NoError(t, flags.check(), "certificates are no secret")
}
