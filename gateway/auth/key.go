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

// A token is also an Ed25519 key (RFC 8032), made from it alone. A store keeps the public half, so that who holds the
// token can prove it, and sign, towards somebody who reads the store and learns nothing by which to do the same.

// signingKey is the private half.
func signingKey(token string) ed25519.PrivateKey {
	seed := hmac.New(sha256.New, []byte(token))
	seed.Write([]byte("terminal-proxy.v1 key"))
	return ed25519.NewKeyFromSeed(seed.Sum(nil))
}

// publicKey is the public half, as a store keeps it.
func publicKey(token string) string {
	return hex.EncodeToString(signingKey(token)[ed25519.SeedSize:])
}

// Sign signs a message as the holder of a token.
func Sign(token string, message []byte) []byte { return ed25519.Sign(signingKey(token), message) }

func (t Token) signed(message, signature []byte) bool {
	key, err := hex.DecodeString(t.Key)
	return err == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, message, signature)
}

// ErrNotSigned is the error of Owner.
var ErrNotSigned = errors.New("it is not signed by an owner whose token is known here")

// Owner is who signed a message, by the owner's token; the token must stand now.
func (s *Store) Owner(message, signature []byte) (who protocol.Signer, err error) {
	t, err := s.standing(func(t Token) bool { return t.Role == RoleOwner && t.signed(message, signature) })
	if errors.Is(err, ErrUnknownToken) {
		err = ErrNotSigned
	}
	return protocol.Signer{Name: t.Name, Types: t.Types, Session: t.Session}, err
}

// LocalAgent is the name of the local token whose holder signed a message; the token must stand now.
func (s *Store) LocalAgent(message, signature []byte) (name string, err error) {
	t, err := s.standing(func(t Token) bool { return t.Local && t.Role == RoleAgent && t.signed(message, signature) })
	if errors.Is(err, ErrUnknownToken) {
		err = errors.New("it is not signed by an agent whose local token is known here")
	}
	return t.Name, err
}

// Challenge is one proof in both directions that an end knows a token, without the token on the wire: the server shows
// first that it knows the token's hash, and only then the client signs. Ref names the token, and the nonces make every
// exchange another one; all three are hex. It says nothing about the address: whoever can pass the bytes on to the
// real gateway is in the middle of what follows, and only TLS or a Unix socket keeps that out.
type Challenge struct {
	Ref         string
	ClientNonce string
	ServerNonce string
}

const nonceSize = 32

// Nonce is a fresh random number for a [Challenge].
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

// Ref names a token towards a server that has its hash, and says nothing to anybody else.
func Ref(token string) string { return refOfHash(hash(token)) }

func refOfHash(tokenHash string) string {
	sum := sha256.Sum256([]byte("terminal-proxy.v1 ref " + tokenHash))
	return hex.EncodeToString(sum[:8])
}

// words are what an end of the exchange authenticates.
func (c Challenge) words(end string) []byte {
	return []byte("terminal-proxy.v1 " + end + "\n" + c.Ref + "\n" + c.ClientNonce + "\n" + c.ServerNonce + "\n")
}

func (c Challenge) serverProof(tokenHash string) []byte {
	mac := hmac.New(sha256.New, []byte(tokenHash))
	mac.Write(c.words("server"))
	return mac.Sum(nil)
}

// ServerKnows reports whether a server's proof shows that it knows the token.
func (c Challenge) ServerKnows(token string, proof []byte) bool {
	return hmac.Equal(proof, c.serverProof(hash(token)))
}

// Answer is the client's proof; it is for a server that has proven itself.
func (c Challenge) Answer(token string) []byte { return Sign(token, c.words("client")) }

// Prove is the server's proof.
func (s *Store) Prove(c Challenge) ([]byte, error) {
	t, err := s.byRef(c.Ref)
	if err != nil {
		return nil, err
	}
	return c.serverProof(t.Hash), nil
}

// Answered says whose proof an answer is.
func (s *Store) Answered(c Challenge, answer []byte) (Identity, error) {
	t, err := s.byRef(c.Ref)
	if err != nil {
		return Identity{}, err
	}
	if !t.signed(c.words("client"), answer) {
		return Identity{}, ErrUnknownToken
	}
	return t.identity(), nil
}

// byRef is a token that stands now.
func (s *Store) byRef(ref string) (Token, error) {
	return s.standing(func(t Token) bool { return refOfHash(t.Hash) == ref && t.Key != "" && !t.Local })
}
