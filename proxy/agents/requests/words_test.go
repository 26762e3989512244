package requests

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/view/corpus"
)

// fates are the ends of inputs, by their number.
var fates = []string{"written", "refused", "dropped", "not-reading", "user-typing", "program-ended", "other-program", "busy"}

// endings are steps of the machine that end an input.
var endings = map[string]func(m *control.Machine, now time.Time){
	"":          func(*control.Machine, time.Time) {},
	"key":       func(m *control.Machine, now time.Time) { m.ReclaimKey(now) },
	"elsewhere": func(m *control.Machine, now time.Time) { m.Reclaim(now, "ada") },
	"release":   func(m *control.Machine, now time.Time) { m.Release(now, "a-1", protocol.ReasonReleased) },
	"time":      func(m *control.Machine, now time.Time) { m.Tick(now.Add(control.GrantFor)) },
	"silent": func(m *control.Machine, now time.Time) {
		m.SetConnected(now, "a-1", false)
		m.Tick(now.Add(control.AbsentFor))
	},
	"close":   func(m *control.Machine, now time.Time) { m.Close(now) },
	"leave":   func(m *control.Machine, now time.Time) { m.NoteLeft(now) },
	"suspend": func(m *control.Machine, now time.Time) { m.EndSuspended(now) },
	"overrun": func(m *control.Machine, now time.Time) { m.EndByOverrun(now) },
	"mute":    func(m *control.Machine, now time.Time) { _ = m.MuteAgent(now, "claude", "ada") },
	"secret":  func(m *control.Machine, now time.Time) { m.NoteSecretPrompt(now, protocol.SecretHard, false) },
	"hide":    func(m *control.Machine, now time.Time) { m.SetHidden(now, true) },
	"line":    func(m *control.Machine, now time.Time) { m.OccupyLine(now, "git pu", "") },
}

// inputErrors are the errors of receipts.
var inputErrors = map[string]error{
	"late": pump.ErrLate, "secret": control.ErrSecret, "hidden": control.ErrHidden, "dialog": control.ErrDialog,
	"no-grant": control.ErrNoGrant, "stale": control.ErrStale, "full": pump.ErrFull, "unknown": errors.New("x"),
	"long":    &pump.LongLineError{Present: 7, Size: 4100, Limit: 4095},
	"changed": &refusal{protocol.CodeScreenChanged, "row 3 changed"},
}

// receiptOf makes a receipt of words.
func receiptOf(words string) pump.Receipt {
	s := corpus.Step{Words: strings.Fields(words)}
	n := func(name string) int { n, _ := strconv.Atoi(s.Option(name)); return n }
	return pump.Receipt{
		Fate: pump.Fate(slices.Index(fates, s.Option("fate"))), Err: inputErrors[s.Option("err")],
		Written: n("written"), Dropped: n("dropped"), Held: slices.Contains(s.Words, "held"),
	}
}

// An agent that reads one learns exactly what happened. Every fate, reason and cause has a row.
func TestEveryEndOfAnInputHasItsOwnWords(t *testing.T) {
	ends, reasons, causes := map[pump.Fate]bool{}, map[protocol.Reason]bool{}, map[control.Cause]bool{}
	said := map[string]string{}
	for _, c := range corpus.Rows[struct{ Name, Does, Receipt, Status, Code, Ended, Says string }](t, "endings") {
		s, now, receipt := newStage(nil), time.Now(), receiptOf(c.Receipt)
		if c.Does != "end=" { // there never was a grant
			require.NoError(t, s.machine.GrantFromOwner(now, control.RemoteGrant{Level: protocol.LevelType}))
			require.NoError(t, s.machine.Request(now, control.Request{ID: "r", Agent: control.Agent{ID: "a-1", Name: "claude"}, Level: protocol.LevelType}))
		}
		if reason, ok := strings.CutPrefix(c.Does, "end="); ok {
			s.machine.End(now, protocol.Reason(reason))
		} else {
			require.Contains(t, endings, c.Does)
			endings[c.Does](s.machine, now)
		}
		if c.Ended != "" || receipt.Held {
			reasons[s.machine.LastEnd().Reason], causes[s.machine.LastEnd().Cause] = true, true
		}
		ends[receipt.Fate] = true
		in := s.deliveries.newDelivery(&protocol.Input{RequestID: "i", AgentID: "a-1"}, 0, nil)
		in.consent.keys = "Enter"
		r := &protocol.InputResult{WrittenBytes: receipt.Written, DroppedBytes: receipt.Dropped}
		in.setOutcome(receipt, r)
		require.Equal(t, []string{c.Status, c.Code, c.Ended}, []string{string(r.Status), string(r.Reason), string(r.Ended)}, c.Name)
		require.Contains(t, r.Message, c.Says, c.Name)
		require.False(t, c.Says == "" && r.Message != "", c.Name)
		pauses := r.Reason == protocol.CodeSecretPrompt || r.Reason == protocol.CodeBlackout || r.Ended == protocol.ReasonExpired
		require.True(t, said[r.Message] == "" || pauses, "%s reads as %s", c.Name, said[r.Message])
		said[r.Message] = c.Name
	}
	for f := range fates {
		require.True(t, ends[pump.Fate(f)], "fate %d", f)
	}
	for cause := range control.Causes {
		require.True(t, causes[cause], "cause %d", cause)
	}
	for _, why := range []protocol.Reason{
		protocol.ReasonReclaimed, protocol.ReasonRefused, protocol.ReasonReleased, protocol.ReasonExpired, protocol.ReasonExited, protocol.ReasonLink, protocol.ReasonReplaced,
	} {
		require.True(t, reasons[why], why)
	}
}
