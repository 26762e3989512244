package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A growing text is covered as if it were examined anew, in any order of its lines and wherever the
// program prints.
func TestTheCacheChangesNothing(t *testing.T) {
	some := []string{
		"$ make", "gcc -o x x.c", "password: hunter2hunter2", "export API_TOKEN=abcd1234efgh5678ijkl", "-----BEGIN OPENSSH PRIVATE KEY-----",
		"-----END OPENSSH PRIVATE KEY-----", strings.Repeat("Ab3", 23) + "x", "MIIEpAIBAAKCAQEA7bq8", "", "plain words", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "gh",
		"ghp_0123", "-----BEGIN CERTIFICATE-----", "token", "machine example.org login ada password secretsecret",
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's
	var seen Seen
	var lines []string
	for i := range 5000 {
		line := some[r.IntN(len(some))]
		if r.IntN(3) == 0 {
			line = fmt.Sprint("line ", i, " ", line)
		}
		if lines = append(lines, line); len(lines) > 40 {
			lines = lines[1:]
		}
		text := strings.Join(lines, "\n")
		at := r.IntN(len(text)+2) - 1
		want, n := (*Own)(nil).Text(text, at)
		got, m := (*Own)(nil).TextSeen(&seen, text, at)
		require.Equal(t, want, got)
		require.Equal(t, n, m)
		require.LessOrEqual(t, len(seen.lines)+len(seen.before), 2*maxSeenLines)
	}
	require.NotEmpty(t, seen.lines)
	require.False(t, seen.isClean(some[2]))
	require.True(t, seen.isClean("plain words"))
}
