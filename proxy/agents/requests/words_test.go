package requests

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
)

// ending is a way for an input to end: the machine's steps, and the pump's receipt.
type ending struct {
	name    string
	does    func(m *control.Machine, now time.Time)
	receipt pump.Receipt
	// What the agent reads.
	status protocol.Status
	code   protocol.Code
	ended  protocol.Reason
	says   string
}

func endings() []ending {
	nothing := func(*control.Machine, time.Time) {}
	ends := func(why protocol.Reason) func(m *control.Machine, now time.Time) {
		return func(m *control.Machine, now time.Time) { m.End(now, why) }
	}
	dropped := pump.Receipt{Fate: pump.Dropped, Written: 2, Dropped: 3}
	held := pump.Receipt{Fate: pump.Dropped, Dropped: 1, Held: true}
	refused := func(err error) pump.Receipt { return pump.Receipt{Fate: pump.Refused, Err: err, Dropped: 5} }
	return []ending{
		{"every byte went", nothing, pump.Receipt{Fate: pump.Written, Written: 5}, protocol.StatusWritten, "", "", ""},
		// Control ended.
		{"the key", func(m *control.Machine, now time.Time) { m.ReclaimKey(now) }, dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonReclaimed, "the user took the keyboard back"},
		{"an owner elsewhere", func(m *control.Machine, now time.Time) { m.Reclaim(now, "ada") }, dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonReclaimed, "ada took the keyboard back from elsewhere"},
		{"given back", func(m *control.Machine, now time.Time) { m.Release(now, "a-1", protocol.ReasonReleased) }, dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonReleased, "you gave the keyboard back"},
		{"the time is over", func(m *control.Machine, now time.Time) { m.Tick(now.Add(control.GrantFor)) }, dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonExpired, "the time of your grant is up"},
		{"the connection is lost", ends(protocol.ReasonLink), dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonLink, "your grant ended when the connection was lost"},
		{"the agent is silent", func(m *control.Machine, now time.Time) {
			m.SetConnected(now, "a-1", false)
			m.Tick(now.Add(control.AbsentFor))
		}, dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonLink, "your grant ended because you were silent for 2 minutes (an open wait does not count as silence)"},
		{"the program ended", ends(protocol.ReasonExited), dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonExited, "the program ended"},
		{"the window is closed", func(m *control.Machine, now time.Time) { m.Close(now) }, dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonExited, "the user's window was closed"},
		{"the session goes on without a window", func(m *control.Machine, now time.Time) { m.NoteLeft(now) }, dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonReclaimed, "the user left this terminal"},
		{"the program is suspended", func(m *control.Machine, now time.Time) { m.EndSuspended(now) }, dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonReclaimed, "the user suspended the program"},
		{"too much of the user's waits", func(m *control.Machine, now time.Time) { m.EndByOverrun(now) }, dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonReclaimed, "could no longer be held"},
		{"the agent is muted", func(m *control.Machine, now time.Time) { _ = m.MuteAgent(now, "claude", "ada") }, dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonReclaimed, "the user muted you"},
		{"a newer request", ends(protocol.ReasonReplaced), dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonReplaced, "a newer request of yours"},
		{"the request is refused", ends(protocol.ReasonRefused), dropped, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonRefused, "the user refused to give you the keyboard"},
		// A question about it was open.
		{"nobody answered the question", nothing, pump.Receipt{Fate: pump.Refused, Err: pump.ErrLate, Written: 4, Dropped: 1, Held: true}, protocol.StatusDropped, protocol.CodeTimeout, "", "the user did not let Enter through in time"},
		{"the key answered it", func(m *control.Machine, now time.Time) { m.ReclaimKey(now) }, held, protocol.StatusRefused, protocol.CodeUserRefused, protocol.ReasonReclaimed, "did not let Enter through and took the keyboard back"},
		{"the user left before they answered", func(m *control.Machine, now time.Time) { m.NoteLeft(now) }, held, protocol.StatusRefused, protocol.CodeUserRefused, protocol.ReasonReclaimed, "did not let Enter through in time: the user left this terminal"},
		{"time ran out before", func(m *control.Machine, now time.Time) { m.Tick(now.Add(control.GrantFor)) }, held, protocol.StatusDropped, protocol.CodeNoGrant, protocol.ReasonExpired, "the time of your grant is up"},
		// The grant pauses.
		{"a password is asked for", func(m *control.Machine, now time.Time) { m.NoteSecretPrompt(now, protocol.SecretHard, false) }, dropped, protocol.StatusDropped, protocol.CodeSecretPrompt, "", "the program asks the user for a password"},
		{"the screen is hidden", func(m *control.Machine, now time.Time) { m.SetHidden(now, true) }, dropped, protocol.StatusDropped, protocol.CodeBlackout, "", "the user hides the screen"},
		{"a password was asked for", nothing, refused(control.ErrSecret), protocol.StatusRefused, protocol.CodeSecretPrompt, "", "the program asks the user for a password"},
		{"the screen was hidden", nothing, refused(control.ErrHidden), protocol.StatusRefused, protocol.CodeBlackout, "", "the user hides the screen"},
		{"a dialog stands there", nothing, refused(control.ErrDialog), protocol.StatusRefused, protocol.CodeBusy, "", "waits for a person's answer"},
		// It waited too long, or was not taken.
		{"the user types", nothing, pump.Receipt{Fate: pump.UserTyping, Dropped: 5}, protocol.StatusRefused, protocol.CodeUserTyping, "", "the user is typing"},
		{"the user's line stands there", func(m *control.Machine, now time.Time) { m.OccupyLine(now, "git pu") }, pump.Receipt{Fate: pump.UserTyping, Dropped: 5}, protocol.StatusRefused, protocol.CodeUserTyping, "", `the user has not submitted the line: "git pu"`},
		{"the program does not read", nothing, pump.Receipt{Fate: pump.NotReading, Written: 1, Dropped: 4}, protocol.StatusDropped, protocol.CodeNotReading, "", "has not read its input for two seconds"},
		{"the program does not come back", nothing, pump.Receipt{Fate: pump.Busy, Dropped: 5}, protocol.StatusRefused, protocol.CodeNotReading, "", "has not asked for more"},
		{"another program is in front", nothing, pump.Receipt{Fate: pump.OtherProgram, Dropped: 5}, protocol.StatusRefused, protocol.CodeOtherProgram, "", "another one has the terminal"},
		{"there is no program any more", nothing, pump.Receipt{Fate: pump.ProgramEnded, Dropped: 5}, protocol.StatusRefused, protocol.CodeExited, "", "the program has ended"},
		// It may not be typed.
		{"there never was a grant", ends(""), refused(control.ErrNoGrant), protocol.StatusRefused, protocol.CodeNoGrant, "", "you do not have the keyboard"},
		{"the grant is another one", nothing, refused(control.ErrStale), protocol.StatusRefused, protocol.CodeStaleEpoch, "", "the grant that this input belongs to has ended"},
		{"too much waits", nothing, refused(pump.ErrFull), protocol.StatusRefused, protocol.CodeBusy, "", "too much input waits to be typed already"},
		{"the line would be too long", nothing, refused(&pump.LongLineError{Present: 7, Size: 4100, Limit: 4095}), protocol.StatusRefused, protocol.CodeTooLarge, "", "this one would have 4100, 7 of them are there already"},
		{"the screen is another one", nothing, refused(&refusal{protocol.CodeScreenChanged, "row 3 changed"}), protocol.StatusRefused, protocol.CodeScreenChanged, "", "row 3 changed"},
		{"something unknown", nothing, refused(errors.New("x")), protocol.StatusRefused, protocol.CodeUnavailable, "", "the input could not be typed"},
	}
}

// An agent that reads one learns exactly what happened.
func TestEveryEndOfAnInputHasItsOwnWords(t *testing.T) {
	fates, reasons, causes := map[pump.Fate]bool{}, map[protocol.Reason]bool{}, map[control.Cause]bool{}
	said := map[string]string{}
	for _, c := range endings() {
		s := newStage(nil)
		now := time.Now()
		if c.receipt.Err != control.ErrNoGrant { //nolint:errorlint // exactly this one
			require.NoError(t, s.machine.GrantFromOwner(now, control.RemoteGrant{Level: protocol.LevelType}))
			require.NoError(t, s.machine.Request(now, control.Request{ID: "r", Agent: control.Agent{ID: "a-1", Name: "claude"}, Level: protocol.LevelType}))
		}
		if c.does(s.machine, now); c.ended != "" || c.receipt.Held {
			reasons[s.machine.LastEnd().Reason], causes[s.machine.LastEnd().Cause] = true, true
		}
		fates[c.receipt.Fate] = true
		in := s.deliveries.newDelivery(&protocol.Input{RequestID: "i", AgentID: "a-1"}, 0, nil)
		in.consent.keys = "Enter"
		r := &protocol.InputResult{WrittenBytes: c.receipt.Written, DroppedBytes: c.receipt.Dropped}
		in.setOutcome(c.receipt, r)
		require.Equal(t, []any{c.status, c.code, c.ended}, []any{r.Status, r.Reason, r.Ended}, c.name)
		require.Contains(t, r.Message, c.says, c.name)
		require.False(t, c.says == "" && r.Message != "", c.name)
		pauses := c.code == protocol.CodeSecretPrompt || c.code == protocol.CodeBlackout || c.ended == protocol.ReasonExpired
		require.True(t, said[r.Message] == "" || pauses, "%s reads as %s", c.name, said[r.Message])
		said[r.Message] = c.name
	}
	for f := range pump.Busy + 1 {
		require.True(t, fates[f], "fate %d", f)
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
