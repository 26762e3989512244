package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
)

// TestR62TheProxysOwnAnswersAreWaitedFor: before somebody else reads the keyboard the terminal has answered what the proxy
// asked, and only that: the program's questions are its own business.
func TestR62TheProxysOwnAnswersAreWaitedFor(t *testing.T) {
	key, err := keys.ParseReclaimKey(`ctrl-\`)
	require.NoError(t, err)
	d := &detector{Scanner: keys.NewScanner(key)}
	passed := ""
	pass := func(u input.Unit) { passed += string(u.Bytes) }
	calls := 0
	called := func() { calls++ }

	d.whenAnswered(called)
	require.Equal(t, 1, calls, "nothing was asked")

	var rows []int
	d.expect(nil)
	d.expect(func(row int) { rows = append(rows, row) })
	d.expect(func(row int) { rows = append(rows, row) })
	d.expect(nil)
	d.whenAnswered(called)
	d.Scan([]byte("\x1b[1;1R\x1b[7;1R"), pass)
	require.Equal(t, 1, calls, "one question is without an answer")
	d.Scan([]byte("typed\x1b[8;1R"), pass)
	require.Equal(t, 2, calls, "the last one is the program's")
	d.Scan([]byte("\x1b[9;9R"), pass)
	require.Equal(t, 2, calls)
	require.Equal(t, []int{6, 7}, rows)
	require.Equal(t, "\x1b[1;1Rtyped\x1b[9;9R", passed)
}
