// Package push sends messages to a browser that may be closed: Web Push (RFC 8030), encrypted for
// that browser (RFC 8291) and signed by the sender (VAPID, RFC 8292). It depends on neither
// sessions nor pages.
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
	recordSize = 4096 // of the single record, which every push service must accept
	saltSize   = 16
	authSize   = 16
	keySize    = 65 // an uncompressed point of P-256
	// MaxPayload is the largest message: a record without the header, the delimiter and the tag.
	MaxPayload = recordSize - saltSize - 4 - 1 - keySize - 1 - 16
)

// errTooLarge is the error for a message of more than MaxPayload bytes.
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

// decode reads base64url with or without padding.
func decode(s string) ([]byte, error) {
	for len(s) > 0 && s[len(s)-1] == '=' {
		s = s[:len(s)-1]
	}
	return base64.RawURLEncoding.DecodeString(s)
}

// sealMessage encrypts a message for a browser, with a new key and salt.
func (r receiver) sealMessage(message []byte) ([]byte, error) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails (crypto/rand)
	return r.sealWith(own, salt, message)
}

func (r receiver) sealWith(own *ecdh.PrivateKey, salt, message []byte) ([]byte, error) {
	if len(message) > MaxPayload {
		return nil, errTooLarge
	}
	aead, nonce, err := r.deriveCipher(own, salt)
	if err != nil {
		return nil, err
	}
	header := binary.BigEndian.AppendUint32(append([]byte{}, salt...), recordSize)
	header = append(append(header, keySize), own.PublicKey().Bytes()...)
	plain := append(append([]byte{}, message...), 2) // the delimiter of the last record
	return aead.Seal(header, nonce, plain, nil), nil
}

// deriveCipher derives key and nonce (RFC 8291, section 3.4).
func (r receiver) deriveCipher(
	own *ecdh.PrivateKey, salt []byte,
) (aead cipher.AEAD, nonce []byte, err error) {
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
	nonce, err = hkdf.Key(sha256.New, input, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	aead, err = cipher.NewGCM(block)
	return aead, nonce, err
}
