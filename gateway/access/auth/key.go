package auth

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"terminalproxy/protocol"
)

// A token is also an Ed25519 key (RFC 8032), derived from the token alone. A store keeps the public
// half. So the holder can prove the token to a reader of the store, and sign for it, while the
// reader can do neither.

// signingKey derives the private half.
func signingKey(token string) ed25519.PrivateKey {
	seed := hmac.New(sha256.New, []byte(token))
	seed.Write([]byte("terminal-proxy.v1 key"))
	return ed25519.NewKeyFromSeed(seed.Sum(nil))
}

// publicKey derives the public half, as a store keeps it.
func publicKey(token string) string {
	return hex.EncodeToString(signingKey(token)[ed25519.SeedSize:])
}

// Sign signs a message as the holder of a token.
func Sign(token string, message []byte) []byte { return ed25519.Sign(signingKey(token), message) }

func (t Token) verifySignature(message, signature []byte) bool {
	key, err := hex.DecodeString(t.Key)
	return err == nil && len(key) == ed25519.PublicKeySize &&
		ed25519.Verify(key, message, signature)
}

// ErrNotSigned is the error of VerifySigner for an unknown signer.
var ErrNotSigned = errors.New("it is not signed by an owner whose token is known here")

// VerifySigner returns the owner whose valid token signed a message.
func (s *Store) VerifySigner(message, signature []byte) (signer protocol.Signer, err error) {
	t, err := s.findValid(func(t Token) bool {
		return t.Role == RoleOwner && t.verifySignature(message, signature)
	})
	if errors.Is(err, ErrUnknownToken) {
		err = ErrNotSigned
	}
	return protocol.Signer{Name: t.Name, Types: t.Types, Session: t.Session}, err
}

// LocalAgent returns the name of the valid local token whose holder signed a message.
func (s *Store) LocalAgent(message, signature []byte) (name string, err error) {
	t, err := s.findValid(func(t Token) bool {
		return t.Local && t.Role == RoleAgent && t.verifySignature(message, signature)
	})
	if errors.Is(err, ErrUnknownToken) {
		err = errors.New("it is not signed by an agent whose local token is known here")
	}
	return t.Name, err
}

// Challenge is a mutual proof that both ends have a token, without sending the token. The server
// first proves that it has the token's hash; only then the client signs. Ref names the token, and
// the nonces make every exchange unique; all three are hex. The proof does not cover the address: a
// man in the middle who can forward the bytes to the real gateway stays in the middle. Only TLS or
// a Unix socket prevents that.
type Challenge struct {
	Ref         string
	ClientNonce string
	ServerNonce string
}

const nonceSize = 32

// Nonce returns a new random number for a [Challenge].
func Nonce() string {
	raw := make([]byte, nonceSize)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return hex.EncodeToString(raw)
}

// ValidNonce reports whether n can be a nonce.
func ValidNonce(n string) bool {
	raw, err := hex.DecodeString(n)
	return err == nil && len(raw) == nonceSize
}

// Ref names a token to a server that has its hash, and reveals nothing to others.
func Ref(token string) string { return refOfHash(hash(token)) }

func refOfHash(tokenHash string) string {
	sum := sha256.Sum256([]byte("terminal-proxy.v1 ref " + tokenHash))
	return hex.EncodeToString(sum[:8])
}

// signedText returns the bytes that an end of the exchange authenticates.
func (c Challenge) signedText(end string) []byte {
	return []byte("terminal-proxy.v1 " + end + "\n" + c.Ref + "\n" + c.ClientNonce + "\n" +
		c.ServerNonce + "\n")
}

func (c Challenge) serverProof(tokenHash string) []byte {
	mac := hmac.New(sha256.New, []byte(tokenHash))
	mac.Write(c.signedText("server"))
	return mac.Sum(nil)
}

// ServerKnows reports whether a server's proof shows that it has the token's hash.
func (c Challenge) ServerKnows(token string, proof []byte) bool {
	return hmac.Equal(proof, c.serverProof(hash(token)))
}

// Answer returns the client's proof, for a server that has proven itself.
func (c Challenge) Answer(token string) []byte { return Sign(token, c.signedText("client")) }

// ProveServer returns the server's proof.
func (s *Store) ProveServer(c Challenge) ([]byte, error) {
	t, err := s.byRef(c.Ref)
	if err != nil {
		return nil, err
	}
	return c.serverProof(t.Hash), nil
}

// VerifyAnswer returns the identity that an answer proves.
func (s *Store) VerifyAnswer(c Challenge, answer []byte) (Identity, error) {
	t, err := s.byRef(c.Ref)
	if err != nil {
		return Identity{}, err
	}
	if !t.verifySignature(c.signedText("client"), answer) {
		return Identity{}, ErrUnknownToken
	}
	return t.identity(), nil
}

// byRef returns the valid token with a reference.
func (s *Store) byRef(ref string) (Token, error) {
	return s.findValid(func(t Token) bool {
		return refOfHash(t.Hash) == ref && t.Key != "" && !t.Local
	})
}
