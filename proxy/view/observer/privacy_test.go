package observer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/secretprompt"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/view/corpus"
	"terminalproxy/proxy/view/snapshot"
)

func TestNothingRightOfTheQuestionR24(t *testing.T) {
	for name, ask := range map[string]func(s *stage){
		"sudo-rs":                   func(s *stage) { s.line = sudoRS; s.print("Password: ") },
		"the question comes before": func(s *stage) { s.print("Password: "); s.line = sudoRS; s.passes(time.Millisecond) },
		"the question comes late":   func(s *stage) { s.line = sudoRS; s.passes(time.Second); s.print("Password: ") },
		"the question in pieces":    func(s *stage) { s.line = sudoRS; s.print("P", "assword", ": ") },
		"raw, by its words":         func(s *stage) { s.line = raw; s.print("Password: ") },
		"raw, by its name": func(s *stage) {
			s.program = "sudo"
			s.line = raw
			s.print("Pass", "word: ")
		},
		"typed at once": func(s *stage) { s.line = sudoRS; s.print("Password: *"); s.writes.Add(1) },
		"typed before":  func(s *stage) { s.line = sudoRS; s.print("Password: ", "*", "**") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 40, 4)
			s.print("$ sudo true\r\n")
			ask(s)
			rev := s.model.Rev()
			s.typeKey("*", "*", "\b \b", "*", "\x1b[1m•", "*\x1b[m*", strings.Repeat("*", 20))
			f := s.Frame(s.now)
			require.Equal(t, "Password:", f.Screen.Lines[1])
			require.Equal(t, protocol.Cursor{Row: 1, Col: 10, Visible: true}, f.Screen.Cursor)
			require.Equal(t, protocol.BlackoutPassword, f.Blackout.Why)
			require.Equal(t, rev, f.Seq, "nobody counts keys")
			require.NotContains(t, s.allVisible(), "*")

			s.typeKey("\r\n")
			s.line = cooked
			s.print("hello\r\n")
			require.Equal(t, "hello", s.row(2), "other rows go on")
			s.print(strings.Repeat("more\r\n", 10))
			s.passes(time.Second)
			s.Resize(s.now, 60, 8)
			got := s.allVisible()
			require.NotContains(t, got, "*")
			require.NotContains(t, got, "•")
			require.Contains(t, s.rollingText(), "Password:\nhello\n")
			require.Nil(t, s.Frame(s.now).Blackout)
		})
	}
}

// A program may redraw its line with every key, or draw something beside it.
func TestRedrawnPromptsR24(t *testing.T) {
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
				s.print(screen + "Password: ")
				for n := range 8 {
					s.typeKey(key(n))
					got := s.allVisible()
					require.NotContains(t, got, "*")
					require.NotContains(t, got, "•")
					require.Equal(t, "Password:", s.row(0))
					require.Equal(t, [2]int{0, 10}, s.cursor())
				}
			})
		}
	}
}

// A flood does not read /proc for every chunk.
func TestTheProgramsNameIsKeptForAMoment(t *testing.T) {
	s := newStage(t, 40, 3)
	s.line = raw
	s.program = "top"
	for range 100 {
		s.print("output\r\n")
	}
	require.Equal(t, 1, s.asks)
	s.passes(0)
	require.Equal(t, 2, s.asks, "a look is a look")
	s.now = s.now.Add(nameFor)
	s.print("output\r\n")
	require.Equal(t, 3, s.asks)
}

// An idle session costs nothing: without an agent to tell, the line settings are not checked.
func TestWhenToLookR21(t *testing.T) {
	s := newStage(t, 40, 5)
	due := func() time.Duration {
		at, ok := s.privacy.nextCheck()
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
	require.Equal(t, checkEvery, due())
	s.driven, s.line = false, noEcho
	s.passes(0)
	require.Equal(t, checkEvery, due(), "to see its end")
	s.privacy.reached.Store(false)
	require.Zero(t, due())
	s.privacy.reached.Store(true)
	s.line = cooked
	s.passes(0)
	require.Equal(t, checkEvery, due())
	s.passes(secretprompt.Linger - 10*time.Millisecond)
	require.Equal(t, 10*time.Millisecond, due())
}

func TestAHiddenScreenTellsNothing(t *testing.T) {
	s := newStage(t, 20, 3)
	s.print("before\r\n\x1b]0;my title\a")
	s.privacy.setHidden(s.now, true)
	seq := s.Frame(s.now).Seq
	s.print("one\r\ntwo\r\n\x1b]0;other title\a", "three\r\nfour\r\nsee me")
	s.passes(12 * time.Second)
	f := s.Frame(s.now)
	require.Equal(t, &protocol.Hidden{Why: protocol.BlackoutUser, SinceMs: 12_000}, f.Blackout)
	require.Equal(t, protocol.Screen{Cols: 20, Rows: 3, Lines: []string{"", "", ""}}, f.Screen)
	require.Equal(t, seq, f.Seq, "not even that something happens")
	require.Empty(t, s.rollingText())
	require.ErrorIs(t, s.InputRefusal(s.now), control.ErrHidden)
	_, due := s.throttle.Next()
	require.True(t, due, "the one snapshot that says so")

	s.privacy.setHidden(s.now, false)
	f = s.Frame(s.now)
	require.Nil(t, f.Blackout)
	require.Equal(t, []string{"three", "four", "see me"}, f.Screen.Lines, "the user shows what stands there")
	require.Equal(t, "other title", f.Screen.Title)
	require.Greater(t, f.Seq, seq)
	s.print("\r\nafter\r\n")
	got := s.allVisible()
	for _, gone := range []string{"one", "two"} {
		require.NotContains(t, got, gone)
	}
	require.Equal(t, "before\n\nafter\n", s.rollingText(), "the rolling text has nothing of it")
	history := strings.Join(s.pastRows(0, s.model.HistoryLen()), "\n")
	require.Equal(t, "before\n\n\nthree\nfour", history)
}

func TestWaitsDoNotSeeAHiddenScreen(t *testing.T) {
	s := newStage(t, 20, 3)
	var met []string
	wait := func(id string, u protocol.Until) {
		c, err := snapshot.Compile(u)
		require.NoError(t, err)
		s.OpenWait(s.now, false, snapshot.Wait{ID: id, Condition: c, Done: func(snapshot.Result) { met = append(met, id) }}, nil)
	}
	s.privacy.setHidden(s.now, true)
	wait("printed", protocol.Until{Text: "secret"})
	wait("gone", protocol.Until{Gone: "x"})
	wait("changed", protocol.Until{Changed: true})
	s.print("secret\r\n\r\n\r\n\r\n\r\nshown")
	wait("shown", protocol.Until{Regex: "sh.wn"})
	require.Empty(t, met)
	s.privacy.setHidden(s.now, false)
	require.ElementsMatch(t, []string{"gone", "changed", "shown"}, met)
}

// FuzzPrivacy plays a program, a user and an agent at random. An agent only ever gets frames that
// are valid on the wire, and blank ones while the screen is hidden.
func FuzzPrivacy(f *testing.F) {
	f.Add([]byte("\xf1Password: \xf5*\xf5*\xf5\b \b\xf7\xf5*\r\n\xf0done\xf8\xf9"))
	f.Add([]byte("\xf3\x1b[?1049h\x1b[2;3H| PIN: __|\x1b[2;9H\xf5*\xf6\xfa\xf5*\xfb\x1b[?1049l"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newStage(t, 20, 4)
		var chunk []byte
		flush := func() {
			s.print(string(chunk))
			chunk = chunk[:0]
		}
		for _, b := range data {
			switch {
			case b < 0xf0:
				chunk = append(chunk, b)
				continue
			case b == 0xf5:
				s.writes.Add(1)
			}
			flush()
			switch b {
			case 0xf0, 0xf1, 0xf2, 0xf3:
				s.line = []child.Line{cooked, noEcho, sudoRS, raw}[b-0xf0]
			case 0xf6:
				s.privacy.allowPrompt(s.now)
			case 0xf7:
				s.Resize(s.now, 7+int(s.writes.Load())%9, 3)
			case 0xf8:
				s.privacy.setHidden(s.now, !s.privacy.isHidden())
			case 0xf9:
				s.passes(secretprompt.Linger)
			case 0xfa:
				s.privacy.noteHardPrompt(s.now)
			case 0xfb:
				s.Resize(s.now, 30, 6)
			}
			frame := s.Frame(s.now)
			require.Equal(t, s.privacy.isHidden(), frame.Blackout.ByUser())
			if s.privacy.isHidden() {
				require.Empty(t, strings.Join(frame.Screen.Lines, "")+s.rollingText())
			}
			_, err := protocol.Encode(&protocol.ReadResult{ID: "i", RequestID: "r", SessionID: "s", Frame: frame, Text: s.rollingText()})
			require.NoError(t, err)
		}
		flush()
	})
}

// TestPrivacy plays what the program, its user and time do, and checks what agents get.
func TestPrivacy(t *testing.T) {
	corpus.Plays(t, "privacy", func(t *testing.T, steps []corpus.Step) {
		var s *stage
		for _, step := range steps {
			if n, err := strconv.Atoi(step.Words[0]); err == nil {
				for step.Words = step.Words[1:]; n > 1; n-- {
					s.step(step)
				}
			}
			if step.Words[0] == "stage" {
				cols, rows := size(t, step)
				s = newStage(t, cols, rows)
			} else {
				s.step(step)
			}
			for _, w := range step.Wants {
				s.checkFact(w, step.Line)
			}
		}
	})
}

func size(t testing.TB, step corpus.Step) (cols, rows int) {
	_, err := fmt.Sscanf(step.Arg(1), "%dx%d", &cols, &rows)
	require.NoError(t, err, step.Line)
	return cols, rows
}

func (s *stage) step(step corpus.Step) {
	switch arg := step.Arg(1); step.Words[0] {
	case "line":
		s.line = map[string]child.Line{"cooked": cooked, "noEcho": noEcho, "sudoRS": sudoRS, "raw": raw}[arg]
	case "program":
		s.program = arg
	case "prints":
		s.print(step.Words[1:]...)
	case "types":
		s.typeKey(step.Words[1:]...)
	case "passes", "later": // later: and no one looks
		d, err := time.ParseDuration(arg)
		require.NoError(s, err)
		if s.now = s.now.Add(d); step.Words[0] == "passes" {
			s.passes(0)
		}
	case "resize":
		cols, rows := size(s, step)
		s.Resize(s.now, cols, rows)
	case "dismiss":
		s.privacy.allowPrompt(s.now)
	case "spot":
		s.privacy.noteHardPrompt(s.now)
	case "hide", "show":
		s.privacy.setHidden(s.now, step.Words[0] == "hide")
	case "broken", "mended":
		s.broken = step.Words[0] == "broken"
	case "exit":
		s.exit = &child.Exit{}
	default:
		require.FailNow(s, "no such step", step.Line)
	}
}

// checkFact checks a fact: of the frame, of everything visible, or of what the others were told.
func (s *stage) checkFact(w corpus.Want, line string) {
	f := s.Frame(s.now)
	if row, ok := strings.CutPrefix(w.Name, "row"); ok && row != "s" {
		n, err := strconv.Atoi(row)
		require.NoError(s, err, line)
		require.Equal(s, w.Value, f.Screen.Lines[n], line)
		return
	}
	yes := func(is bool) string { return map[bool]string{true: "yes", false: "no"}[is] }
	var got string
	switch w.Name {
	case "rows":
		got = strings.Join(f.Screen.Lines, "|")
	case "cursor":
		got = fmt.Sprintf("%d,%d", f.Screen.Cursor.Row, f.Screen.Cursor.Col)
	case "blackout":
		if f.Blackout != nil {
			got = f.Blackout.Why
		}
	case "secret":
		got = string(f.Blackout.Secret)
	case "bars":
		got = yes(s.InputRefusal(s.now) != nil)
	case "hides":
		require.NotContains(s, s.allVisible(), w.Value, line)
		return
	case "seen":
		require.Contains(s, s.allVisible(), w.Value, line)
		return
	case "text":
		require.Contains(s, s.rollingText(), w.Value, line)
		return
	case "stars":
		got = fmt.Sprint(strings.Count(s.rollingText(), "*"))
	case "asked", "last":
		var all []string
		for _, p := range s.asked {
			all = append(all, map[bool]string{true: "dismissed", false: cmp.Or(string(p.kind), "over")}[p.allowed])
		}
		if got = strings.Join(all, ","); w.Name == "last" {
			got = all[len(all)-1]
		}
	case "said":
		var all []string
		for _, b := range s.said {
			all = append(all, map[bool]string{true: "on:" + b.Why + ":" + string(b.Secret), false: "off:" + b.Why}[b.On])
		}
		got = strings.Join(all, ",")
	case "blackouts":
		got = fmt.Sprint(len(s.said))
	case "dark":
		got = strings.Join(s.dark, "|")
	case "lingers":
		got = yes(s.privacy.inGracePeriod(s.now))
	case "waiting":
		got = s.waitView().InputWait(s.now)
	case "told":
		got = cmp.Or(string(s.privacy.told.kind), "over")
	default:
		require.FailNow(s, "no such fact", line)
	}
	require.Equal(s, w.Value, got, line)
}
