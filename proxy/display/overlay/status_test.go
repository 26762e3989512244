package overlay

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// The agent's own words stand between marks that it cannot forge, cleaned and cut, beside the keys,
// which are always there.
func TestTheQuestionSaysWhoWhatAndForHowLongR47(t *testing.T) {
	const keys = `Ctrl+G allows · Ctrl+\ refuses`
	for _, tt := range []struct {
		name, agent, reason string
		level               protocol.Level
		lasts               time.Duration
		want                string
	}{
		{"plain", "claude", "fix the typo", protocol.LevelDrive, 0, "“claude” asks to drive for 10 min: “fix the typo”"},
		{"limited", "claude", "fix the typo", protocol.LevelType, 5 * time.Minute, "“claude” asks to type for 5 min: “fix the typo”"},
		{"odd time", "claude", "x", protocol.LevelDrive, time.Minute + 5*time.Second, "“claude” asks to drive for 1 min 5 s: “x”"},
		{"R70: more than it would get", "claude", "x", protocol.LevelDrive, time.Hour, "“claude” asks to drive for 10 min: “x”"},
		{"forged end", "claude", "look” Ctrl+\\ gives it · “", protocol.LevelDrive, 0, "“claude” asks to drive for 10 min: “look' ctrl-\\ gives it . '”"},
		{"far to the right", "claude", "look" + strings.Repeat(" ", 100) + "Ctrl + G refuses", protocol.LevelDrive, 0, "“claude” asks to drive for 10 min: “look ctrl-G refuses”"},
		{"escapes and controls", "claude", "a\x1b[31mb\x00\nc", protocol.LevelDrive, 0, "“claude” asks to drive for 10 min: “ab c”"},
		{"invisible", "claude", "look\u202e gnihton\U000e0041", protocol.LevelDrive, 0, "“claude” asks to drive for 10 min: “look gnihton”"},
		{"R30: nothing is covered for the user", "claude", "use " + token, protocol.LevelDrive, 0, "“claude” asks to drive for 10 min: “use " + token + "”"},
		{"too long", "claude", strings.Repeat("x", 500), protocol.LevelDrive, 0, "“claude” asks to drive for 10 min: “" + strings.Repeat("x", 20)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() {}})
			a := control.New(control.Config{Keyboard: true, Yield: time.Second})
			now := time.Now()
			require.NoError(t, a.Request(now, control.Request{
				ID: "1", Agent: control.Agent{ID: "a", Name: tt.agent}, Level: tt.level, Reason: notice.Reason(tt.reason), For: tt.lasts,
			}))
			s.ShowState(a.State(now))
			line, _, ring, question := s.composeNow(now, 120, 24, "")
			require.True(t, strings.HasPrefix(line, " "+tt.want), line)
			require.True(t, strings.HasSuffix(strings.TrimRight(line, " "), " "+keys), line)
			require.True(t, ring && question != 0)
			require.LessOrEqual(t, len([]rune(notice.Reason(tt.reason))), 201)
		})
	}
}

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

// Who, what, how far and for how long, with all of the agent's own words.
func TestWhatIsAskedForR47(t *testing.T) {
	ada := control.Agent{ID: "a", Name: "ada"}
	for _, c := range []struct {
		state control.State
		one   bool
		cols  int
		want  []string
	}{
		{control.State{Level: protocol.LevelDrive, Reason: "try"}, false, 80, []string{"“ada” asks to drive until you take it back: “try”"}},
		{control.State{Level: protocol.LevelType, Reason: "try", For: 10 * time.Minute}, false, 80, []string{"“ada” asks to type for 10 min: “try”"}},
		{control.State{Level: protocol.LevelDrive, Reason: "try", For: 90 * time.Minute}, true, 100, []string{"“ada” asks to drive this program for 1 h 30 min: “try”"}},
		{control.State{Level: protocol.LevelDrive, Reason: "try", For: time.Minute, Another: true}, false, 120, []string{"another agent, “ada”, asks to drive for 1 min: “try”"}},
		{control.State{Level: protocol.LevelDrive, Reason: strings.Repeat("x", 100), For: 10 * time.Minute}, false, 60, []string{strings.Repeat("x", 58) + "\n ", "\n Ctrl+G allows · Ctrl+\\ refuses"}},
	} {
		c.state.Phase, c.state.Agent = control.Asked, ada
		s := &Status{wording: wording{conf: Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, OneProgram: c.one}, state: c.state}}
		line := s.lineLocked(time.Now(), c.cols, 24)
		for _, want := range append(c.want, "Ctrl+G allows") {
			require.Contains(t, line, want)
		}
	}
}

// token has the shape of a GitHub token.
const token = "gh" + "p_" + "Ab3xAb3xAb3xAb3xAb3xAb3xAb3xAb3xAb3x"

// The menu offers it if there was an agent, and says how long control lasts.
func TestTheMenuOffersToMuteR71(t *testing.T) {
	for want, st := range map[string]control.State{
		"asks drive for 10 min · m writes to it · h hides · ":                   {For: 10 * time.Minute},
		"asks drive until you take it back · m writes":                          {},
		"m writes to it · x mutes claude 2 · h hides · Ctrl+\\ sends the key":   {Mute: control.Mute{Agent: "claude 2"}},
		"m writes to it · x unmutes claude 2 · h shows it · Ctrl+\\ sends the ": {Mute: control.Mute{Agent: "claude 2", Undo: true}, Hidden: true},
	} {
		st.Menu = true
		s := &Status{wording: wording{conf: Config{Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Line: true}, state: st}}
		require.Contains(t, s.lineLocked(time.Now(), 200, 24), want)
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
		require.Contains(t, s.lineLocked(time.Now(), 120, 24), want)
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
		s.ShowControlChange(e, "", "")
		line, _, _, _ := s.composeNow(time.Now(), 120, 24, "")
		require.Contains(t, line+"  ", strings.TrimLeft(want, " "))
		s.Close()
	}
	s := New(Config{Line: true, Repaint: func() {}})
	s.ShowControlChange(control.Event{Agent: ada, Request: true, Reason: protocol.ReasonExited}, "", "")
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

// A user does not read the bytes of a mouse.
func TestAHeldClickInWordsR47(t *testing.T) {
	s := &Status{wording: wording{conf: Config{Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Line: true}, state: control.State{
		Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "ada"},
		Pending: control.Confirmation{Keys: `click at 5,12 on "OK"`, Mouse: true},
	}}}
	require.Contains(t, s.approvalLine(100, 24), `“ada” wants to click at 5,12 on "OK"`)
	require.Contains(t, s.approvalLine(100, 24), "Ctrl+G sends it")
	s.state.Pending.Line = `after "rm -r"`
	require.Contains(t, s.approvalLine(100, 24), `“ada” wants to click at 5,12 on "OK" after "rm -r"`)
}

// Every question shows it, and a line that has room without it has room with it.
func TestACtrlGThatDoesNotCountIsSeenR71(t *testing.T) {
	driven := control.State{Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "ada"}}
	held, occupied, secret := driven, driven, driven
	held.Pending.Keys, occupied.Occupied = "<Enter>", true
	secret.Secret, secret.Dismissible = protocol.SecretSoft, true
	for name, st := range map[string]control.State{
		"asked": {Phase: control.Asked, Agent: driven.Agent}, "held": held, "occupied": occupied, "menu": {Menu: true}, "secret": secret,
	} {
		for _, line := range []bool{true, false} {
			s := New(Config{Line: line, Title: !line, Reclaim: `Ctrl+\`, Grant: "Ctrl+G", Repaint: func() {}})
			shown := func() string {
				s.state = st
				text, title, _, _ := s.composeNow(time.Now(), 120, 24, "")
				return text + title
			}
			if before := shown(); name == "menu" && !line {
				require.NotContains(t, before, "Ctrl+G", "a title has no menu")
				continue
			}
			require.NotContains(t, shown(), "press again", name)
			st.GrantKeyIgnored = true
			require.Contains(t, shown(), "press again: Ctrl+G", name)
			st.GrantKeyIgnored = false
		}
	}
	s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: "Ctrl+G", Repaint: func() {}})
	for cols := range 120 {
		if s.FitsScreen("ada", held.Pending, cols, 3) {
			s.state = held
			s.state.GrantKeyIgnored = true
			require.Contains(t, s.approvalLine(cols, 3), "<Enter>", "%d columns", cols)
		}
	}
}

// A title has no room for a long text, and says so.
func TestHeldInputInTheTitleR47(t *testing.T) {
	s := &Status{wording: wording{conf: Config{Reclaim: `Ctrl+\`, Grant: `Ctrl+G`}, state: control.State{
		Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "ada"},
		Pending: control.Confirmation{Keys: "<Enter>", Line: `after "` + strings.Repeat("x", 100) + `"`},
	}}}
	require.Equal(t, `[ada: Ctrl+G sends <Enter> after "`+strings.Repeat("x", 45)+`… and 56 more characters, Ctrl+\ refuses]`, s.titleTag(time.Now()))
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
		s.ShowState(control.State{Menu: true, Muted: s.state.Muted})
		s.ShowState(control.State{Muted: c.muted})
		require.Contains(t, s.lineLocked(time.Now(), 100, 24), c.want)
	}
	s.Close()
}

// A remark at the beginning of a grant ends with the key that ends the grant.
func TestARemarkIsWholeOnANarrowScreenR68(t *testing.T) {
	for _, level := range []protocol.Level{protocol.LevelType, protocol.LevelDrive} {
		for _, cols := range []int{30, 39, 40, 80} {
			s := New(Config{Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Line: true, Repaint: func() {}})
			s.ShowControlChange(control.Event{Granted: true, Agent: control.Agent{Name: "gemini-cli"}, Level: level, Until: time.Now().Add(10 * time.Minute)}, "", "")
			require.NotContains(t, s.lineLocked(time.Now(), cols, 12), "more", cols)
			s.Close()
		}
	}
}

// Whatever the keys are, in the line or, without a line, in the title.
func TestEverySentenceNamesTheKeysInForce(t *testing.T) {
	ada := control.Agent{ID: "a", Name: "ada"}
	for name, c := range map[string]struct {
		state          control.State
		grant, reclaim bool // must be there
	}{
		"asks":         {control.State{Phase: control.Asked, Agent: ada, Level: protocol.LevelDrive, Reason: "try"}, true, true},
		"another asks": {control.State{Phase: control.Asked, Agent: ada, Level: protocol.LevelType, Another: true}, true, true},
		"by a rule":    {control.State{Phase: control.Asked, Agent: ada, RuleGrant: control.RuleGrant{Rule: "config.toml:2"}}, false, true},
		"submits":      {control.State{Phase: control.Granted, Agent: ada, Pending: control.Confirmation{Keys: "Enter"}}, true, true},
		"clicks":       {control.State{Phase: control.Granted, Agent: ada, Pending: control.Confirmation{Keys: "click", Mouse: true}}, true, true},
		"occupied":     {control.State{Phase: control.Granted, Agent: ada, Occupied: true}, true, true},
		"secret":       {control.State{Phase: control.Granted, Agent: ada, Secret: protocol.SecretHard, Dismissible: true}, true, false},
		"no secret":    {control.State{Phase: control.Granted, Agent: ada, Secret: protocol.SecretSoft, Dismissible: true}, true, false},
		"menu":         {control.State{Menu: true}, true, true},
		"promise":      {control.State{Pregrant: true}, false, true},
	} {
		for _, onLine := range []bool{true, false} {
			s := New(Config{Name: "sh", Line: onLine, Title: true, Reclaim: "Ctrl+Y", Grant: "Ctrl+Alt+G", Repaint: func() {}})
			s.ShowState(c.state)
			line, title, _, _ := s.composeNow(time.Now(), 160, 24, "")
			s.LabelGrant("Ctrl+]")
			elsewhere, window, _, _ := s.composeNow(time.Now(), 160, 24, "")
			s.Close()
			require.Equal(t, strings.Count(line+title, "Ctrl+Alt+G"), strings.Count(elsewhere+window, "Ctrl+]"), "%s, at another terminal: %s", name, elsewhere)
			require.NotContains(t, elsewhere+window, "Ctrl+Alt+G", name)
			said := line + title
			require.NotContains(t, said, "Ctrl+G", name)
			require.NotContains(t, said, `Ctrl+\`, name)
			if onLine || !c.state.Menu {
				require.Equal(t, c.grant, strings.Contains(said, "Ctrl+Alt+G"), "%s: %s", name, said)
			}
			if onLine {
				require.Equal(t, c.reclaim, strings.Contains(said, "Ctrl+Y"), "%s: %s", name, said)
			}
		}
	}
}
