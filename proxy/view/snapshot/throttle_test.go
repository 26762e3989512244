package snapshot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/view/corpus"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

// pacing drives a Throttle as an observer does: events at their times, a look whenever Next says
// so. It lists the moments of the snapshots, with "s" for a settled screen, until the throttle is
// idle.
func pacing(t *testing.T, p *Throttle, events string) string {
	t.Helper()
	type event struct {
		ms   int
		what string
	}
	var todo []event
	for _, field := range strings.Fields(events) {
		var e event
		to, step := 0, 1
		if _, err := fmt.Sscanf(field, "%d-%d/%d%s", &e.ms, &to, &step, &e.what); err != nil {
			_, err = fmt.Sscanf(field, "%d%s", &e.ms, &e.what)
			require.NoError(t, err)
			to = e.ms
		}
		for ; e.ms <= to; e.ms += step {
			todo = append(todo, e)
		}
	}
	var sent []string
	for looks := 0; ; looks++ {
		require.Less(t, looks, 10000, "a throttle must become idle")
		next, timer := p.Next()
		var now time.Time
		switch {
		case len(todo) > 0 && (!timer || at(todo[0].ms).Before(next)):
			now = at(todo[0].ms)
			switch todo[0].what {
			case "c":
				p.NoteChange(now)
			case "k":
				p.NoteUrgentChange(now)
			case "h":
				p.SetHeld(now, true)
			case "u":
				p.SetHeld(now, false)
			case "p":
				p.SetPatient(true)
			case "n":
				p.SetPatient(false)
			}
			todo = todo[1:]
		case timer:
			now = next
		default:
			return strings.Join(sent, " ")
		}
		if p.Due(now) {
			p.NoteSent(now)
			word := fmt.Sprint(now.Sub(epoch).Milliseconds())
			if p.Settled(now) {
				word += "s"
			}
			sent = append(sent, word)
		}
	}
}

func TestThrottle(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Name, Events, Want string }](t, "throttle") {
		t.Run(c.Name, func(t *testing.T) {
			require.Equal(t, c.Want, pacing(t, NewThrottle(500*time.Millisecond, 30*time.Millisecond), c.Events))
		})
	}
}

func TestThrottleDefaults(t *testing.T) {
	p := NewThrottle(0, -1)
	_, timer := p.Next()
	require.False(t, timer)
	require.False(t, p.Due(at(0)))
	require.True(t, p.Settled(at(0)), "what never changed is quiet")
	p.NoteChange(at(0))
	require.Equal(t, at(0), p.LastChange())
	require.False(t, p.Settled(at(29)))
	require.True(t, p.Settled(at(30)))
	p.NoteSent(at(0))
	p.NoteChange(at(31))
	p.NoteChange(at(60))
	next, timer := p.Next()
	require.True(t, timer)
	require.Equal(t, at(90), next, "settled, since the one before was not")
}
