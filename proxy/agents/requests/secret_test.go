package requests

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// An answer to a program's question is for this question and the asker's own key, and counts once.
// A gateway's word is not enough.
func TestAPageAnswersASecretByItsSignature(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m *protocol.SecretReply, key *[]byte)
		code   protocol.Code
	}{
		"its answer":        {func(*protocol.SecretReply, *[]byte) {}, ""},
		"to another key":    {func(_ *protocol.SecretReply, key *[]byte) { *key = []byte("the gateway's key") }, protocol.CodeForbidden},
		"another question":  {func(m *protocol.SecretReply, _ *[]byte) { m.Question = "p" }, protocol.CodeForbidden},
		"turned into a yes": {func(m *protocol.SecretReply, _ *[]byte) { m.Verdict = protocol.SecretRefused }, protocol.CodeForbidden},
	} {
		answered := new(string)
		s, _, p := pageAt(t, func(c *Config) { c.Desk = stagedDesk{answered} })
		m := &protocol.SecretReply{
			RequestID: "r", SessionID: "sh-1", Question: "q", Verdict: protocol.SecretGiven, SealedB64: []byte("sealed"), At: time.Now().UnixMilli(),
		}
		key := []byte("the asker's key")
		c.change(m, &key)
		m.SignatureB64 = ed25519.Sign(p.private, m.Signed(p.started, key))
		m.Verdict = protocol.SecretGiven
		if c.code != "" {
			s.mustRefuse(t, c.code, m)
			require.Empty(t, *answered, name)
			continue
		}
		s.mustDo(t, m)
		require.Equal(t, "ada answer sealed", *answered)
		require.Equal(t, "the program does not wait for this answer", s.mustRefuse(t, protocol.CodeForbidden, m), "a second time")
		*answered = ""
		s.RemoteGrant, s.Owner = true, nil
		s.mustRefuse(t, protocol.CodeForbidden, m)
		require.Empty(t, *answered)
	}
}
