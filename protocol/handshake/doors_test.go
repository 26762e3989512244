package handshake

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var errNo = errors.New("no")

// round is one attempt at doors of which some open, one refuses, and the others fail; it names the
// doors that were tried.
type round struct {
	doors *Doors
	// for each door: o opens, n refuses, c has a wrong certificate, - does not answer
	answers string
}

func (r *round) try(t *testing.T, n int) (tried string, err error) {
	t.Helper()
	err = r.doors.Try(
		t.Context(),
		n,
		func(err error) bool { return errors.Is(err, errNo) },
		func(ctx context.Context, door int) error {
			tried += string(rune('a' + door))
			_, bound := ctx.Deadline()
			require.Equal(t, r.doors.Several(), bound, "one alone has the time that it is given")
			switch r.answers[door] {
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

func TestDoorsAreTriedInTurn(t *testing.T) {
	var passed []string
	r := &round{
		doors: NewDoors(
			[]string{"wss://a/v1/x", "wss://b:1/v1/x", "ws://c/v1/x"},
			func(door string, _ error) {
				passed = append(passed, door)
			},
		),
	}
	for _, step := range []struct {
		answers, tried, want string
		lost                 int // a door whose connection is lost after the step, or -1
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
			r.doors.NoteLost(step.lost)
		}
	}
	require.Equal(
		t,
		[]string{"ws://c"},
		passed,
		"nobody is passed over for a certificate without a word",
	)

	r = &round{doors: NewDoors([]string{"wss://a"}, nil), answers: "n"}
	tried, err := r.try(t, 9)
	require.Equal(t, "a", tried)
	require.Equal(t, errNo, err, "one alone needs no name")
	require.False(t, strings.Contains(err.Error(), "wss"))
	r.doors.NoteLost(0)
}

// Each of several doors has a part of the time, and more of it in later rounds.
func TestASilentDoorDelaysNoOne(t *testing.T) {
	d := NewDoors([]string{"wss://a", "wss://b"}, nil)
	var tried string
	err := d.Try(
		t.Context(),
		0,
		func(error) bool { return false },
		func(ctx context.Context, door int) error {
			tried += string(rune('a' + door))
			if door == 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		},
	)
	require.NoError(t, err)
	require.Equal(t, "ab", tried)
}
