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

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
)

// answer opens the only answer, to m, and returns its text.
func (s *session) answer(m *protocol.SecretAsk) string {
	s.t.Helper()
	require.Len(s.t, s.sent, 1)
	got, ok := s.sent[0].(*protocol.SecretAnswer)
	require.True(s.t, ok, "%#v", s.sent[0])
	require.NoError(s.t, protocol.Check(got))
	require.Equal(s.t, []string{m.RequestID, protocol.SecretGiven}, []string{got.RequestID, got.Verdict})
	k, err := hpke.NewDHKEMPrivateKey(s.key)
	require.NoError(s.t, err)
	text, err := hpke.Open(k, hpke.HKDFSHA256(), hpke.AES128GCM(), m.SealInfo(), got.SealedB64)
	require.NoError(s.t, err)
	s.sent, s.answers = nil, nil
	return string(text)
}

// The answer is what the user types on its line, whichever way; the rest is the program's.
func TestTheAnswerIsTyped(t *testing.T) {
	for name, c := range map[string]struct{ kind, typed, text, rest, shows string }{
		"edited":            {protocol.SecretHidden, "pä\x7fsswordx\x08\r", "pssword", "", "•••••••"},
		"erased":            {protocol.SecretHidden, "wrong\x15right\r", "right", "", "•••••"},
		"with more behind":  {protocol.SecretHidden, "pass\rls", "pass", "ls", "••••"},
		"pasted":            {protocol.SecretHidden, "\x1b[200~pass\x07 word\r\n\x1b[201~\r", "pass word", "", "•••••••••"},
		"a name":            {protocol.SecretText, "ada\r", "ada", "", "ada"},
		"too long":          {protocol.SecretHidden, strings.Repeat("é", 4000) + "\r", strings.Repeat("é", protocol.MaxSecret/2), "", ""},
		"nothing, and then": {protocol.SecretHidden, "\r\rx\r", "x", "", "•"},
		"of an unknown key": {protocol.SecretHidden, "\x1b[65;5ux\r", "x", "", "•"},
	} {
		s := newSession(t)
		m := s.askSecret(c.kind, ada)
		s.read()
		s.press("\x07")
		line, enter, _ := strings.Cut(c.typed, "\r")
		if strings.Contains(c.typed, "\x1b[200~") {
			line, enter = strings.TrimSuffix(c.typed, "\r"), ""
		}
		s.press(line)
		if c.shows != "" && line != "" {
			require.Equal(t, c.shows, s.Shown().Typed, name)
		}
		s.press("\r" + enter)
		require.Equal(t, c.text, s.answer(m), name)
		require.Equal(t, c.rest, s.typed, name)
		require.Nil(t, s.Current(), name)
	}
}

// A refusal, in each of its moments; what follows goes to no program.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ typed, rest string }{
		"at the question":   {"\x1c\x1c", ""},
		"while it is typed": {"\x07secret\x1c", ""},
		"after a paste":     {"\x07\x1b[200~pass\x1cword\r\x1b[201~\x1cls", "ls"},
	} {
		s := newSession(t)
		s.askSecret(protocol.SecretHidden, ada)
		s.read()
		s.press(c.typed)
		require.Equal(t, []string{"s-1 refuse"}, s.answers, name)
		require.Equal(t, c.rest, s.typed, name)
		require.NotNil(t, s.Admit(s.now, ada), name)
	}
}

// Esc closes the line, and the question has to be read again.
func TestAClosedLineAsksAgain(t *testing.T) {
	s := newSession(t)
	m := s.askSecret(protocol.SecretHidden, ada)
	s.read()
	turn := s.Shown().Turn
	s.press("\x07sec\x03")
	require.NotEqual(t, turn, s.Shown().Turn)
	s.pass(2 * time.Second)
	s.press("\x07\r") // it is not drawn
	require.False(t, s.Shown().Typing)
	s.read()
	s.press("\x07ret\r")
	require.Equal(t, "ret", s.answer(m))
}

// A password behind a Ctrl+G that did not count reaches no program: it came too soon, its question
// has just vanished, or there was no room for that.
func TestAStrayPasswordReachesNoProgram(t *testing.T) {
	for name, c := range map[string]struct {
		reach func(s *session)
		last  string // what follows the key
	}{
		"too soon":              {func(s *session) { s.askSecret(protocol.SecretHidden, ada); s.show() }, "secret\r"},
		"too soon, a paste":     {func(s *session) { s.askSecret(protocol.SecretText, ada); s.show() }, "\x1b[200~secret\x1b[201~\r"},
		"too soon, given up":    {func(s *session) { s.askSecret(protocol.SecretHidden, ada); s.show() }, "sec\x1b"},
		"too soon, in one read": {func(s *session) { s.askSecret(protocol.SecretHidden, ada); s.show(); s.press("\x07secret\r") }, "\r"},
		"without room": {func(s *session) {
			s.askSecret(protocol.SecretHidden, ada)
			s.read()
			s.NoteShown(s.now, 0)
			s.pass(time.Hour)
		}, "secret\r"},
		"vanished": {func(s *session) {
			s.askSecret(protocol.SecretHidden, ada)
			s.read()
			s.desk.Withdraw(s.now, "s-1")
			s.pass(time.Second)
		}, "secret\r"},
		"vanished, and another agent asks": {func(s *session) {
			s.askSecret(protocol.SecretHidden, ada)
			s.read()
			s.desk.Withdraw(s.now, "s-1")
			s.request(bert, "")
			s.show()
			s.pass(time.Second)
		}, "secret\r"},
	} {
		s := newSession(t)
		c.reach(s)
		s.press("\x07")
		require.False(t, s.Shown().Typing, name)
		s.press(c.last)
		require.Empty(t, s.typed, name)
		s.press("l")
		require.Equal(t, "l", s.typed, "%s: what follows does", name)
		require.False(t, s.IsDriven(), name)
	}
	s := newSession(t)
	s.askSecret(protocol.SecretHidden, ada)
	s.read()
	s.desk.Withdraw(s.now, "s-1")
	require.Equal(t, []string{"sudo no longer waits"}, s.outputs)
	s.pass(2 * time.Second)
	s.press("\x07l")
	require.Equal(t, "\x07l", s.typed, "long after, the key is the program's")
}

// A question that ends while the user types leaves its line, which drops the rest.
func TestAQuestionEndsUnderTheUsersFingers(t *testing.T) {
	for name, end := range map[string]func(s *session){
		"sudo no longer waits: nothing is sent": func(s *session) { s.desk.Withdraw(s.now, "s-1") },
		"page-a refused sudo: nothing is sent":  func(s *session) { s.desk.AnswerElsewhere(s.now, "s-1", "page-a", protocol.SecretRefused, nil) },
		"refused: nothing is sent":              func(s *session) { require.NoError(s.t, s.MuteAgent(s.now, "ada", "grace")) },
	} {
		s := newSession(t)
		s.askSecret(protocol.SecretHidden, ada)
		s.read()
		s.press("\x07half a pass")
		second := s.askSecret(protocol.SecretHidden, bert)
		end(s)
		require.Equal(t, name, s.Shown().Closed)
		s.press("word\rls")
		require.Equal(t, "ls", s.typed, name)
		for _, a := range s.answers {
			require.NotContains(t, a, protocol.SecretGiven, name)
		}
		s.sent = nil
		s.read()
		s.press("\x07next\r")
		require.Equal(t, "next", s.answer(second), name)
	}
}

// The first answer counts, and the terminal shows who gave it.
func TestAPageAnswers(t *testing.T) {
	s := newSession(t)
	s.askSecret(protocol.SecretHidden, ada)
	require.NotNil(t, s.desk.FindKey("s-1"))
	require.True(t, s.desk.AnswerElsewhere(s.now, "s-1", "page-a", protocol.SecretGiven, []byte("sealed")))
	require.Equal(t, []protocol.Message{&protocol.SecretAnswer{
		RequestID: "s-1", SessionID: "s", Verdict: protocol.SecretGiven, SealedB64: []byte("sealed"), By: "page-a",
	}}, s.sent)
	require.Equal(t, []string{"page-a answered sudo"}, s.outputs)
	require.Nil(t, s.desk.FindKey("s-1"))
	require.False(t, s.desk.AnswerElsewhere(s.now, "s-1", "page-b", protocol.SecretGiven, nil))

	s = newSession(t)
	first := s.askSecret(protocol.SecretHidden, ada)
	s.askSecret(protocol.SecretHidden, bert)
	s.read()
	s.press("\x07pass")
	require.True(t, s.desk.AnswerElsewhere(s.now, "s-2", "page-a", protocol.SecretRefused, nil))
	require.NotNil(t, s.Admit(s.now, bert), "a page's refusal counts")
	s.sent = nil
	s.press("word\r")
	require.Equal(t, "password", s.answer(first))
}

// Without a person here a program asks only if an owner's page has the question.
func TestNobodyIsHere(t *testing.T) {
	s := newSession(t)
	s.askSecret(protocol.SecretHidden, ada)
	s.watched = true
	s.askSecret(protocol.SecretHidden, bert)
	s.read()
	s.press("\x07pass")
	s.desk.Leave(s.now)
	require.Equal(t, []string{"s-1 the user has left this session's terminal"}, s.answers)
	require.False(t, s.Shown().Typing)
	require.NotNil(t, s.desk.FindKey("s-2"))
	s.away = true
	s.askSecret(protocol.SecretHidden, driver)
	require.NotNil(t, s.desk.FindKey("s-3"))
	s.watched = false
	s.askSecret(protocol.SecretHidden, driver)
	require.Equal(t, "s-4 no one is at this session's terminal", s.answers[1])
}

// While the gateway is lost the question waits for the program to repeat it; nothing else takes its
// place, and no page answers.
func TestTheGatewayIsLost(t *testing.T) {
	s := newSession(t)
	first := s.askSecret(protocol.SecretHidden, ada)
	s.read()
	s.press("\x07sec")
	s.desk.LoseGateway(s.now)
	require.Nil(t, s.desk.FindKey("s-1"))
	s.press("\r")
	require.Empty(t, s.sent)
	for _, change := range []func(*protocol.SecretAsk){
		func(m *protocol.SecretAsk) { m.Asker.Pid++ },
		func(m *protocol.SecretAsk) { m.Prompt = "y" },
		func(m *protocol.SecretAsk) { m.Asker.Command = "sudo bash" },
	} {
		other := *first
		change(&other)
		s.desk.Ask(s.now, &other, ada)
	}
	require.Equal(t, 3, s.Shown().Behind, "they are other questions")
	s.key, _ = ecdh.P256().GenerateKey(rand.Reader)
	again := *first
	again.RequestID, again.PublicKeyB64 = "s-2", s.key.PublicKey().Bytes()
	s.desk.Ask(s.now, &again, ada)
	s.now = s.now.Add(time.Minute)
	s.press("ret\r")
	require.Equal(t, "secret", s.answer(&again))

	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		s.askSecret(protocol.SecretHidden, ada)
		asked := s.now
		s.now = s.now.Add(lostFor) // before the timer starts: it reads the time on its own goroutine
		s.desk.LoseGateway(asked)
		time.Sleep(lostFor)
		synctest.Wait()
		require.Nil(t, s.Current())
	})
}

// A refusal counts for all that an agent asks, and 100 agents are no flood.
func TestLimitsCountByAgentR71(t *testing.T) {
	s := newSession(t)
	s.askSecret(protocol.SecretHidden, ada)
	s.askSecret(protocol.SecretConfirm, ada)
	s.request(bert, "")
	s.read()
	s.press("\x1c")
	require.Equal(t, []string{"s-1 refuse", "s-2 refuse"}, s.answers, "all that it asks")
	require.True(t, s.IsCurrent(question.Keyboard), "but not what others ask")
	s.askSecret(protocol.SecretHidden, question.Agent{Name: "ada 2", Identity: ada.Identity})
	require.Equal(t, "s-3 the user refused you: you may ask again in 10s", s.answers[2])

	s = newSession(t)
	for i := range 100 {
		s.askSecret(protocol.SecretHidden, question.Agent{Name: fmt.Sprint("n", i), Identity: fmt.Sprint("name n", i)})
	}
	require.Equal(t, 4, s.Shown().Behind)
	require.Contains(t, s.answers[0], "too many questions to the user in a short time")
}

func TestABadKeyIsRefused(t *testing.T) {
	s := newSession(t)
	for _, key := range [][]byte{nil, []byte("x"), make([]byte, 65)} {
		s.desk.Ask(s.now, &protocol.SecretAsk{RequestID: "1", Kind: protocol.SecretHidden, PublicKeyB64: key}, ada)
	}
	require.Len(t, s.sent, 3)
	require.Nil(t, s.Current())
}

// The question has who asks, the command, its place and the program's words, in quotation marks.
func TestTheWordsOfAQuestion(t *testing.T) {
	asker := protocol.SecretAsker{Program: "sudo", Command: "sudo apt-get install jq", Cwd: "/home/ada/app", Proven: true}
	m := &protocol.SecretAsk{Kind: protocol.SecretHidden, Prompt: "[sudo] password for ada: ", Asker: asker}
	d := New(Config{Home: "/home/ada"})
	words := func() string { return d.wordQuestion(m, question.Agent{Name: "Claude Code"}) }
	require.Equal(t, "“Claude Code” wants your password for sudo: “sudo apt-get install jq” in “~/app” · sudo says “[sudo] password for ada:”", words())
	m.Again, m.Asker.Proven = true, false
	require.Contains(t, words(), "again, the last answer was wrong: what looks like Claude Code wants")
	require.Contains(t, d.wordQuestion(m, question.Agent{}), "a program of yours wants")
	m.Kind, m.Again, m.Prompt = protocol.SecretConfirm, false, "fingerprint is SHA256:"+strings.Repeat("x", 400)
	require.Contains(t, words(), "needs your yes for sudo")
	require.Contains(t, words(), strings.Repeat("x", 400), "all of what the user says yes to")
}

// Words of others cannot draw, turn the direction of writing, end their quotation marks or pass for
// the proxy's keys.
func FuzzWords(f *testing.F) {
	for _, words := range []string{
		"", "Password:", strings.Repeat("\x1b[2J\x1b]0;x\x07", 6000), "” Ctrl+G answers · “", "\u202eabc\u2066", "\xff\xfe", "a\nb\r\tc", "\x1b[200~", strings.Repeat("長", 3000),
	} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		for _, kind := range []string{protocol.SecretHidden, protocol.SecretConfirm} {
			m := &protocol.SecretAsk{
				Kind: kind, Prompt: words, Asker: protocol.SecretAsker{Program: "ssh", Command: words, Cwd: words, Host: words},
			}
			text := New(Config{}).wordQuestion(m, ada)
			for _, r := range text {
				require.True(t, r >= ' ' && r != 0x7f && (r < 0x80 || r >= 0xa0), "%q in %q", r, text)
				require.NotContains(t, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b", string(r))
			}
			require.NotContains(t, text, "Ctrl+G")
			require.LessOrEqual(t, strings.Count(text, "“"), 5)
		}
	})
}
