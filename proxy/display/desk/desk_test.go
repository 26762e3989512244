package desk

import (
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/keys"
)

// stage is a desk with what it says to others.
type stage struct {
	*Desk
	t    *testing.T
	sent []protocol.Message
	told []Outcome
	here bool
	// owners: a page's answer can be checked here
	owners bool
	shown  []string
	key    *ecdh.PrivateKey
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, here: true}
	var err error
	s.key, err = ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(t, err)
	s.Desk = New(Config{
		SessionID: "s", Home: "/home/ada",
		Send:    func(m protocol.Message) { s.sent = append(s.sent, m) },
		Repaint: func() {}, CanAsk: func() bool { return s.here },
		CanAskElsewhere: func() bool { return s.owners }, Show: func(text string) { s.shown = append(s.shown, text) },
		Ended:  func(o Outcome) { s.told = append(s.told, o) },
		Answer: func() string { return "Ctrl+G" }, Refuse: func() string { return `Ctrl+\` },
	})
	return s
}

func (s *stage) ask(id, kind, prompt string) *protocol.SecretAsk {
	m := &protocol.SecretAsk{
		RequestID: id, SessionID: "s", Kind: kind, Prompt: prompt, PublicKeyB64: s.key.PublicKey().Bytes(),
		Asker: protocol.SecretAsker{
			Program: "sudo", Command: "sudo apt-get install jq", Cwd: "/home/ada/app", Pid: 7, Started: int64(len(id)),
			Agent: "claude-code", Proven: true,
		},
	}
	s.Ask(m)
	return m
}

// show has the question on the screen until keys count.
func (s *stage) show() string {
	s.t.Helper()
	line, number := s.ComposeLine(80, 24)
	require.NotZero(s.t, number)
	s.NoteShown(time.Now(), number)
	time.Sleep(2 * time.Second)
	return line
}

// press feeds the user's keys as the pump does, and returns those that the desk did not take.
func (s *stage) press(text string) (rest string) {
	scan := keys.NewScanner(keys.Bindings{}.WithDefaults())
	emit := func(u keys.Unit) {
		now := time.Now()
		behind, took := s.AddKey(now, u, scan.IsInPaste())
		switch {
		case took:
			rest += string(behind)
		case u.Kind == keys.Confirm && s.NoteGrantKey(now):
		case u.Kind == keys.Reclaim && s.NoteReclaimKey(now):
		default:
			rest += string(u.Bytes)
		}
	}
	scan.Scan([]byte(text), emit)
	scan.Flush(emit)
	return rest
}

// answer returns the only answer, and what it says.
func (s *stage) answer(m *protocol.SecretAsk) (*protocol.SecretAnswer, string) {
	s.t.Helper()
	require.Len(s.t, s.sent, 1)
	got, ok := s.sent[0].(*protocol.SecretAnswer)
	require.True(s.t, ok, "%#v", s.sent[0])
	s.sent = nil
	require.Equal(s.t, m.RequestID, got.RequestID)
	require.NoError(s.t, protocol.Check(got))
	if got.Verdict != protocol.SecretGiven {
		require.Empty(s.t, got.SealedB64)
		return got, ""
	}
	k, err := hpke.NewDHKEMPrivateKey(s.key)
	require.NoError(s.t, err)
	text, err := hpke.Open(k, hpke.HKDFSHA256(), hpke.AES128GCM(), m.SealInfo(), got.SealedB64)
	require.NoError(s.t, err)
	return got, string(text)
}

func run(t *testing.T, name string, do func(t *testing.T, s *stage)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			do(t, s)
			if s.lost != nil {
				s.lost.Stop()
			}
		})
	})
}

func TestAQuestionForASecret(t *testing.T) {
	run(t, "answered", func(t *testing.T, s *stage) {
		m := s.ask("1", protocol.SecretHidden, "[sudo] password for ada: ")
		line := strings.Join(strings.Fields(s.show()), " ")
		require.Equal(t, "“Claude Code” wants your password for sudo: “sudo apt-get install jq” in “~/app” · sudo says “[sudo] password for ada:” Ctrl+G answers · Ctrl+\\ refuses", line)
		require.Equal(t, "ls\r", s.press("ls\r"), "without the key, typing is the program's")
		time.Sleep(2 * time.Second)
		require.Empty(t, s.press("\x07"))
		require.Empty(t, s.press("pä\x7fssword"))
		line, _ = s.ComposeLine(80, 24)
		require.Contains(t, line, " password for sudo: •••••••▏")
		require.NotContains(t, line, "ssword:")
		require.NotContains(t, line, "pssword")
		require.Equal(t, "ls", s.press("\rls"), "behind Enter, keys are the program's again")
		_, text := s.answer(m)
		require.Equal(t, "pssword", text)
		require.False(t, s.HasQuestion())
		require.Empty(t, strings.Trim(string(s.text[:cap(s.text)]), "\x00"), "the text is forgotten")
		require.Equal(t, protocol.SecretGiven, s.told[0].Fate)
	})
	run(t, "refused, and the key pressed again", func(t *testing.T, s *stage) {
		m := s.ask("1", protocol.SecretHidden, "")
		s.show()
		require.Empty(t, s.press("\x1c"))
		got, _ := s.answer(m)
		require.Equal(t, protocol.SecretRefused, got.Verdict)
		require.Empty(t, s.press("\x1c\x1c"), "a held key must not reach the program")
		time.Sleep(3 * time.Second)
		require.Equal(t, "\x1c", s.press("\x1c"))
	})
	run(t, "refused while the answer is typed", func(t *testing.T, s *stage) {
		m := s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Empty(t, s.press("\x07secret\x1c"))
		got, _ := s.answer(m)
		require.Equal(t, protocol.SecretRefused, got.Verdict)
	})
	run(t, "refused within a paste", func(t *testing.T, s *stage) {
		m := s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Equal(t, "ls", s.press("\x07\x1b[200~pass\x1cword\r\x1b[201~more\rls"), "the rest of the paste is for no program")
		got, _ := s.answer(m)
		require.Equal(t, protocol.SecretRefused, got.Verdict)
	})
	run(t, "closed by Esc, and asked again", func(t *testing.T, s *stage) {
		m := s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Empty(t, s.press("\x07sec\x03"))
		require.Empty(t, s.sent)
		require.Equal(t, "\x07", s.press("\x07"), "it is not drawn yet")
		s.show()
		require.Empty(t, s.press("\x07ret\r"))
		_, text := s.answer(m)
		require.Equal(t, "ret", text)
	})
	run(t, "a paste, which sends nothing by itself", func(t *testing.T, s *stage) {
		m := s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Empty(t, s.press("\x07\x1b[200~pass\x07 word\r\n\x1b[201~"))
		require.Empty(t, s.sent)
		require.Empty(t, s.press("\r"))
		_, text := s.answer(m)
		require.Equal(t, "pass word", text)
	})
	run(t, "nothing typed sends nothing", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Empty(t, s.press("\x07\r\r"))
		require.Empty(t, s.sent)
		require.True(t, s.IsOpen())
	})
	run(t, "more than can be sent", func(t *testing.T, s *stage) {
		m := s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Empty(t, s.press("\x07"+strings.Repeat("é", 4000)+"\r"))
		_, text := s.answer(m)
		require.Len(t, text, protocol.MaxSecret)
	})
	run(t, "a user's name is shown", func(t *testing.T, s *stage) {
		m := s.ask("1", protocol.SecretText, "Username for 'https://x': ")
		s.show()
		require.Empty(t, s.press("\x07ada"))
		line, _ := s.ComposeLine(80, 24)
		require.Contains(t, line, "answer for sudo: ada▏")
		require.Empty(t, s.press("\r"))
		_, text := s.answer(m)
		require.Equal(t, "ada", text)
	})
	run(t, "a new host", func(t *testing.T, s *stage) {
		const fingerprint = "SHA256:abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq"
		m := s.ask("1", protocol.SecretConfirm, "The authenticity of host 'x' can't be established.\nED25519 key fingerprint is "+fingerprint+".\nAre you sure (yes/no)? ")
		require.Contains(t, s.show(), fingerprint)
		require.Empty(t, s.press("\x07"))
		_, text := s.answer(m)
		require.Equal(t, "yes", text)
		_, number := s.ComposeLine(80, 24)
		require.Zero(t, number)
		s.ask("2", protocol.SecretConfirm, fingerprint)
		_, number = s.ComposeLine(30, 4)
		require.Zero(t, number, "a fingerprint that is cut off cannot be said yes to")
	})
}

func TestAKeyThatIsMeantForSomethingElseAnswersNothing(t *testing.T) {
	run(t, "not drawn", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		require.Equal(t, "\x07\x1c", s.press("\x07\x1c"))
	})
	run(t, "drawn a moment ago, while the user types", func(t *testing.T, s *stage) {
		require.Equal(t, "vi", s.press("vi"))
		s.ask("1", protocol.SecretConfirm, "x")
		_, number := s.ComposeLine(80, 24)
		s.NoteShown(time.Now(), number)
		time.Sleep(time.Second)
		require.Empty(t, s.press("\x07"), "nor is it the program's")
		require.Empty(t, s.sent)
		line, _ := s.ComposeLine(80, 24)
		require.Contains(t, line, "press again: Ctrl+G")
	})
	run(t, "a password behind a key that came too early", func(t *testing.T, s *stage) {
		early := func() {
			require.Equal(t, "vi", s.press("vi"))
			s.ask("1", protocol.SecretHidden, "x")
			_, number := s.ComposeLine(80, 24)
			s.NoteShown(time.Now(), number)
			time.Sleep(time.Second)
			require.Empty(t, s.press("\x07"))
			require.False(t, s.IsOpen())
		}
		for _, text := range []string{"secret\r", "\x1b[200~secret\x1b[201~\r", "sec\x1b"} {
			early()
			require.Empty(t, s.press(text), "it reaches no program")
			require.Equal(t, "l", s.press("l"), "what follows does")
			s.Withdraw("1")
		}
		early()
		time.Sleep(strayFor)
		require.Equal(t, "l", s.press("l"))
		time.Sleep(2 * time.Second)
		require.Empty(t, s.press("\x1c"))
		early()
		require.Empty(t, s.press("\x1c"))
		require.Equal(t, "l", s.press("l"), "the question is refused")
		require.Len(t, s.sent, 2)
	})
	run(t, "covered", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.show()
		s.NoteUnshown()
		require.Equal(t, "\x07", s.press("\x07"))
	})
	run(t, "a report for an earlier question", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		_, number := s.ComposeLine(80, 24)
		s.Withdraw("1")
		s.ask("22", protocol.SecretHidden, "x")
		s.NoteShown(time.Now(), number)
		time.Sleep(2 * time.Second)
		require.Equal(t, "\x07", s.press("\x07"))
	})
	run(t, "as part of a text", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.True(t, s.ConfirmInText())
		require.False(t, s.IsOpen())
	})
}

func TestWhatEndsAQuestion(t *testing.T) {
	run(t, "withdrawn under the user's fingers", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Empty(t, s.press("\x07sec"))
		s.Withdraw("1")
		second := s.ask("22", protocol.SecretHidden, "x")
		require.Empty(t, s.press("ret"), "the rest of a password is for no program")
		line, _ := s.ComposeLine(80, 24)
		require.Contains(t, line, "sudo no longer waits: nothing is sent")
		require.Empty(t, s.press("\r"))
		require.Empty(t, s.sent)
		require.Equal(t, withdrawn, s.told[0].Fate)
		s.show()
		require.Empty(t, s.press("\x07next\r"))
		_, text := s.answer(second)
		require.Equal(t, "next", text)
	})
	run(t, "withdrawn unseen", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.Withdraw("1")
		s.Withdraw("1")
		require.False(t, s.HasQuestion())
		require.Len(t, s.told, 1)
	})
	run(t, "the gateway is lost, and the program asks by another one", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Empty(t, s.press("\x07sec"))
		s.LoseGateway()
		require.Empty(t, s.press("\r"), "no one would get it")
		require.Empty(t, s.sent)
		time.Sleep(time.Second)
		other, err := ecdh.P256().GenerateKey(rand.Reader)
		require.NoError(t, err)
		s.key = other
		again := s.ask("2", protocol.SecretHidden, "x") // of the same process: Started is the same
		time.Sleep(time.Minute)
		require.Empty(t, s.press("ret\r"))
		_, text := s.answer(again)
		require.Equal(t, "secret", text)
	})
	run(t, "the gateway is lost for good", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.LoseGateway()
		time.Sleep(lostFor + time.Second)
		require.False(t, s.HasQuestion())
		require.Empty(t, s.sent)
	})
	run(t, "the user leaves", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Empty(t, s.press("\x07sec"))
		s.Leave()
		require.Equal(t, protocol.CodeUnavailable, s.sent[0].(*protocol.Error).Code)
		require.False(t, s.HasQuestion())
	})
}

func TestWhatIsNotAsked(t *testing.T) {
	run(t, "no one is there", func(t *testing.T, s *stage) {
		s.here = false
		s.ask("1", protocol.SecretHidden, "x")
		require.Equal(t, protocol.CodeUnavailable, s.sent[0].(*protocol.Error).Code)
	})
	run(t, "too many", func(t *testing.T, s *stage) {
		for i := range maxQuestions + 1 {
			s.ask(fmt.Sprint(i), protocol.SecretHidden, fmt.Sprint(i))
		}
		require.Equal(t, protocol.CodeBusy, s.sent[0].(*protocol.Error).Code)
		line, _ := s.ComposeLine(80, 24)
		require.Contains(t, line, "1 of 8: ")
	})
	run(t, "a bad key", func(t *testing.T, s *stage) {
		for _, key := range [][]byte{nil, []byte("x"), make([]byte, 65)} {
			s.Ask(&protocol.SecretAsk{RequestID: "1", Kind: protocol.SecretHidden, PublicKeyB64: key})
		}
		require.Len(t, s.sent, 3)
		require.False(t, s.HasQuestion())
	})
	run(t, "one id twice", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.ask("1", protocol.SecretHidden, "x")
		line, _ := s.ComposeLine(80, 24)
		require.NotContains(t, line, "1 of 2")
	})
	run(t, "another program's with that id", func(t *testing.T, s *stage) {
		first := s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Empty(t, s.press("\x07sec"))
		other := *first
		other.Asker.Pid++
		s.Ask(&other)
		words := *first
		words.Prompt = "y"
		s.Ask(&words)
		require.Empty(t, s.press("ret\r"))
		_, text := s.answer(first)
		require.Equal(t, "secret", text)
		line, _ := s.ComposeLine(80, 24)
		require.Contains(t, line, "1 of 2")
	})
}

// On a window of every width the user reads the whole question or that the window is too small for
// it, and then the last of the dots.
func TestAQuestionAtEveryWidth(t *testing.T) {
	s := newStage(t)
	s.ask("1", protocol.SecretHidden, "[sudo] password for ada: ")
	words := "“Claude Code” wants your password for sudo: “sudo apt-get install jq” in “~/app” · sudo says “[sudo] password for ada:” Ctrl+G answers · Ctrl+\\ refuses"
	join := func(line string) string { return strings.Join(strings.Fields(line), "") }
	sizes := func(check func(at, line string, number uint64, whole bool)) {
		for cols := 20; cols <= 120; cols++ {
			for _, rows := range []int{1, 2, 3, 6, 24} {
				line, number := s.ComposeLine(cols, rows)
				for row := range strings.SplitSeq(line, "\n") {
					require.LessOrEqual(t, displaywidth.String(row), cols, "%dx%d: %q", cols, rows, row)
				}
				require.LessOrEqual(t, 1+strings.Count(line, "\n"), max(1, rows-1), "%dx%d", cols, rows)
				check(fmt.Sprintf("%dx%d: %q", cols, rows, line), line, number, rows == 24)
			}
		}
	}
	sizes(func(at, line string, number uint64, whole bool) {
		if number != 0 {
			require.Contains(t, join(line), join(words[:strings.Index(words, " Ctrl+G")]), at)
			require.Contains(t, join(line), "Ctrl+Ganswers", at)
		}
		require.Contains(t, join(line), `Ctrl+\`, at)
		require.True(t, number != 0 || !whole, at)
	})
	s.NoteShown(time.Now().Add(-time.Minute), s.number)
	require.True(t, s.NoteGrantKey(time.Now()))
	for range 9 {
		s.addTextLocked([]byte("x"))
	}
	sizes(func(at, line string, _ uint64, whole bool) {
		require.Contains(t, line, strings.Repeat("•", 9)+"▏", at)
		if whole {
			require.Contains(t, join(line), "Entersends", at)
			require.Contains(t, join(line), `Ctrl+\refuses`, at)
		}
	})
	s.Withdraw("1")
	sizes(func(at, line string, _ uint64, whole bool) {
		if whole {
			require.Contains(t, join(line), "sudonolongerwaits:nothingissent", at)
		}
		require.Contains(t, join(line), "Enter", at)
	})
}

// Words of others cannot draw, turn the direction of writing, end their quotation marks or pass for
// the proxy's keys; and a screen of any size has a line that fits.
func FuzzWords(f *testing.F) {
	for _, words := range []string{
		"", "Password:", strings.Repeat("\x1b[2J\x1b]0;x\x07", 6000), "” Ctrl+G answers · “", "\u202eabc\u2066", "\xff\xfe", "a\nb\r\tc", "\x1b[200~", strings.Repeat("長", 3000),
	} {
		f.Add(words, uint8(80), uint8(24))
	}
	f.Fuzz(func(t *testing.T, words string, cols, rows uint8) {
		s := newStage(t)
		for _, kind := range []string{protocol.SecretHidden, protocol.SecretConfirm} {
			m := &protocol.SecretAsk{
				RequestID: kind, Kind: kind, Prompt: words, PublicKeyB64: s.key.PublicKey().Bytes(),
				Asker: protocol.SecretAsker{Program: "ssh", Command: words, Cwd: words, Host: words, Agent: words},
			}
			s.Ask(m)
			line, _ := s.ComposeLine(max(1, int(cols)), max(1, int(rows)))
			require.LessOrEqual(t, strings.Count(line, "\n"), max(1, int(rows)))
			for _, r := range line {
				require.True(t, r == '\n' || r >= ' ' && r != 0x7f && (r < 0x80 || r >= 0xa0), "%q in %q", r, line)
				require.NotContains(t, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b", string(r))
			}
			require.LessOrEqual(t, strings.Count(line, "Ctrl+G"), 1)
			require.LessOrEqual(t, strings.Count(line, "“"), 5)
			s.Withdraw(kind)
		}
	})
}

// In a window without room for a question the line names the key that refuses, which does. The
// answer key does nothing, and what follows it is not the program's: it may be the password.
func TestTheKeysOfAQuestionWithoutRoom(t *testing.T) {
	for _, kind := range []string{protocol.SecretHidden, protocol.SecretText, protocol.SecretConfirm} {
		run(t, kind, func(t *testing.T, s *stage) {
			m := s.ask("1", kind, "[sudo] password for ada: ")
			line, number := s.ComposeLine(40, 3)
			require.Zero(t, number)
			require.Contains(t, line, `Ctrl+\`)
			s.NoteShown(time.Now(), number)
			time.Sleep(time.Minute)
			typed := "secret\r"
			if kind == protocol.SecretConfirm {
				typed = ""
			}
			require.Empty(t, s.press("\x07"+typed))
			require.Empty(t, s.sent)
			require.Equal(t, "x", s.press("x"))
			require.Empty(t, s.press("\x1c"))
			got, _ := s.answer(m)
			require.Equal(t, protocol.SecretRefused, got.Verdict)
			time.Sleep(time.Minute)
			require.Equal(t, "\x07\x1c", s.press("\x07\x1c"), "the keys are the program's again")
		})
	}
	run(t, "made smaller", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretConfirm, "yes?")
		s.show()
		s.ComposeLine(40, 3)
		require.Empty(t, s.press("\x07"))
		require.Empty(t, s.sent)
		s.NoteUnshown() // another question covers it: the keys are that one's
		require.Equal(t, "\x07\x1c", s.press("\x07\x1c"))
		s.Withdraw("1")
	})
}

// Text that the user types or pastes goes into the one buffer that is wiped, and nowhere else.
func TestAnAnswerIsNotCopied(t *testing.T) {
	s := newStage(t)
	s.open, s.text = true, make([]byte, 0, protocol.MaxSecret)
	s.queue = []*question{{ask: new(protocol.SecretAsk)}}
	typed := []byte("a pass word äꪪ世")
	for _, pasted := range []bool{false, true} {
		require.Zero(t, testing.AllocsPerRun(10, func() { s.wipeLocked(); s.addBytesLocked(typed, pasted) }))
		require.Equal(t, string(typed), string(s.text))
	}
	require.Empty(t, s.addBytesLocked([]byte("x\x7f\x7f\x15other"), false))
	require.Equal(t, "other", string(s.text))
	require.Empty(t, s.addBytesLocked([]byte("\x9b65;5u"), false), "a sequence is no text")
	require.Equal(t, "other", string(s.text))
	require.Equal(t, "rest", string(s.addBytesLocked([]byte("x\x03rest"), false)))
	require.False(t, s.open)
}
