package main

import (
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
