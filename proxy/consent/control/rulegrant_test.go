package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

var psql = control.Foreground{Group: 7, Name: "psql", File: "1:1"}

// ruled asks with a rule that gives level for ten minutes in front of psql.
func ruled(level protocol.Level) control.Request {
	return control.Request{
		ID: "1", Agent: control.Agent{ID: "a", Name: "claude", Token: "claude"}, Level: protocol.LevelType, Reason: "look",
		RuleGrant: control.RuleGrant{Rule: "c:1", Level: level, For: 5 * time.Minute, OneProgram: true, Foreground: psql},
	}
}

// watching is a machine in front of psql, which an agent has asked by a rule.
func watching(t *testing.T, r control.Request) *control.Machine {
	t.Helper()
	m := control.New(control.Config{Keyboard: true})
	m.SetForeground(psql)
	require.NoError(t, m.Request(t0, r))
	return m
}

func TestARuleIsAnnouncedAndThenGives(t *testing.T) {
	m := watching(t, ruled(protocol.LevelDrive))
	require.True(t, m.IsAnnounced())
	m.Tick(after(time.Minute))
	require.False(t, m.IsDriven(), "nobody has seen it")
	seen(m, after(time.Minute))
	next, _ := m.NextTick(after(time.Minute))
	require.Equal(t, after(time.Minute+control.AnnounceFor), next)
	m.Tick(next.Add(-time.Millisecond))
	require.False(t, m.IsDriven())
	require.Equal(t, 5*time.Minute, m.State(next).For)
	m.Tick(next)
	s := m.State(next)
	require.Equal(t, control.Granted, s.Phase)
	require.Equal(t, next.Add(5*time.Minute), s.Until)
	require.Equal(t, protocol.LevelType, s.Level, "what was asked for")
	require.Equal(t, "psql", s.Program)
	require.True(t, s.Guarded)
	events := m.TakeEvents()
	require.Len(t, events, 1)
	require.Equal(t, "rule c:1", events[0].Decider())
	// The shell behind it gets nothing, and neither does a program that runs in its place.
	for _, f := range []control.Foreground{{Group: 8, Name: "psql", File: "1:1"}, {Group: 7, Name: "psql", File: "1:2"}, {Group: 7}, {}} {
		m.SetForeground(f)
		require.True(t, m.IsPausedByProgram(), "%v", f)
	}
	m.SetForeground(psql)
	require.False(t, m.IsPausedByProgram())
	m.Tick(next.Add(5 * time.Minute))
	require.False(t, m.IsDriven())
}

// While it was stopped, it read no key that refuses.
func TestAStoppedProxyAnnouncesAnew(t *testing.T) {
	m := watching(t, ruled(protocol.LevelDrive))
	seen(m, t0)
	question := m.Shown().Turn
	m.Tick(after(time.Minute))
	require.True(t, m.IsAnnounced())
	require.NotEqual(t, question, m.Shown().Turn, "it is drawn anew")
	m.Tick(after(2 * time.Minute))
	require.False(t, m.IsDriven(), "nobody has seen it")
	seen(m, after(2*time.Minute))
	m.Tick(after(2*time.Minute + control.AnnounceFor))
	require.True(t, m.IsDriven())
}

// The rule does not allow the request, or the announcement cannot be seen: the user is asked.
func TestARuleDoesNotGive(t *testing.T) {
	above := ruled(protocol.LevelType)
	above.Level = protocol.LevelDrive
	another := ruled(protocol.LevelDrive)
	another.RuleGrant.Foreground.File = "1:3"
	endless := ruled(protocol.LevelDrive)
	endless.RuleGrant.For = 0
	for name, r := range map[string]control.Request{"a higher level": above, "another program": another, "without an end": endless} {
		m := watching(t, r)
		require.Equal(t, control.Asked, m.Phase(), name)
		require.False(t, m.IsAnnounced(), name)
	}
	m := control.New(control.Config{})
	m.SetForeground(psql)
	require.ErrorIs(t, m.Request(t0, ruled(protocol.LevelDrive)), control.ErrNobody)

	for name, change := range map[string]func(m *control.Machine){
		"the program changed": func(m *control.Machine) { m.SetForeground(control.Foreground{Group: 8, File: "1:1"}) },
		"never":               func(m *control.Machine) { m.SetForbidden("c:9", true) },
	} {
		m := watching(t, ruled(protocol.LevelDrive))
		question := m.Shown().Turn
		seen(m, t0)
		change(m)
		m.Tick(after(control.AnnounceFor))
		require.Equal(t, control.Asked, m.Phase(), name)
		require.False(t, m.IsAnnounced(), name)
		require.NotEqual(t, question, m.Shown().Turn, "%s: it is drawn anew", name)
		m.Tick(after(time.Minute))
		require.False(t, m.IsDriven(), name)
	}
}

// However the user refused, no rule grants anything until the user grants control again.
func TestRulesRestAfterANo(t *testing.T) {
	for name, no := range map[string]func(m *control.Machine, now time.Time){
		"at the announcement": func(m *control.Machine, now time.Time) { m.ReclaimKey(now) },
		"taken back": func(m *control.Machine, now time.Time) {
			m.Tick(now.Add(control.AnnounceFor))
			m.ReclaimKey(now.Add(10 * time.Second))
		},
		"from elsewhere":    func(m *control.Machine, now time.Time) { m.Reclaim(now, "ada") },
		"refused elsewhere": func(m *control.Machine, now time.Time) { _ = m.RefuseRequest(now, "claude", "ada") },
		"just after the agent gave it back": func(m *control.Machine, _ time.Time) {
			m.Tick(after(control.AnnounceFor))
			m.Release(after(4*time.Second), "a", protocol.ReasonReleased)
			m.ReclaimKey(after(4*time.Second + 200*time.Millisecond))
		},
		"at the next announcement, just after": func(m *control.Machine, _ time.Time) {
			m.Tick(after(control.AnnounceFor))
			m.Release(after(4*time.Second), "a", protocol.ReasonReleased)
			require.NoError(t, m.Request(after(4100*time.Millisecond), ruled(protocol.LevelDrive)))
			require.True(t, m.IsAnnounced())
			m.ReclaimKey(after(4200 * time.Millisecond))
		},
		"while nobody had it": func(m *control.Machine, now time.Time) {
			m.Release(now, "a", protocol.ReasonReleased)
			m.Reclaim(now, "")
		},
	} {
		m := watching(t, ruled(protocol.LevelDrive))
		seen(m, t0)
		no(m, after(time.Second))
		require.Equal(t, control.Observing, m.Phase(), name)
		other := ruled(protocol.LevelDrive)
		other.Agent = control.Agent{ID: "b", Name: "codex", Token: "codex"}
		now := after(time.Minute)
		require.NoError(t, m.Request(now, other), name)
		require.False(t, m.IsAnnounced(), name)
		seen(m, now)
		require.True(t, m.NoteGrantKey(now.Add(2*time.Second)), name)
		require.True(t, m.IsDriven(), name)
		require.False(t, m.State(now).Guarded, "%s: the user gave it, for every program", name)
		m.Release(now, "b", protocol.ReasonReleased)
		require.NoError(t, m.Request(now.Add(time.Minute), other), name)
		require.True(t, m.IsAnnounced(), name)
	}
	// Rules do not pause when the agent itself released control.
	m := watching(t, ruled(protocol.LevelDrive))
	seen(m, t0)
	m.Tick(after(control.AnnounceFor))
	m.Release(after(4*time.Second), "a", protocol.ReasonReleased)
	require.NoError(t, m.Request(after(time.Minute), ruled(protocol.LevelDrive)))
	require.True(t, m.IsAnnounced())
}

// It waits under any id and name.
func TestARefusedTokenWaits(t *testing.T) {
	m := watching(t, ruled(protocol.LevelDrive))
	m.ReclaimKey(t0)
	again := ruled(protocol.LevelDrive)
	again.Agent = control.Agent{ID: "z", Name: "other", Identity: "name other", Token: "claude"}
	require.ErrorContains(t, m.Request(after(time.Second), again), "the user refused you")
}

// The grant pauses in front of such a program, whoever gave it, and resumes after it.
func TestNeverPausesAnExistingGrant(t *testing.T) {
	m := control.New(control.Config{Keyboard: true, Pregrant: protocol.LevelDrive})
	require.NoError(t, m.Request(t0, control.Request{ID: "1", Agent: control.Agent{ID: "a"}, Level: protocol.LevelDrive}))
	m.SetForeground(psql)
	m.SetForbidden("c:9", true)
	s := m.State(t0)
	require.True(t, m.IsPausedByProgram())
	require.Equal(t, []string{"c:9", "psql", ""}, []string{s.NeverRule, s.OtherProgram, s.Program})
	require.True(t, s.Guarded)
	m.SetForbidden("", true)
	require.False(t, m.IsPausedByProgram())
	require.Empty(t, m.State(t0).NeverRule)
	m.SetForbidden("c:9", true)
	m.End(t0, protocol.ReasonExpired)
	require.False(t, m.IsPausedByProgram())
}

// The key grants it at once, and only that.
func TestTheKeyGivesWhatIsAnnounced(t *testing.T) {
	m := watching(t, ruled(protocol.LevelDrive))
	seen(m, t0)
	require.True(t, m.NoteGrantKey(after(time.Second)))
	require.True(t, m.IsDriven())
	require.Equal(t, after(time.Second+5*time.Minute), m.State(t0).Until)
	require.True(t, m.State(t0).Guarded)
}
