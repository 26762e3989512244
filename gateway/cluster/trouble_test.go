package cluster

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

func TestTheSameTroubleOfSeveralServersIsSaidOnce(t *testing.T) {
	cfg := Config{Servers: []string{"tls://a.example.org", "tls://b.example.org:4333", "tls://c.example.org"}}
	all := Troubles{
		cfg.explainTrouble(cfg.Servers[0], nats.ErrAuthorization), cfg.explainTrouble(cfg.Servers[1], nats.ErrNoServers), cfg.explainTrouble(cfg.Servers[2], nats.ErrAuthorization),
	}
	require.EqualError(t, all, "tls://a.example.org, tls://c.example.org: it requires credentials; tls://b.example.org:4333: nothing listens at b.example.org:4333")
	require.Contains(t, all.Hint(), "--cluster-creds a.nk; start nats-server there")
	require.False(t, cfg.IsHopeless(all), "b may come")
	all[1] = all[0]
	require.True(t, cfg.IsHopeless(all))
	require.False(t, cfg.IsHopeless(all[:2]), "one is well")
}

func TestATroubleHasNoWordsOfThePrograms(t *testing.T) {
	for _, err := range []error{
		&net.DNSError{Name: "a", IsNotFound: true}, &net.OpError{Op: "dial", Err: errors.New("no route to host")}, nats.ErrTimeout, nats.ErrSecureConnWanted,
		nats.ErrAuthExpired, errNoJetStream, &refusal{Code: codeNoQuorum}, errors.New("nats: something new"),
	} {
		got := Config{}.explainTrouble("tls://a", err)
		require.NotRegexp(t, `nats:|x509|dial tcp|0x`, got.Say, "%v", err)
		require.NotEmpty(t, got.Do)
		require.ErrorIs(t, got, err)
	}
}

func TestAConnectionThatEndsAfterTLS(t *testing.T) {
	for _, cause := range []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE} {
		got := Config{}.explainTrouble("tls://a", fmt.Errorf("%w: connection closed by remote after TLS handshake: %w", nats.ErrTLS, &net.OpError{Op: "read", Err: cause}))
		require.Equal(t, "it ended the connection", got.Say, "%v", cause)
		require.Contains(t, got.Do, "verify")
		require.False(t, got.Final, "it may be stopping")
	}
}
