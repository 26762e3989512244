package auth

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// keyed makes a store with a token of every role.
func keyed(t *testing.T, now func() time.Time) (*Store, string, map[Role]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "private", "tokens")
	s, err := OpenStore(path, now)
	require.NoError(t, err)
	tokens := make(map[Role]string)
	for _, role := range Roles {
		tokens[role], err = s.Create(Token{Name: "the-" + string(role), Role: role, Expires: time.Unix(2000, 0)})
		require.NoError(t, err)
	}
	return s, path, tokens
}

func TestOnlyAnOwnersSignatureCounts(t *testing.T) {
	now := time.Unix(1000, 0)
	s, _, tokens := keyed(t, func() time.Time { return now })
	message := []byte("give it")
	who, err := s.VerifySigner(message, Sign(tokens[RoleOwner], message))
	require.NoError(t, err)
	require.Equal(t, protocol.Signer{Name: "the-owner"}, who)
	for what, signature := range map[string][]byte{
		"agent": Sign(tokens[RoleAgent], message), "viewer": Sign(tokens[RoleViewer], message), "proxy": Sign(tokens[RoleProxy], message),
		"stranger": Sign("tp_stranger", message), "another message": Sign(tokens[RoleOwner], []byte("give it all")),
		"nothing": nil, "short": {1, 2, 3}, "the hash as the token": Sign(hash(tokens[RoleOwner]), message),
	} {
		_, err := s.VerifySigner(message, signature)
		require.ErrorIs(t, err, ErrNotSigned, what)
	}
	signature := Sign(tokens[RoleOwner], message)
	now = time.Unix(2000, 0)
	_, err = s.VerifySigner(message, signature)
	require.ErrorIs(t, err, ErrNotSigned, "expired")
	now = time.Unix(1000, 0)
	require.NoError(t, s.Revoke("the-owner"))
	_, err = s.VerifySigner(message, signature)
	require.ErrorIs(t, err, ErrNotSigned, "revoked")
}

// R35: both ends prove that they know the token, and neither shows it.
func TestChallengeProvesBothEndsR35(t *testing.T) {
	s, path, tokens := keyed(t, func() time.Time { return time.Unix(1000, 0) })
	token := tokens[RoleAgent]
	c := Challenge{Ref: Ref(token), ClientNonce: Nonce(), ServerNonce: Nonce()}
	require.True(t, ValidNonce(c.ClientNonce))
	proof, err := s.ProveServer(c)
	require.NoError(t, err)
	require.True(t, c.ServerKnows(token, proof))
	who, err := s.VerifyAnswer(c, c.Answer(token))
	require.NoError(t, err)
	require.Equal(t, Identity{Role: RoleAgent, Name: "the-agent", TokenID: hash(token), Expires: time.Unix(2000, 0).UTC()}, who)

	later := c
	later.ServerNonce = Nonce()
	require.False(t, later.ServerKnows(token, proof), "a proof is for one exchange")
	_, err = s.VerifyAnswer(later, c.Answer(token))
	require.ErrorIs(t, err, ErrUnknownToken)
	_, err = s.VerifyAnswer(c, c.Answer(tokens[RoleOwner]))
	require.ErrorIs(t, err, ErrUnknownToken, "another token's answer")
	_, err = s.VerifyAnswer(c, proof)
	require.ErrorIs(t, err, ErrUnknownToken, "the server's own proof")
	_, err = s.ProveServer(Challenge{Ref: Ref("tp_stranger")})
	require.ErrorIs(t, err, ErrUnknownToken)

	// A reader of the store can play the server, but not the client.
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(file), token)
	require.NotContains(t, string(file), hex.EncodeToString(signingKey(token).Seed()))
	_, err = s.VerifyAnswer(c, c.Answer(hash(token)))
	require.ErrorIs(t, err, ErrUnknownToken)
}

// An expired token proves nothing, at either end, and neither does an exchange that began before.
func TestAnExpiredTokenProvesNothing(t *testing.T) {
	now := time.Unix(1000, 0)
	s, _, tokens := keyed(t, func() time.Time { return now })
	token := tokens[RoleAgent]
	c := Challenge{Ref: Ref(token), ClientNonce: Nonce(), ServerNonce: Nonce()}
	_, err := s.ProveServer(c)
	require.NoError(t, err)
	now = time.Unix(2000, 0)
	_, err = s.VerifyAnswer(c, c.Answer(token))
	require.ErrorIs(t, err, ErrUnknownToken)
	_, err = s.ProveServer(c)
	require.ErrorIs(t, err, ErrUnknownToken)
}

// A local token opens no connection.
func TestALocalTokenTellsItsAgentApart(t *testing.T) {
	now := time.Unix(1000, 0)
	s, _, tokens := keyed(t, func() time.Time { return now })
	token, err := s.Create(Token{Name: "claude", Role: RoleAgent, Local: true, Expires: time.Unix(2000, 0)})
	require.NoError(t, err)
	_, err = s.Create(Token{Name: "mine", Role: RoleOwner, Local: true})
	require.ErrorContains(t, err, "only an agent's token can be local")
	message := []byte("let me")
	name, err := s.LocalAgent(message, Sign(token, message))
	require.NoError(t, err)
	require.Equal(t, "claude", name)
	for what, signature := range map[string][]byte{
		"an agent's for gateways": Sign(tokens[RoleAgent], message), "an owner's": Sign(tokens[RoleOwner], message), "another message": Sign(token, []byte("let")), "nothing": nil,
	} {
		_, err := s.LocalAgent(message, signature)
		require.ErrorContains(t, err, "not signed by an agent", what)
	}
	_, err = s.VerifySigner(message, Sign(token, message))
	require.ErrorIs(t, err, ErrNotSigned)
	_, err = s.Verify(token)
	require.ErrorIs(t, err, ErrUnknownToken)
	c := Challenge{Ref: Ref(token), ClientNonce: Nonce(), ServerNonce: Nonce()}
	_, err = s.ProveServer(c)
	require.ErrorIs(t, err, ErrUnknownToken)
	_, err = s.VerifyAnswer(c, c.Answer(token))
	require.ErrorIs(t, err, ErrUnknownToken)
	now = time.Unix(2000, 0)
	_, err = s.LocalAgent(message, Sign(token, message))
	require.Error(t, err, "expired")
}
