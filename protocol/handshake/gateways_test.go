package handshake

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

var errNo = errors.New("no")

// round is one attempt at gateways of which some open, one refuses, and the others fail; it names the
// gateways that were tried.
type round struct {
	gateways *Gateways
	// for each gateway: o opens, n refuses, c has a wrong certificate, - does not answer
	answers string
}

func (r *round) try(t *testing.T, n int) (tried string, err error) {
	t.Helper()
	err = r.gateways.Try(
		t.Context(),
		n,
		func(err error) bool { return errors.Is(err, errNo) },
		func(ctx context.Context, gateway int) error {
			tried += string(rune('a' + gateway))
			_, bound := ctx.Deadline()
			require.Equal(t, r.gateways.HasSeveral(), bound, "one alone has the time that it is given")
			switch r.answers[gateway] {
			case 'o':
				return nil
			case 'n':
				return errNo
			case 'c':
				return &tls.CertificateVerificationError{Err: errors.New("expired")}
			}
			return errors.New("refused")
		},
	)
	return tried, err
}

func TestGatewaysAreTriedInTurn(t *testing.T) {
	var passed []string
	r := &round{
		gateways: NewGateways(
			[]string{"wss://a/v1/x", "wss://b:1/v1/x", "ws://c/v1/x"},
			func(gateway string, _ error) {
				passed = append(passed, gateway)
			},
		),
	}
	for _, step := range []struct {
		answers, tried, want string
		lost                 int // a gateway whose connection is lost after the step, or -1
	}{
		{"ooo", "a", "", -1},
		{"ooo", "a", "", 0},
		{"ooo", "b", "", 2}, // an earlier connection's end changes nothing
		{"ooo", "b", "", 1},
		{"-o-", "cab", "", -1},
		{"---", "bca", "wss://b:1: refused; ws://c: refused; wss://a: refused", -1},
		{"on-", "b", "wss://b:1: no", 1},
		{"oon", "c", "ws://c: no", -1},
		{"o-c", "ca", "", -1},
	} {
		r.answers = step.answers
		tried, err := r.try(t, 0)
		require.Equal(t, step.tried, tried, step)
		if step.want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, step.want)
		}
		if step.lost >= 0 {
			r.gateways.NoteLost(step.lost)
		}
	}
	require.Equal(
		t,
		[]string{"ws://c"},
		passed,
		"nobody is passed over for a certificate without a word",
	)

	r = &round{gateways: NewGateways([]string{"wss://a"}, nil), answers: "n"}
	tried, err := r.try(t, 9)
	require.Equal(t, "a", tried)
	require.Equal(t, errNo, err, "one alone needs no name")
	require.False(t, strings.Contains(err.Error(), "wss"))
	r.gateways.NoteLost(0)
}

// Each of several gateways has a part of the time, and more of it in later rounds.
func TestASilentGatewayDelaysNoOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewGateways([]string{"wss://a", "wss://b"}, nil)
		tried := ""
		try := func(ctx context.Context, gateway int) error {
			tried += string(rune('a' + gateway))
			if gateway == 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		require.NoError(t, d.Try(t.Context(), 0, func(error) bool { return false }, try))
		require.Equal(t, "ab", tried)
	})
}
