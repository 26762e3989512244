package overlay

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
)

// Whatever the program calls its window, the driver's name comes first.
func TestTheTitleStandsBehindAWordOfOursR43(t *testing.T) {
	s := New(Config{Title: true, Repaint: func() {}})
	s.ShowState(control.State{Phase: control.Granted, Agent: control.Agent{Name: "claude"}})
	_, window, _, _ := s.composeNow(time.Now(), 80, 24, "[observed] a\u202eb\u200dc")
	require.Equal(t, "[claude drives] [observed] abc", window)
}

// Once for each grant.
func TestTheKeyboardIsUnlockedAsAGrantBeginsR8(t *testing.T) {
	s := New(Config{Repaint: func() {}})
	require.False(t, s.takeBegun())
	for range 2 {
		s.ShowState(control.State{Phase: control.Granted})
		s.ShowState(control.State{Phase: control.Granted, Paused: true})
		require.True(t, s.takeBegun())
		require.False(t, s.takeBegun())
		s.ShowState(control.State{Phase: control.Observing})
		require.False(t, s.takeBegun())
	}
}

// Who gets the keyboard without a question, and for how long.
func TestWhatIsPromisedR70(t *testing.T) {
	for want, st := range map[string]control.State{
		"the next agent that asks will drive for 10 min ":                              {For: 10 * time.Minute},
		"codex, once it asks, will type for 1 min (allowed by phone) ":                 {For: time.Minute, RemotePregrant: control.RemoteGrant{By: "phone", Agent: "codex", Level: protocol.LevelType}},
		"the next agent that asks will drive until you take it back (allowed by phone": {RemotePregrant: control.RemoteGrant{By: "phone"}},
	} {
		st.Pregrant = true
		s := &Status{wording: wording{conf: Config{Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Line: true}, state: st}}
		require.Contains(t, line(s, 120, 24), want)
	}
}

// How long control lasts, and that the request is withdrawn.
func TestTheUserIsToldHowLongControlLastsR70(t *testing.T) {
	ada := control.Agent{ID: "a", Name: "ada"}
	for want, e := range map[string]control.Event{
		"ada drives for 10 min. Ctrl+\\ takes":                                    {Granted: true, Level: protocol.LevelDrive, Until: time.Now().Add(10 * time.Minute)},
		"ada drives until you take it back. Ctrl+\\ takes":                        {Granted: true, Level: protocol.LevelDrive},
		"ada may type for 10 min; Enter":                                          {Granted: true, Level: protocol.LevelType, Until: time.Now().Add(10 * time.Minute)},
		"phone lets ada drive for 1 min. ":                                        {Granted: true, Level: protocol.LevelDrive, By: "phone", Until: time.Now().Add(time.Minute)},
		"ada disconnected: the keyboard is yours":                                 {Reason: protocol.ReasonLink},
		"ada was away for 2 min: the keyboard is yours":                           {Reason: protocol.ReasonLink, Absent: true},
		"time is up: ada no longer has the keyboard":                              {Reason: protocol.ReasonExpired},
		" ada no longer asks ":                                                    {Reason: protocol.ReasonLink, Request: true},
		"  ada no longer asks ":                                                   {Reason: protocol.ReasonLink, Absent: true, Request: true},
		" ada no longer asks  ":                                                   {Reason: protocol.ReasonReleased, Request: true},
		"ada no longer asks: no one answered":                                     {Reason: protocol.ReasonExpired, Request: true},
		"ada is refused ":                                                         {Reason: protocol.ReasonRefused, Request: true},
		"phone refused ada ":                                                      {Reason: protocol.ReasonRefused, Request: true, By: "phone"},
		"ada is refused, and may not ask again until you open the menu (Ctrl+\\)": {Reason: protocol.ReasonRefused, Request: true, Blocked: true},
	} {
		s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() {}})
		e.Agent = ada
		s.ShowControlChange(e, "", "", "")
		line, _, _, _ := s.composeNow(time.Now(), 120, 24, "")
		require.Contains(t, line+"  ", strings.TrimLeft(want, " "))
		s.Close()
	}
	s := New(Config{Line: true, Repaint: func() {}})
	s.ShowControlChange(control.Event{Agent: ada, Request: true, Reason: protocol.ReasonExited}, "", "", "")
	line, _, _, _ := s.composeNow(time.Now(), 120, 24, "")
	require.Empty(t, line)
}

func TestLasts(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"10 min": 10*time.Minute - time.Millisecond, "45 s": 45 * time.Second, "1 h": time.Hour, "1 h 30 min": 90 * time.Minute,
		"1 h 5 s": time.Hour + 5*time.Second, "2 min 30 s": 150 * time.Second, "0 s": 0,
	} {
		require.Equal(t, want, formatDuration(d))
	}
}

// A key that closed the menu without a message would be pressed again.
func TestTheMenuSaysWhatItDidR71(t *testing.T) {
	s := New(Config{Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Line: true, Repaint: func() {}})
	for _, c := range []struct {
		muted control.Mute
		want  string
	}{
		{control.Mute{Agent: "claude"}, `claude is muted: Ctrl+\, then x, unmutes it`},
		{control.Mute{Agent: "claude", Undo: true}, "agents that you muted may ask again"},
		{control.Mute{Agent: "claude"}, `claude is muted: Ctrl+\, then x, unmutes it`},
	} {
		s.ShowState(asks(question.Menu, control.State{Muted: s.state.Muted}))
		s.ShowState(control.State{Muted: c.muted})
		require.Contains(t, line(s, 100, 24), c.want)
	}
	s.Close()
}

// A remark at the beginning of a grant ends with the key that ends the grant.
func TestARemarkIsWholeOnANarrowScreenR68(t *testing.T) {
	for _, level := range []protocol.Level{protocol.LevelType, protocol.LevelDrive} {
		for _, cols := range []int{30, 39, 40, 80} {
			s := New(Config{Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Line: true, Repaint: func() {}})
			s.ShowControlChange(control.Event{Granted: true, Agent: control.Agent{Name: "gemini-cli"}, Level: level, Until: time.Now().Add(10 * time.Minute)}, "", "", "")
			require.NotContains(t, line(s, cols, 12), "more", cols)
			s.Close()
		}
	}
}
