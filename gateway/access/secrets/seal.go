package secrets

import (
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"terminalproxy/protocol"
)

// Key decrypts the answer to one question.
type Key struct{ private hpke.PrivateKey }

// NewKey makes the key of one question.
func NewKey() (*Key, error) {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	k, err := hpke.NewDHKEMPrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return &Key{k}, nil
}

// Public returns the public key, to which the answer is sealed.
func (k *Key) Public() []byte { return k.private.PublicKey().Bytes() }

// nameOfKey returns the name that a process has while it asks with a key. No other process can give
// it that name, so another process that has the helper's connection cannot ask with a key of its
// own. The kernel keeps 15 bytes of a name, here 90 bits.
func nameOfKey(public []byte) string {
	sum := sha256.Sum256(public)
	return base64.RawURLEncoding.EncodeToString(sum[:])[:15]
}

// Open decrypts the answer to a question with this prompt.
func (k *Key) Open(kind, prompt string, sealed []byte) ([]byte, error) {
	info := (&protocol.SecretAsk{Kind: kind, Prompt: prompt}).SealInfo()
	text, err := hpke.Open(k.private, hpke.HKDFSHA256(), hpke.AES128GCM(), info, sealed)
	if err != nil {
		return nil, fmt.Errorf("the answer is not for this question: %w", err)
	}
	return text, nil
}
