package proxy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/control"
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

// TestR70AWokenComputerWritesNothing: what the grant's time allowed while the computer slept is over before the next piece of an
// agent's input, and before the user's key could give more.
func TestR70AWokenComputerWritesNothing(t *testing.T) {
	slept := time.Hour // long ago
	made := func() *authority {
		a := newAuthority(control.Config{Keyboard: true})
		a.slept.Total = func() time.Duration { return slept }
		a.typed, a.allowed, a.secret = func() {}, func() {}, func() bool { return false }
		a.changed, a.event = func(control.State) {}, func(control.Event, int, int) {}
		return a
	}
	now := time.Now()
	ask := control.Request{ID: "r", Agent: control.Agent{ID: "a"}, Level: control.Drive}
	granted := func() *authority {
		a := made()
		slept += time.Hour // while nobody asked: that is no grant's time
		require.NoError(t, a.Request(now, ask))
		a.Shown(now)
		require.Equal(t, input.Take, a.Confirm(now.Add(time.Second)))
		require.NoError(t, a.Admit(now.Add(time.Minute), "a", a.Epoch()))
		return a
	}
	later := now.Add(time.Minute)
	for name, look := range map[string]func(a *authority) bool{
		"a piece of input": func(a *authority) bool { return a.Admit(later, "a", a.Epoch()) == nil },
		"the pump's turn":  func(a *authority) bool { a.Tick(later); return a.Driven() },
	} {
		a := granted()
		slept += 5 * time.Minute
		require.True(t, look(a), "%s: there is some left", name)
		slept += 5 * time.Minute
		require.False(t, look(a), name)
		require.Equal(t, control.Expired, a.LastEnd().Reason)
	}
	a := granted()
	next, ok := a.Next(later)
	require.True(t, ok)
	require.Equal(t, later.Add(wakeEvery), next, "so that the user sees it soon")

	a = made()
	require.NoError(t, a.Request(now, ask))
	a.Shown(now)
	slept += time.Hour
	a.Confirm(later)
	require.False(t, a.Driven(), "the question was over in the night")
	_, ok = a.Next(later)
	require.False(t, ok, "an idle session is not woken")
}

// TestAGrantIsInForceWhenItIsTold: an agent that types as soon as it hears of its grant types under it.
func TestAGrantIsInForceWhenItIsTold(t *testing.T) {
	a := newAuthority(control.Config{Keyboard: true})
	told := 0
	a.typed, a.allowed, a.secret = func() {}, func() {}, func() bool { return false }
	a.changed = func(control.State) {}
	a.event = func(e control.Event, _, _ int) {
		told++
		require.Equal(t, e.Granted, a.Newest().Phase == control.Granted)
		if e.Granted {
			require.Equal(t, e.Epoch, a.Newest().Epoch)
		}
	}
	now := time.Now()
	require.NoError(t, a.Request(now, control.Request{ID: "r", Agent: control.Agent{ID: "a"}, Level: control.Drive}))
	a.Settle(now, 0, 0)
	a.Shown(now)
	a.Confirm(now.Add(time.Second))
	a.Settle(now, 0, 0)
	a.ReclaimKey(now.Add(time.Second))
	a.Settle(now, 0, 0)
	require.Equal(t, 2, told)
}
