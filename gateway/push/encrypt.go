// Package push sends messages to a browser that is not open: Web Push (RFC 8030), encrypted for the browser alone (RFC 8291), in
// the name of a key of the sender's (VAPID, RFC 8292). It knows nothing of sessions and pages.
package push

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes of RFC 8188 and RFC 8291, in bytes.
const (
	recordSize = 4096 // of the one record; what a push service has to take
	saltSize   = 16
	authSize   = 16
	keySize    = 65 // an uncompressed point of P-256
	// MaxPayload is the largest message: what a record has room for beside the header, the delimiter and the tag.
	MaxPayload = recordSize - saltSize - 4 - 1 - keySize - 1 - 16
)

// errTooLarge is the answer to a message of more than MaxPayload bytes.
var errTooLarge = fmt.Errorf("a push message has at most %d bytes", MaxPayload)

// receiver is the browser's end of a subscription.
type receiver struct {
	key  *ecdh.PublicKey
	auth []byte
}

// readReceiver reads the keys of a subscription, in base64url.
func readReceiver(p256dh, auth string) (receiver, error) {
	raw, err := decode(p256dh)
	if err != nil {
		return receiver{}, errors.New(`field "p256dh": must be base64url`)
	}
	key, err := ecdh.P256().NewPublicKey(raw)
	if err != nil {
		return receiver{}, errors.New(`field "p256dh": must be a point of P-256, 65 bytes`)
	}
	secret, err := decode(auth)
	if err != nil || len(secret) != authSize {
		return receiver{}, errors.New(`field "auth": must be 16 bytes in base64url`)
	}
	return receiver{key: key, auth: secret}, nil
}

// decode takes base64url with its padding or without.
func decode(s string) ([]byte, error) {
	for len(s) > 0 && s[len(s)-1] == '=' {
		s = s[:len(s)-1]
	}
	return base64.RawURLEncoding.DecodeString(s)
}

// seal encrypts a message for a browser, with a key and a salt of its own.
func (r receiver) seal(message []byte) ([]byte, error) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // it does not fail
	return r.sealWith(own, salt, message)
}

func (r receiver) sealWith(own *ecdh.PrivateKey, salt, message []byte) ([]byte, error) {
	if len(message) > MaxPayload {
		return nil, errTooLarge
	}
	aead, nonce, err := r.cipher(own, salt)
	if err != nil {
		return nil, err
	}
	header := binary.BigEndian.AppendUint32(append([]byte{}, salt...), recordSize)
	header = append(append(header, keySize), own.PublicKey().Bytes()...)
	plain := append(append([]byte{}, message...), 2) // the delimiter of the last record
	return aead.Seal(header, nonce, plain, nil), nil
}

// cipher derives key and nonce (RFC 8291, section 3.4).
func (r receiver) cipher(own *ecdh.PrivateKey, salt []byte) (aead cipher.AEAD, nonce []byte, err error) {
	shared, err := own.ECDH(r.key)
	if err != nil {
		return nil, nil, err
	}
	info := "WebPush: info\x00" + string(r.key.Bytes()) + string(own.PublicKey().Bytes())
	input, err := hkdf.Key(sha256.New, shared, r.auth, info, 32)
	if err != nil {
		return nil, nil, err
	}
	key, err := hkdf.Key(sha256.New, input, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, nil, err
	}
	if nonce, err = hkdf.Key(sha256.New, input, salt, "Content-Encoding: nonce\x00", 12); err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	aead, err = cipher.NewGCM(block)
	return aead, nonce, err
}
