package desk

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// The first answer counts, whether it comes from the terminal or from a page, and the terminal
// shows who gave it.
func TestTheFirstAnswerToASecretCounts(t *testing.T) {
	run(t, "a page's", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Equal(t, s.key.PublicKey().Bytes(), s.FindKey("1"))
		require.True(t, s.AnswerElsewhere("1", "page-a", protocol.SecretGiven, []byte("sealed")))
		require.Equal(t, []protocol.Message{&protocol.SecretAnswer{
			RequestID: "1", SessionID: "s", Verdict: protocol.SecretGiven, SealedB64: []byte("sealed"), By: "page-a",
		}}, s.sent)
		require.Equal(t, []string{"page-a answered sudo"}, s.shown)
		require.Equal(t, "page-a", s.told[0].By)
		require.False(t, s.HasQuestion())
		require.Nil(t, s.FindKey("1"))
		require.False(t, s.AnswerElsewhere("1", "page-b", protocol.SecretGiven, []byte("late")))
		require.Len(t, s.sent, 1)
	})
	run(t, "the terminal's", func(t *testing.T, s *stage) {
		m := s.ask("1", protocol.SecretHidden, "x")
		s.show()
		require.Empty(t, s.press("\x07word\r"))
		require.False(t, s.AnswerElsewhere("1", "page-a", protocol.SecretRefused, nil))
		got, text := s.answer(m)
		require.Equal(t, "word", text)
		require.Empty(t, got.By)
		require.Empty(t, s.shown)
	})
	run(t, "a page's, while the user types at the terminal", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.ask("22", protocol.SecretHidden, "the next one")
		s.show()
		require.Empty(t, s.press("\x07half a pass"))
		require.True(t, s.AnswerElsewhere("1", "page-a", protocol.SecretRefused, nil))
		line, _ := s.ComposeLine(80, 24)
		require.Contains(t, line, "page-a refused sudo: nothing is sent")
		require.Equal(t, "ls", s.press("word\rls"), "the rest is for no program")
		require.Len(t, s.sent, 1, "and answers no other question")
		require.NotNil(t, s.FindKey("22"))
	})
	run(t, "a page's, to the second of two", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.ask("22", protocol.SecretHidden, "y")
		s.show()
		require.Empty(t, s.press("\x07pass"))
		require.True(t, s.AnswerElsewhere("22", "page-a", protocol.SecretRefused, nil))
		require.Empty(t, s.press("word\r"))
		require.Len(t, s.sent, 2)
		require.Equal(t, "1", protocol.RequestID(s.sent[1]))
	})
}

// A person who left the terminal is asked if an owner's page has the question, and only then.
func TestASecretIsAskedForAtAPageAlone(t *testing.T) {
	watched := func(s *stage, id string) {
		s.Ask(&protocol.SecretAsk{
			RequestID: id, SessionID: "s", Kind: protocol.SecretHidden, PublicKeyB64: s.key.PublicKey().Bytes(), Watched: true,
			Asker: protocol.SecretAsker{Program: "sudo", Command: "sudo true", Pid: 7},
		})
	}
	run(t, "who is away", func(t *testing.T, s *stage) {
		s.here = false
		s.ask("1", protocol.SecretHidden, "x")
		require.Equal(t, protocol.CodeUnavailable, s.sent[0].(*protocol.Error).Code)
		watched(s, "22")
		require.Len(t, s.sent, 2, "this session knows no owners")
		s.owners = true
		watched(s, "333")
		require.Len(t, s.sent, 2)
		require.True(t, s.AnswerElsewhere("333", "page-a", protocol.SecretRefused, nil))
	})
	run(t, "who leaves", func(t *testing.T, s *stage) {
		s.owners = true
		s.ask("1", protocol.SecretHidden, "x")
		watched(s, "22")
		s.show()
		require.Empty(t, s.press("\x07pass"))
		s.Leave()
		require.Len(t, s.sent, 1)
		require.Equal(t, "1", protocol.RequestID(s.sent[0]))
		require.False(t, s.IsOpen())
		require.NotNil(t, s.FindKey("22"))
	})
}

// While the gateway is lost, an answer from a page waits for the question to come again.
func TestNoPageAnswersWhileTheGatewayIsLost(t *testing.T) {
	run(t, "", func(t *testing.T, s *stage) {
		s.ask("1", protocol.SecretHidden, "x")
		s.LoseGateway()
		require.Nil(t, s.FindKey("1"))
		require.False(t, s.AnswerElsewhere("1", "page-a", protocol.SecretRefused, nil))
		s.ask("1", protocol.SecretHidden, "x")
		require.NotNil(t, s.FindKey("1"))
	})
}
