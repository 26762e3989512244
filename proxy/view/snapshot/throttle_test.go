package snapshot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
		_, err := fmt.Sscanf(field, "%d%s", &e.ms, &e.what)
		require.NoError(t, err)
		todo = append(todo, e)
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

// every is a change at each step of a stretch of time.
func every(step, from, to int) string {
	var out strings.Builder
	for ms := from; ms <= to; ms += step {
		fmt.Fprintf(&out, "%dc ", ms)
	}
	return out.String()
}

func TestThrottle(t *testing.T) {
	for _, c := range []struct{ name, events, want string }{
		{"idle", "", ""},
		{"one change: at once, and settled", "0c", "0 30s"},
		{"a key with its redraw", "0c 5c 20c", "0 50s"},
		{"after quiet, at once again", "0c 1000c", "0 30s 1000 1030s"},
		{"just after quiet", "0c 100c", "0 30s 100 130s"},
		{"a change soon after a settled one waits for the interval", "0c 99c", "0 30s 530s"},
		{"it does not go out half drawn if it settles in time", "0c 99c 180c 270c 360c 450c 520c", "0 30s 550s"},
		{"continuous output: one an interval, then the end", every(10, 0, 1600), "0 510 1010 1510 1630s"},
		{"output that settles each time is output all the same", every(90, 0, 1500), "0 30s 530s 1030s 1530s"},
		{"a program that answers now and then is followed", every(400, 0, 800), "0 30s 400 430s 800 830s"},
		{"control in the middle of output: at once", every(10, 0, 200) + "205k", "0 205 235s"},
		{"control just after a snapshot, when the screen could settle", "0c 40c 45k 46k", "0 30s 60 76s"},
		{"control while output is held waits for its end", "0h 10k 40u", "40s"},
		{"held output is not looked at", "0h 10c 40u", "40s"},
		{"a hold ends without a change", "0c 40h 400u", "0 30s"},
		{"a change while held is due when released", "0c 100h 700c 750u", "0 30s 750s"},
		{"a hold that never ends counts for a second", "0h 10c", "1000s"},
		{"and then no more", "0h 10c 1700c", "1000s 1700 1730s"},
		{"patient: when it has settled", "0p 1c 2000c", "31s 2030s"},
		{"patient: a key with its redraw", "0p 1c 5c 20c", "50s"},
		{"patient: continuous output, once an interval", "0p " + every(10, 1, 1101), "501 1001 1131s"},
		{"patient: control is not", "0p 1k", "1 31s"},
		{"patient: nor control soon after", "0p 1k 10k", "1 10 40s"},
		{"patient no longer: what waits is due at once", "0p 1c 11n", "11 31s"},
		{"patient no longer: the next change is due at once", "0p 1c 500n 1000c", "31s 1000 1030s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, pacing(t, NewThrottle(500*time.Millisecond, 30*time.Millisecond), c.events))
		})
	}
}

func TestThrottleSendsContinuousOutputAtMostTwiceAnInterval(t *testing.T) {
	for step := 1; step < 100; step += 7 {
		p := NewThrottle(500*time.Millisecond, 30*time.Millisecond)
		var sent []int
		for _, word := range strings.Fields(pacing(t, p, every(step, 0, 5000))) {
			var ms int
			_, err := fmt.Sscanf(word, "%d", &ms)
			require.NoError(t, err)
			sent = append(sent, ms)
		}
		for i := 2; i < len(sent); i++ {
			require.GreaterOrEqual(t, sent[i]-sent[i-2], 500, "changes every %d ms: %v", step, sent)
		}
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
