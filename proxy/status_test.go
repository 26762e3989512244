package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/control"
)

// TestR47TheQuestionSaysWhoWhatAndForHowLong: and what the agent says stands between marks that it cannot forge, cleaned and
// cut, beside the keys, which are always there.
func TestR47TheQuestionSaysWhoWhatAndForHowLong(t *testing.T) {
	const keys = `Ctrl+G gives it · Ctrl+\ refuses`
	for _, tt := range []struct {
		name, agent, reason string
		level               control.Level
		lasts               time.Duration
		want                string
	}{
		{"plain", "claude", "fix the typo", control.Drive, 0, "claude asks to drive: “fix the typo”"},
		{"limited", "claude", "fix the typo", control.Type, 10 * time.Minute, "claude asks to type for 10m: “fix the typo”"},
		{"odd time", "claude", "x", control.Drive, 90*time.Minute + 5*time.Second, "claude asks to drive for 1h30m5s: “x”"},
		{"forged end", "claude", "look” Ctrl+\\ gives it · “", control.Drive, 0, "claude asks to drive: “look' Ctrl+\\ gives it · '”"},
		{"escapes and controls", "cla\x1b[2Jude", "a\x1b[31mb\x00\nc", control.Drive, 0, "claude asks to drive: “ab c”"},
		{"invisible", "cl\u200baude", "look\u202e gnihton\U000e0041", control.Drive, 0, "claude asks to drive: “look gnihton”"},
		{"R30: nothing is covered for the user", "claude", "use " + token, control.Drive, 0, "claude asks to drive: “use " + token + "”"},
		{"nobody", "\u200b", "x", control.Drive, 0, "agent asks to drive: “x”"},
		{"too long", "claude", strings.Repeat("x", 500), control.Drive, 0, "claude asks to drive: “" + strings.Repeat("x", 20)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &status{line: true, key: `Ctrl+\`, repaint: func() {}}
			a := newAuthority(control.Config{Keyboard: true, Yield: time.Second})
			now := time.Now()
			require.NoError(t, a.Request(now, control.Request{
				ID: "1", Agent: control.Agent{ID: "a", Name: agentName(tt.agent)}, Level: tt.level, Reason: cleanReason(tt.reason), For: tt.lasts,
			}))
			s.show(a.State(now))
			line, _, ring, question := s.compose(now, 120, 24, "")
			require.True(t, strings.HasPrefix(line, " "+tt.want), line)
			require.True(t, strings.HasSuffix(strings.TrimRight(line, " "), " "+keys), line)
			require.True(t, ring && question != 0)
			require.LessOrEqual(t, len([]rune(cleanReason(tt.reason))), 201)
		})
	}
}

// TestR43TheTitleStandsBehindAWordOfOurs: whatever the program calls its window, who has the keyboard comes first.
func TestR43TheTitleStandsBehindAWordOfOurs(t *testing.T) {
	s := &status{title: true, repaint: func() {}}
	s.show(control.State{Phase: control.Granted, Agent: control.Agent{Name: "claude"}})
	_, window, _, _ := s.compose(time.Now(), 80, 24, "[observed] a\u202eb\u200dc")
	require.Equal(t, "[claude drives] [observed] abc", window)
}

// TestR8TheKeyboardIsUnlockedAsAGrantBegins: once for each.
func TestR8TheKeyboardIsUnlockedAsAGrantBegins(t *testing.T) {
	s := &status{repaint: func() {}}
	require.False(t, s.takeBegun())
	for range 2 {
		s.show(control.State{Phase: control.Granted})
		s.show(control.State{Phase: control.Granted, Paused: true})
		require.True(t, s.takeBegun())
		require.False(t, s.takeBegun())
		s.show(control.State{Phase: control.Observing})
		require.False(t, s.takeBegun())
	}
}

// TestR47WhatIsAskedFor: who, what, how far and for how long, with the whole of the agent's own words.
func TestR47WhatIsAskedFor(t *testing.T) {
	ada := control.Agent{ID: "a", Name: "ada"}
	for _, c := range []struct {
		state control.State
		one   bool
		cols  int
		want  []string
	}{
		{control.State{Level: control.Drive, Reason: "try"}, false, 80, []string{"ada asks to drive: “try”"}},
		{control.State{Level: control.Type, Reason: "try", For: 10 * time.Minute}, false, 80, []string{"ada asks to type for 10m: “try”"}},
		{control.State{Level: control.Drive, Reason: "try", For: 90 * time.Minute}, true, 100, []string{"ada asks to drive this program for 1h30m: “try”"}},
		{control.State{Level: control.Drive, Reason: strings.Repeat("x", 100)}, false, 60, []string{strings.Repeat("x", 38) + "\n " + strings.Repeat("x", 58) + "\n xxxx”", "\n Ctrl+G gives it · Ctrl+\\ refuses"}},
	} {
		c.state.Phase, c.state.Agent = control.Asked, ada
		s := &status{line: true, key: `Ctrl+\`, oneProgram: c.one, state: c.state}
		line := s.sentence(time.Now(), c.cols, 24)
		for _, want := range append(c.want, "Ctrl+G gives it") {
			require.Contains(t, line, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"10m": 10 * time.Minute, "45s": 45 * time.Second, "1h": time.Hour, "1h30m": 90 * time.Minute, "1h0m5s": time.Hour + 5*time.Second,
		"2m30s": 150 * time.Second, "0s": 0, "20m": 20*time.Minute - time.Millisecond, "10h": 10 * time.Hour,
	} {
		require.Equal(t, want, span(d))
	}
}

// TestR47AHeldClickInWords: nobody reads the bytes of a mouse.
func TestR47AHeldClickInWords(t *testing.T) {
	s := &status{key: `Ctrl+\`, line: true, state: control.State{
		Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "ada"},
		Held: control.Held{Keys: `click at 5,12 on "OK"`, Mouse: true},
	}}
	require.Contains(t, s.approval(100, 24), `ada wants to click at 5,12 on "OK"`)
	require.Contains(t, s.approval(100, 24), "Ctrl+G sends it")
	s.state.Held.Line = `"rm -r"`
	require.Contains(t, s.approval(100, 24), `ada wants to click at 5,12 on "OK" after "rm -r"`)
}

// TestR47HeldInputInTheTitle: a title has no room for a long text, and says so.
func TestR47HeldInputInTheTitle(t *testing.T) {
	s := &status{key: `Ctrl+\`, state: control.State{
		Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "ada"},
		Held: control.Held{Keys: "<Enter>", Line: `"` + strings.Repeat("x", 100) + `"`},
	}}
	require.Equal(t, `[ada: Ctrl+G sends <Enter> after "`+strings.Repeat("x", 45)+`… and 56 characters more, Ctrl+\ refuses]`, s.tag(time.Now()))
}
