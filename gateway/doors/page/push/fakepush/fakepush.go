// Package fakepush is a push service on this machine, with the browser's side of a subscription,
// which decrypts messages by RFC 8188 and RFC 8291. Only tests import it.
package fakepush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Pushed is a request for a browser.
type Pushed struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Service receives messages for browsers, and answers with Status.
type Service struct {
	*httptest.Server
	Status   atomic.Int32
	Received chan Pushed
}

// Serve starts a service with TLS, which ends with the test.
func Serve(t *testing.T) *Service {
	s := &Service{Received: make(chan Pushed, 100)}
	s.Status.Store(http.StatusCreated)
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", "https://127.0.0.1:1/elsewhere")
		w.WriteHeader(int(s.Status.Load()))
		s.Received <- Pushed{r.Method + " " + r.URL.String(), r.Header, body}
	}))
	t.Cleanup(s.Close)
	return s
}

// Roots returns the certificates of the service.
func (s *Service) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

// Browser is the browser's side of a subscription.
type Browser struct {
	t    *testing.T
	key  *ecdh.PrivateKey
	auth []byte
}

// NewBrowser creates the keys of a subscription.
func NewBrowser(t *testing.T) *Browser {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(t, err)
	b := &Browser{t: t, key: key, auth: make([]byte, 16)}
	_, _ = rand.Read(b.auth)
	return b
}

// P256DH returns the public key as a browser sends it.
func (b *Browser) P256DH() string {
	return base64.URLEncoding.EncodeToString(b.key.PublicKey().Bytes())
}

// Auth returns the secret of the subscription as a browser sends it.
func (b *Browser) Auth() string { return base64.RawURLEncoding.EncodeToString(b.auth) }

// Open decrypts a message.
func (b *Browser) Open(body []byte) string {
	b.t.Helper()
	salt, size, length := body[:16], binary.BigEndian.Uint32(body[16:20]), int(body[20])
	require.LessOrEqual(b.t, len(body), int(size))
	sender, err := ecdh.P256().NewPublicKey(body[21 : 21+length])
	require.NoError(b.t, err)
	shared, err := b.key.ECDH(sender)
	require.NoError(b.t, err)
	prk := b.hkdfExtract(shared, b.auth)
	info := "WebPush: info\x00" + string(b.key.PublicKey().Bytes()) + string(sender.Bytes())
	ikm := b.hkdfExpand(prk, info, 32)
	prk = b.hkdfExtract(ikm, salt)
	block, err := aes.NewCipher(b.hkdfExpand(prk, "Content-Encoding: aes128gcm\x00", 16))
	require.NoError(b.t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(b.t, err)
	nonce := b.hkdfExpand(prk, "Content-Encoding: nonce\x00", 12)
	plain, err := gcm.Open(nil, nonce, body[21+length:], nil)
	require.NoError(b.t, err)
	message, last := strings.CutSuffix(string(plain), "\x02")
	require.True(b.t, last)
	return message
}

func (b *Browser) hkdfExtract(secret, salt []byte) []byte {
	b.t.Helper()
	out, err := hkdf.Extract(sha256.New, secret, salt)
	require.NoError(b.t, err)
	return out
}

func (b *Browser) hkdfExpand(prk []byte, info string, n int) []byte {
	b.t.Helper()
	out, err := hkdf.Expand(sha256.New, prk, info, n)
	require.NoError(b.t, err)
	return out
}
