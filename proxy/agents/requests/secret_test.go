package requests

import (
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// An answer to a program's question counts only with an owner's fresh signature over this question,
// this session and the asker's own key: neither a gateway nor another process makes one up.
func TestAPageAnswersASecretByItsSignature(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	signedFor := ""
	setUp := func() (*stage, *string) {
		answered := new(string)
		return newStage(func(c *Config) {
			c.Desk = stagedDesk{answered}
			c.Owner = func(message, signature []byte) (protocol.Signer, error) {
				if !ed25519.Verify(public, message, signature) {
					return protocol.Signer{}, errors.New("no owner's")
				}
				return protocol.Signer{Name: "page-a", Session: signedFor}, nil
			}
		}), answered
	}
	key := []byte("the asker's key")
	reply := func(s *stage, change func(m *protocol.SecretReply, key *[]byte, started *int64)) *protocol.SecretReply {
		m := &protocol.SecretReply{
			RequestID: "r", SessionID: "sh-1", Question: "q", Verdict: protocol.SecretGiven, SealedB64: []byte("sealed"), At: time.Now().UnixMilli(),
		}
		to, started := key, s.Started.UnixMilli()
		if change != nil {
			change(m, &to, &started)
		}
		m.SignatureB64 = ed25519.Sign(private, m.Signed(started, to))
		return m
	}
	s, answered := setUp()
	m := reply(s, nil)
	require.IsType(t, &protocol.Done{}, s.handle(m)[0])
	require.Equal(t, "page-a answer sealed", *answered)
	require.Equal(t, "the program does not wait for this answer", s.mustRefuse(t, protocol.CodeForbidden, m), "a second time")

	for name, change := range map[string]func(m *protocol.SecretReply, key *[]byte, started *int64){
		"to another key":   func(_ *protocol.SecretReply, key *[]byte, _ *int64) { *key = []byte("the gateway's key") },
		"another question": func(m *protocol.SecretReply, _ *[]byte, _ *int64) { m.Question = "p" },
		"another session":  func(_ *protocol.SecretReply, _ *[]byte, started *int64) { *started++ },
		"old":              func(m *protocol.SecretReply, _ *[]byte, _ *int64) { m.At -= 31_000 },
		"to come":          func(m *protocol.SecretReply, _ *[]byte, _ *int64) { m.At += 31_000 },
	} {
		s, answered := setUp()
		s.mustRefuse(t, protocol.CodeForbidden, reply(s, change))
		require.Empty(t, *answered, name)
	}
	for name, change := range map[string]func(m *protocol.SecretReply){
		"turned into a yes": func(m *protocol.SecretReply) { m.Verdict = protocol.SecretGiven },
		"other bytes":       func(m *protocol.SecretReply) { m.SealedB64 = []byte("other") },
		"unsigned":          func(m *protocol.SecretReply) { m.SignatureB64 = []byte("none") },
	} {
		s, answered := setUp()
		m := reply(s, func(m *protocol.SecretReply, _ *[]byte, _ *int64) { m.Verdict = protocol.SecretRefused })
		change(m)
		s.mustRefuse(t, protocol.CodeForbidden, m)
		require.Empty(t, *answered, name)
	}
	signedFor = "another"
	s, answered = setUp()
	s.mustRefuse(t, protocol.CodeForbidden, reply(s, nil))
	require.Empty(t, *answered, "a page that was let in for another session")
	s, answered = setUp()
	s.RemoteGrant, s.Owner = true, nil
	s.mustRefuse(t, protocol.CodeForbidden, reply(s, nil))
	require.Empty(t, *answered, "a gateway's word is not enough")
}
