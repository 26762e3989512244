package reclaimkey_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/consent/reclaimkey"
	"terminalproxy/proxy/consent/secretprompt"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/screen"
)

// Before another program reads the keyboard, the terminal has answered what the proxy asked, and
// only that: the program's questions are its own business.
func TestTheProxysOwnAnswersAreWaitedForR62(t *testing.T) {
	d := reclaimkey.New(keys.Bindings{}, noTypist{}, false)
	passed := ""
	pass := func(u pump.Unit) { passed += string(u.Bytes) }
	calls := 0
	called := func() { calls++ }

	d.WhenAnswered(called)
	require.Equal(t, 1, calls, "nothing was asked")
	require.False(t, d.HasAnswered())

	var rows []int
	d.ExpectCursor(nil)
	d.ExpectCursor(func(row int) { rows = append(rows, row) })
	d.ExpectCursor(func(row int) { rows = append(rows, row) })
	d.ExpectCursor(nil)
	d.WhenAnswered(called)
	d.Scan([]byte("\x1b[1;1R\x1b[7;1R"), pass)
	require.Equal(t, 1, calls, "one question is without an answer")
	require.True(t, d.HasAnswered())
	d.Scan([]byte("typed\x1b[8;1R"), pass)
	require.Equal(t, 2, calls, "the last one is the program's")
	d.Scan([]byte("\x1b[9;9R"), pass)
	require.Equal(t, 2, calls)
	require.Equal(t, []int{6, 7}, rows)
	require.Equal(t, "\x1b[1;1Rtyped\x1b[9;9R", passed)
	d.Reset()
	require.False(t, d.HasAnswered(), "another terminal may not answer")
}

// The terminal's answers to the proxy's first questions are not typed into the program, and its
// answers to the program's own questions are.
func TestTheFirstAnswersAreNotTheProgramsR62(t *testing.T) {
	for _, c := range []struct {
		name, in, passed string
		took             screen.Clusters
	}{
		{"both", "a\x1b[?2027;3$yb\x1b[7;1Rc", "abc", screen.ClustersAlways},
		{"the cursor's only", "\x1b[7;1R\x1b[?2027;3$y", "\x1b[?2027;3$y", screen.ClustersUnknown},
		{"the program asks, too", "\x1b[?2027;0$y\x1b[7;1R\x1b[?2027;0$y", "\x1b[?2027;0$y", screen.ClustersNever},
		{"another mode", "\x1b[?2026;1$y", "\x1b[?2026;1$y", screen.ClustersUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := reclaimkey.New(keys.Bindings{}, noTypist{}, false)
			passed, took := "", screen.ClustersUnknown
			d.ExpectClusters(func(c screen.Clusters) { took = c })
			d.ExpectCursor(func(int) {})
			d.Scan([]byte(c.in), func(u pump.Unit) { passed += string(u.Bytes) })
			require.Equal(t, c.passed, passed)
			require.Equal(t, c.took, took)
		})
	}
}

// R78 and R26: the detector counts the characters of the user's keys, in either encoding, and keeps
// nothing else.
func TestTheUsersKeysAreCountedR78(t *testing.T) {
	d := reclaimkey.New(keys.Bindings{}, noTypist{}, false)
	d.Scan([]byte("aß*\x1b[A\x1b[97u\x1b[97;1:3u\r\x7f\x03\x1b[200~p**\x1b[201~\x1b[I\x1b[1;1R\x1c"), func(pump.Unit) {})
	require.Equal(t, secretprompt.Typed{Text: 7, Signs: 3}, d.TypedByUser())
}

// noTypist is a user who wants nothing of the proxy.
type noTypist struct{}

func (noTypist) NoteActivity()                         {}
func (noTypist) AddKey(keys.Unit, bool) ([]byte, bool) { return nil, false }
func (noTypist) ChooseInMenu(byte) bool                { return false }
