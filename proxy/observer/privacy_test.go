package observer

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/secretprompt"
	"terminalproxy/proxy/snapshot"
)

func TestR24NothingRightOfTheQuestion(t *testing.T) {
	for name, ask := range map[string]func(s *stage){
		"sudo-rs":                   func(s *stage) { s.line = sudoRS; s.prints("Password: ") },
		"the question comes before": func(s *stage) { s.prints("Password: "); s.line = sudoRS; s.passes(time.Millisecond) },
		"the question comes late":   func(s *stage) { s.line = sudoRS; s.passes(time.Second); s.prints("Password: ") },
		"the question in pieces":    func(s *stage) { s.line = sudoRS; s.prints("P", "assword", ": ") },
		"raw, by its words":         func(s *stage) { s.line = raw; s.prints("Password: ") },
		"raw, by its name": func(s *stage) {
			s.program = "sudo"
			s.line = raw
			s.prints("Pass", "word: ")
		},
		"typed at once": func(s *stage) { s.line = sudoRS; s.prints("Password: *"); s.writes++ },
		"typed before":  func(s *stage) { s.line = sudoRS; s.prints("Password: ", "*", "**") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 40, 4)
			s.prints("$ sudo true\r\n")
			ask(s)
			rev := s.model.Rev()
			s.types("*", "*", "\b \b", "*", "\x1b[1m•", "*\x1b[m*", strings.Repeat("*", 20))
			f := s.Frame(s.now)
			require.Equal(t, "Password:", f.Screen.Lines[1])
			require.Equal(t, protocol.Cursor{Row: 1, Col: 10, Visible: true}, f.Screen.Cursor)
			require.Equal(t, protocol.BlackoutPassword, f.Blackout.Why)
			require.Equal(t, rev, f.Seq, "nobody counts keys")
			require.NotContains(t, s.seen(), "*")

			s.types("\r\n")
			s.line = cooked
			s.prints("hello\r\n")
			require.Equal(t, "hello", s.row(2), "other rows go on")
			s.prints(strings.Repeat("more\r\n", 10))
			s.passes(time.Second)
			s.Resize(s.now, 60, 8)
			got := s.seen()
			require.NotContains(t, got, "*")
			require.NotContains(t, got, "•")
			require.Contains(t, s.content(), "Password:\nhello\n")
			require.Nil(t, s.Frame(s.now).Blackout)
		})
	}
}

// A secret that is longer than the row goes on in the next one, also at the bottom of the screen.
func TestR24ASecretThatWraps(t *testing.T) {
	for _, rows := range []int{4, 1} {
		s := newStage(t, 20, rows)
		s.line = sudoRS
		s.prints("Password: ")
		for range 55 {
			s.types("*")
		}
		require.NotContains(t, s.seen(), "*")
		if rows > 1 {
			require.Equal(t, [2]int{0, 10}, s.cursor())
		}
		s.types("\r\n")
		s.line = cooked
		s.prints("ok\r\n* star\r\n")
		s.passes(time.Second)
		require.Equal(t, 2, strings.Count(s.content(), "*")*2, "only the one that is output")
		require.Contains(t, s.content(), "ok\n* star\n")
	}
}

// Programs that read lines show nothing of them: all that they print is to be seen, at a prompt too.
func TestR24OutputGoesOnAtAHardPrompt(t *testing.T) {
	s := newStage(t, 40, 6)
	s.line = noEcho
	s.prints("Password: ")
	require.Equal(t, protocol.SecretHard, s.privacy.secret.Kind())
	require.Equal(t, [2]int{0, 10}, s.cursor())
	s.types("\r\n")
	s.prints("Sorry.\r\nPass", "word: ")
	require.Equal(t, []string{"Password:", "Sorry.", "Password:"}, s.Frame(s.now).Screen.Lines[:3])
	require.Len(t, s.said, 1, "one blackout")
}

// A program may draw its line anew with every key, or something beside it.
func TestR24RedrawnPrompts(t *testing.T) {
	for name, key := range map[string]func(n int) string{
		"the whole line":     func(n int) string { return "\rPassword: " + strings.Repeat("*", n) + "\x1b[K" },
		"the field":          func(n int) string { return "\x1b[1;11H" + strings.Repeat("•", n) },
		"another row first":  func(n int) string { return "\x1b[3;1Hquality 10%\x1b[1;11H" + strings.Repeat("*", n) },
		"another row after":  func(n int) string { return "\x1b[1;11H" + strings.Repeat("*", n) + "\x1b7\x1b[3;1Hquality\x1b8" },
		"erased and printed": func(n int) string { return "\x1b[2K\rPassword: " + strings.Repeat("*", n) },
	} {
		for _, screen := range []string{"", "\x1b[?1049h\x1b[H"} {
			t.Run(name, func(t *testing.T) {
				s := newStage(t, 40, 5)
				s.line = raw
				s.prints(screen + "Password: ")
				for n := range 8 {
					s.types(key(n))
					got := s.seen()
					require.NotContains(t, got, "*")
					require.NotContains(t, got, "•")
					require.Equal(t, "Password:", s.row(0))
					require.Equal(t, [2]int{0, 10}, s.cursor())
				}
			})
		}
	}
}

// systemd-ask-password takes a remark away when the first key comes, and the answer begins there.
func TestR24ARemarkMakesWay(t *testing.T) {
	s := newStage(t, 60, 3)
	s.line, s.program = raw, "systemd-ask-pas"
	s.prints("🔐 Passphrase: ", "\x1b[90m(press TAB for no echo) \x1b[0m")
	require.Equal(t, "🔐 Passphrase: (press TAB for no echo)", s.row(0))
	cursor := s.cursor()
	back := strings.Repeat("\b", 24)
	s.types(back+strings.Repeat(" ", 24)+back+"•", "•", "•")
	require.Equal(t, "🔐 Passphrase:", s.row(0))
	require.Equal(t, cursor, s.cursor())
	require.NotContains(t, s.seen(), "•")
	require.Contains(t, s.content(), "🔐 Passphrase:")
}

func TestR24AForm(t *testing.T) {
	s := newStage(t, 40, 5)
	s.line, s.program = raw, "pinentry-curses"
	s.prints("\x1b[?1049h\x1b[2;1H| Passphrase: ________ |\x1b[4;1H| <OK> |\x1b[2;15H")
	s.types("*", "*")
	require.Equal(t, []string{"", "| Passphrase:", "", "| <OK> |", ""}, s.Frame(s.now).Screen.Lines)
	require.Equal(t, [2]int{1, 14}, s.cursor())
	s.types("\x1b[4;3H") // tab: on to the button
	require.Equal(t, [2]int{3, 2}, s.cursor())
	require.NotContains(t, s.seen(), "*")
	s.line = cooked
	s.prints("\x1b[?1049l$ ")
	s.passes(time.Second)
	require.Equal(t, "$", s.row(0))
	require.NotContains(t, s.seen(), "*")
}

func TestR22NoBlackoutWhereTextIsEdited(t *testing.T) {
	for name, play := range map[string]func(s *stage){
		"vim": func(s *stage) {
			s.line, s.program = raw, "vim"
			s.prints("\x1b[?1049h\x1b[?2004h\x1b[Hpassword:", " hunter2", "\r\npassword:")
		},
		"vim on another machine": func(s *stage) {
			s.line, s.program = raw, "ssh"
			s.prints("\x1b[?1049h\x1b[?2004h\x1b[Hpassword:")
		},
		"a shell's line": func(s *stage) {
			s.line = raw
			s.prints("\x1b[?2004h$ ", "grep -r password:")
		},
		"grep": func(s *stage) { s.prints("$ grep -r password: .\r\n", "a.yml:password: x\r\nb.yml:password:") },
		"less": func(s *stage) {
			s.line, s.program = raw, "less"
			s.prints("\x1b[?1049h\x1b[Hpassword: x\r\npassword:")
		},
	} {
		s := newStage(t, 40, 5)
		play(s)
		require.Nil(t, s.Frame(s.now).Blackout, name)
		require.Contains(t, s.seen(), "password:", name)
		require.Empty(t, s.asked, name)
	}
}

func TestR24TheScreenIsResizedMeanwhile(t *testing.T) {
	s := newStage(t, 40, 3)
	s.prints(strings.Repeat("some rather long line that wraps\r\n", 6))
	s.line = sudoRS
	s.prints("Password: ")
	s.types("*", "*")
	for _, size := range [][2]int{{20, 3}, {80, 10}, {9, 4}, {40, 3}} {
		s.Resize(s.now, size[0], size[1])
		s.types("*", "*")
		require.NotContains(t, s.seen(), "*")
	}
	s.types("\r\n")
	s.line = cooked
	s.prints("done\r\n")
	require.NotContains(t, s.seen(), "*")
	require.Contains(t, s.seen(), "done")
}

// Nobody asks /proc for every chunk of a flood.
func TestTheProgramsNameIsKeptForAMoment(t *testing.T) {
	s := newStage(t, 40, 3)
	s.line = raw
	s.program = "top"
	for range 100 {
		s.prints("output\r\n")
	}
	require.Equal(t, 1, s.asks)
	s.passes(0)
	require.Equal(t, 2, s.asks, "a look is a look")
	s.now = s.now.Add(nameFor)
	s.prints("output\r\n")
	require.Equal(t, 3, s.asks)
}

func TestR25ADismissedPromptIsShown(t *testing.T) {
	s := newStage(t, 40, 5)
	s.line = raw
	s.prints("token: ")
	s.types("*", "*")
	require.Equal(t, "token:", s.row(0))
	s.privacy.dismiss(s.now)
	s.types("*")
	require.Equal(t, "token: ***", s.row(0))
	require.Equal(t, [2]int{0, 10}, s.cursor())
	require.Nil(t, s.Frame(s.now).Blackout)
	require.NoError(t, s.Bars(s.now))
	s.prints("\r\ntoken: ")
	require.Error(t, s.Bars(s.now), "the next one is another")
	require.Equal(t, []prompt{{protocol.SecretSoft, false}, {protocol.SecretNone, true}, {protocol.SecretSoft, false}}, s.asked)
}

func TestR23WhoHearsOfAPrompt(t *testing.T) {
	s := newStage(t, 40, 5)
	s.line = noEcho
	s.prints("Password: ")
	s.line = cooked
	s.prints("\r\n")
	s.passes(secretprompt.Linger - time.Millisecond)
	require.Len(t, s.asked, 1)
	s.passes(time.Millisecond)
	require.Equal(t, []prompt{{protocol.SecretHard, false}, {protocol.SecretNone, false}}, s.asked)
	require.Equal(t, []protocol.Blackout{
		{On: true, Why: protocol.BlackoutPassword, Secret: protocol.SecretHard}, {Why: protocol.BlackoutPassword},
	}, s.said)

	s.privacy.spot(s.now) // the pump saw one that is over already
	require.Equal(t, prompt{protocol.SecretHard, false}, s.asked[len(s.asked)-1])
	s.passes(secretprompt.Linger)
	require.Equal(t, prompt{protocol.SecretNone, false}, s.asked[len(s.asked)-1], "so that it hears of the end")
}

func TestAPromptEndsWithTheProgram(t *testing.T) {
	s := newStage(t, 40, 5)
	s.line = noEcho
	s.prints("Password: ")
	s.broken = true
	s.passes(0)
	s.passes(secretprompt.Linger)
	require.Nil(t, s.Frame(s.now).Blackout)
	s.broken = false
	s.passes(0)
	require.NotNil(t, s.Frame(s.now).Blackout)
	s.exit = &child.Exit{}
	s.passes(0)
	require.Nil(t, s.Frame(s.now).Blackout, "nobody asks any more: the last frame does not say so for ever")
}

// An idle session costs nothing: nobody looks at the line settings where nobody could be told of them.
func TestR21WhenToLook(t *testing.T) {
	s := newStage(t, 40, 5)
	due := func() time.Duration {
		at, ok := s.privacy.next()
		if !ok {
			return 0
		}
		return at.Sub(s.now)
	}
	s.passes(0)
	require.Zero(t, due(), "nobody looks on, nobody drives")
	s.privacy.reached.Store(true)
	require.Zero(t, due(), "no secret is asked for")
	s.driven = true
	require.Equal(t, lookEvery, due())
	s.driven, s.line = false, noEcho
	s.passes(0)
	require.Equal(t, lookEvery, due(), "to see its end")
	s.privacy.reached.Store(false)
	require.Zero(t, due())
	s.privacy.reached.Store(true)
	s.line = cooked
	s.passes(0)
	require.Equal(t, lookEvery, due())
	s.passes(secretprompt.Linger - 10*time.Millisecond)
	require.Equal(t, 10*time.Millisecond, due())
}

func TestAHiddenScreenTellsNothing(t *testing.T) {
	s := newStage(t, 20, 3)
	s.prints("before\r\n\x1b]0;my title\a")
	s.privacy.hide(s.now, true)
	seq := s.Frame(s.now).Seq
	s.prints("one\r\ntwo\r\n\x1b]0;other title\a", "three\r\nfour\r\nsee me")
	s.passes(12 * time.Second)
	f := s.Frame(s.now)
	require.Equal(t, &protocol.Hidden{Why: protocol.BlackoutUser, SinceMs: 12_000}, f.Blackout)
	require.Equal(t, protocol.Screen{Cols: 20, Rows: 3, Lines: []string{"", "", ""}}, f.Screen)
	require.Equal(t, seq, f.Seq, "not even that something happens")
	require.Empty(t, s.content())
	require.ErrorIs(t, s.Bars(s.now), control.ErrHidden)
	_, due := s.throttle.Next()
	require.True(t, due, "the one snapshot that says so")

	s.privacy.hide(s.now, false)
	f = s.Frame(s.now)
	require.Nil(t, f.Blackout)
	require.Equal(t, []string{"three", "four", "see me"}, f.Screen.Lines, "the user shows what stands there")
	require.Equal(t, "other title", f.Screen.Title)
	require.Greater(t, f.Seq, seq)
	s.prints("\r\nafter\r\n")
	got := s.seen()
	for _, gone := range []string{"one", "two"} {
		require.NotContains(t, got, gone)
	}
	require.Equal(t, "before\n\nafter\n", s.content(), "the rolling text has nothing of it")
	history := strings.Join(s.pastRows(0, s.model.HistoryLen()), "\n")
	require.Equal(t, "before\n\n\nthree\nfour", history)
}

func TestWaitsDoNotSeeAHiddenScreen(t *testing.T) {
	s := newStage(t, 20, 3)
	var met []string
	wait := func(id string, u protocol.Until) {
		c, err := snapshot.Compile(u)
		require.NoError(t, err)
		s.Wait(s.now, false, snapshot.Wait{ID: id, Condition: c, Done: func(snapshot.Result) { met = append(met, id) }}, nil)
	}
	s.privacy.hide(s.now, true)
	wait("printed", protocol.Until{Text: "secret"})
	wait("gone", protocol.Until{Gone: "x"})
	wait("changed", protocol.Until{Changed: true})
	s.prints("secret\r\n\r\n\r\n\r\n\r\nshown")
	wait("shown", protocol.Until{Regex: "sh.wn"})
	require.Empty(t, met)
	s.privacy.hide(s.now, false)
	require.ElementsMatch(t, []string{"gone", "changed", "shown"}, met)
}

func TestAPasswordOnAHiddenScreen(t *testing.T) {
	s := newStage(t, 40, 3)
	s.privacy.hide(s.now, true)
	s.line = raw
	s.prints("Password: ")
	s.types("*", "*")
	s.privacy.hide(s.now, false)
	require.Equal(t, "Password:", s.row(0))
	require.Equal(t, [2]int{0, 10}, s.cursor())
	require.NotContains(t, s.seen(), "*")
	require.Equal(t, protocol.BlackoutPassword, s.Frame(s.now).Blackout.Why)
	s.line = cooked
	s.passes(0)
	s.passes(secretprompt.Linger)
	hidden, asked := "the user hides the screen", "a password is being asked for"
	require.Equal(t, []string{hidden, hidden, asked, ""}, s.dark, "one after the other, nothing is recorded")
}

// FuzzPrivacy plays a program, a user and an agent at random. Whatever they do, what an agent gets is a frame that the wire
// takes, and while the screen is hidden it is blank.
func FuzzPrivacy(f *testing.F) {
	f.Add([]byte("\xf1Password: \xf5*\xf5*\xf5\b \b\xf7\xf5*\r\n\xf0done\xf8\xf9"))
	f.Add([]byte("\xf3\x1b[?1049h\x1b[2;3H| PIN: __|\x1b[2;9H\xf5*\xf6\xfa\xf5*\xfb\x1b[?1049l"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newStage(t, 20, 4)
		var chunk []byte
		flush := func() {
			s.prints(string(chunk))
			chunk = chunk[:0]
		}
		for _, b := range data {
			switch {
			case b < 0xf0:
				chunk = append(chunk, b)
				continue
			case b == 0xf5:
				s.writes++
			}
			flush()
			switch b {
			case 0xf0, 0xf1, 0xf2, 0xf3:
				s.line = []child.Line{cooked, noEcho, sudoRS, raw}[b-0xf0]
			case 0xf6:
				s.privacy.dismiss(s.now)
			case 0xf7:
				s.Resize(s.now, 7+int(s.writes)%9, 3)
			case 0xf8:
				s.privacy.hide(s.now, !s.privacy.isHidden())
			case 0xf9:
				s.passes(secretprompt.Linger)
			case 0xfa:
				s.privacy.spot(s.now)
			case 0xfb:
				s.Resize(s.now, 30, 6)
			}
			frame := s.Frame(s.now)
			require.Equal(t, s.privacy.isHidden(), frame.Blackout.ByUser())
			if s.privacy.isHidden() {
				require.Empty(t, strings.Join(frame.Screen.Lines, "")+s.content())
			}
			_, err := protocol.Encode(&protocol.ReadResult{ID: "i", RequestID: "r", SessionID: "s", Frame: frame, Text: s.content()})
			require.NoError(t, err)
		}
		flush()
	})
}

// R23: what the program waits for while a prompt lingers cannot be typed yet.
func TestR23AFormerPromptLingers(t *testing.T) {
	s := newStage(t, 40, 4)
	require.False(t, s.privacy.lingers(s.now))
	s.prints("Password: ")
	s.line = noEcho
	s.passes(time.Millisecond)
	require.False(t, s.privacy.lingers(s.now), "it asks")
	s.line = cooked
	s.now = s.now.Add(time.Millisecond)
	require.True(t, s.privacy.lingers(s.now), "it looks by itself")
	require.Empty(t, s.view().Waiting(s.now))
	s.now = s.now.Add(secretprompt.Linger)
	require.False(t, s.privacy.lingers(s.now))
	require.Equal(t, protocol.SecretNone, s.privacy.told.kind, "and the others know")
}

// R78: a prompt that nothing tells but the signs for the keys. What was there of them when it was found goes too.
func TestR78SignsForKeysAreAPrompt(t *testing.T) {
	for name, ask := range map[string]string{
		"a line": "Geheim ", "a form": "\x1b[?1049h\x1b[2;3H\u2502 ______________ \u2502\x1b[4;5H<OK>\x1b[2;5H", "behind wide characters": "日本語 秘密 ",
	} {
		s := newStage(t, 40, 5)
		s.line = raw
		s.prints(ask)
		require.Nil(t, s.Frame(s.now).Blackout, name)
		before := s.cursor()
		s.types("*", "*")
		f := s.Frame(s.now)
		require.Equal(t, protocol.SecretSoft, f.Blackout.Secret, name)
		require.Equal(t, before, s.cursor(), name)
		require.Error(t, s.Bars(s.now))
		s.types("*", "\b_\b", "*", "*", "*")
		require.Equal(t, before, s.cursor(), name)
		require.NotContains(t, s.seen(), "*", name)
		s.types("\r\n")
		s.line = cooked
		s.prints("done\r\n")
		s.passes(time.Second)
		require.Nil(t, s.Frame(s.now).Blackout, name)
		require.NotContains(t, s.seen(), "*", name)
		require.Contains(t, s.seen(), "done", name)
	}
}

func TestR78ADismissedOneIsShown(t *testing.T) {
	s := newStage(t, 40, 5)
	s.line = raw
	s.prints("score ")
	s.types("*", "*")
	require.Error(t, s.Bars(s.now))
	s.privacy.dismiss(s.now)
	s.types("*", "*")
	require.NoError(t, s.Bars(s.now))
	require.Equal(t, "score ****", s.row(0))
}
