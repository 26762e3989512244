package push

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func raw(t *testing.T, s string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(s)
	require.NoError(t, err)
	return b
}

// TestTheExampleOfRFC8291 is section 5 and appendix A of it.
func TestTheExampleOfRFC8291(t *testing.T) {
	r, err := readReceiver(
		"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "BTBZMqHH6r4Tts7J_aSIgg")
	require.NoError(t, err)
	own, err := ecdh.P256().NewPrivateKey(raw(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	require.NoError(t, err)
	body, err := r.sealWith(own, raw(t, "DGv6ra1nlYgDCS1FRnbzlw"), []byte("When I grow up, I want to be a watermelon"))
	require.NoError(t, err)
	require.Equal(t, "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
		base64.RawURLEncoding.EncodeToString(body))
}

// browser is a subscription's own end: it reads what it is sent, by RFC 8188 and RFC 8291 and not by this package.
type browser struct {
	t    *testing.T
	key  *ecdh.PrivateKey
	auth []byte
}

func newBrowser(t *testing.T) *browser {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(t, err)
	b := &browser{t: t, key: key, auth: make([]byte, 16)}
	_, _ = rand.Read(b.auth)
	return b
}

func (b *browser) p256dh() string  { return base64.URLEncoding.EncodeToString(b.key.PublicKey().Bytes()) }
func (b *browser) authKey() string { return base64.RawURLEncoding.EncodeToString(b.auth) }

func (b *browser) open(body []byte) string {
	b.t.Helper()
	salt, size, length := body[:16], binary.BigEndian.Uint32(body[16:20]), int(body[20])
	require.LessOrEqual(b.t, len(body), int(size))
	sender, err := ecdh.P256().NewPublicKey(body[21 : 21+length])
	require.NoError(b.t, err)
	shared, err := b.key.ECDH(sender)
	require.NoError(b.t, err)
	prk, err := hkdf.Extract(sha256.New, shared, b.auth)
	require.NoError(b.t, err)
	expand := func(prk []byte, info string, n int) []byte {
		out, err := hkdf.Expand(sha256.New, prk, info, n)
		require.NoError(b.t, err)
		return out
	}
	ikm := expand(prk, "WebPush: info\x00"+string(b.key.PublicKey().Bytes())+string(sender.Bytes()), 32)
	prk, err = hkdf.Extract(sha256.New, ikm, salt)
	require.NoError(b.t, err)
	block, err := aes.NewCipher(expand(prk, "Content-Encoding: aes128gcm\x00", 16))
	require.NoError(b.t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(b.t, err)
	plain, err := gcm.Open(nil, expand(prk, "Content-Encoding: nonce\x00", 12), body[21+length:], nil)
	require.NoError(b.t, err)
	message, last := strings.CutSuffix(string(plain), "\x02")
	require.True(b.t, last)
	return message
}

// service is a push service on this machine.
type service struct {
	*httptest.Server
	status atomic.Int32
	came   chan *http.Request
	bodies chan []byte
}

func newService(t *testing.T) (*service, *Sender) {
	p := &service{came: make(chan *http.Request, 10), bodies: make(chan []byte, 10)}
	p.status.Store(http.StatusCreated)
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.came <- r
		p.bodies <- body
		w.Header().Set("Location", "https://127.0.0.1:1/elsewhere")
		w.WriteHeader(int(p.status.Load()))
	}))
	t.Cleanup(p.Close)
	s, err := newSender("https://desk.example", true)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	s.client.Transport.(*http.Transport).TLSClientConfig = p.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	return p, s
}

func TestABrowserReadsWhatAPushServiceGets(t *testing.T) {
	p, s := newService(t)
	b := newBrowser(t)
	to, err := s.Subscription(p.URL+"/push/abc?x=1", b.p256dh(), b.authKey())
	require.NoError(t, err)
	for _, text := range []string{`{"agent":"claude"}`, "", strings.Repeat("x", MaxPayload)} {
		require.NoError(t, s.Send(t.Context(), to, Message{Payload: []byte(text), Keep: 10 * time.Minute, Topic: "vim-k3f9"}))
		r, body := <-p.came, <-p.bodies
		require.Equal(t, text, b.open(body))
		if len(text) == MaxPayload {
			require.Len(t, body, 4096)
		}
		require.Equal(t, "POST /push/abc?x=1", r.Method+" "+r.URL.String())
		require.Equal(t, []string{"aes128gcm", "600", "high", "application/octet-stream"},
			[]string{r.Header.Get("Content-Encoding"), r.Header.Get("TTL"), r.Header.Get("Urgency"), r.Header.Get("Content-Type")})
		require.Regexp(t, `^[A-Za-z0-9_-]{32}$`, r.Header.Get("Topic"))
		vouches(t, s, p.URL, r.Header.Get("Authorization"))
	}
	require.ErrorIs(t, s.Send(t.Context(), to, Message{Payload: make([]byte, MaxPayload+1)}), errTooLarge)
}

// vouches checks who a request says it is from.
func vouches(t *testing.T, s *Sender, origin, header string) {
	t.Helper()
	rest, ok := strings.CutPrefix(header, "vapid t=")
	require.True(t, ok)
	token, key, ok := strings.Cut(rest, ", k=")
	require.True(t, ok)
	require.Equal(t, s.Key(), key)
	part := strings.Split(token, ".")
	require.Len(t, part, 3)
	require.JSONEq(t, `{"typ":"JWT","alg":"ES256"}`, string(raw(t, part[0])))
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	require.NoError(t, json.Unmarshal(raw(t, part[1]), &claims))
	require.Equal(t, []string{origin, "https://desk.example"}, []string{claims.Aud, claims.Sub})
	left := time.Until(time.Unix(claims.Exp, 0))
	require.True(t, left > time.Hour && left < 24*time.Hour)
	point := raw(t, key)
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	require.NoError(t, err)
	signature, sum := raw(t, part[2]), sha256.Sum256([]byte(part[0]+"."+part[1]))
	require.Len(t, signature, 64)
	require.True(t, ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])))
}

func TestWhatAPushServiceAnswers(t *testing.T) {
	p, s := newService(t)
	b := newBrowser(t)
	to, err := s.Subscription(p.URL+"/secret", b.p256dh(), b.authKey())
	require.NoError(t, err)
	for status, want := range map[int]string{404: ErrGone.Error(), 410: ErrGone.Error(), 500: "it answers 500", 307: "it answers 307", 201: ""} {
		p.status.Store(int32(status)) //nolint:gosec // small
		err := s.Send(t.Context(), to, Message{Payload: []byte("x")})
		<-p.bodies
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
		require.Equal(t, status == 404 || status == 410, errors.Is(err, ErrGone))
	}
	p.Close()
	err = s.Send(t.Context(), to, Message{})
	require.ErrorContains(t, err, "push service 127.0.0.1")
	require.NotContains(t, err.Error(), "secret")
}

// Nobody reaches a machine of the user's own network by a subscription: neither by an address nor by a name that points there.
func TestNoSubscriptionLeadsHome(t *testing.T) {
	s, err := NewSender("https://desk.example")
	require.NoError(t, err)
	defer s.Close()
	b := newBrowser(t)
	for _, endpoint := range []string{
		"", "http://push.example/x", "https:///x", "https://ada:pw@push.example/x", "ftp://push.example", "https://push.example:8443/x",
		"https://push.example/x#y", "https://push.example/" + strings.Repeat("x", 2048), "https://127.0.0.1/x", "https://[::1]/x", "https://10.0.0.1/x",
		"https://[::ffff:192.168.1.1]/x", "https://169.254.169.254/latest", "https://100.100.100.100/", "https://0.0.0.0/", "https://[fe80::1]/",
		"https://[fd00::1]/", "https://[64:ff9b::a00:1]/", "https://[2002:a00:1::]/", "https://224.0.0.1/", "https://255.255.255.255/",
	} {
		_, err := s.Subscription(endpoint, b.p256dh(), b.authKey())
		require.Error(t, err, endpoint)
	}
	to, err := s.Subscription("https://localhost/x", b.p256dh(), b.authKey())
	require.NoError(t, err, "a name is looked up when it is used")
	require.ErrorIs(t, s.Send(t.Context(), to, Message{Payload: []byte("x")}), errPrivate)
	for _, ip := range []string{"8.8.8.8", "2607:f8b0:4004:800::200e", "::ffff:8.8.8.8"} {
		require.True(t, public(netip.MustParseAddr(ip)), ip)
	}
}

func TestKeysThatAreNone(t *testing.T) {
	p, s := newService(t)
	b := newBrowser(t)
	for _, c := range [][2]string{
		{"", b.authKey()}, {"x", b.authKey()}, {base64.RawURLEncoding.EncodeToString(make([]byte, 65)), b.authKey()},
		{b.p256dh(), ""}, {b.p256dh(), "!"}, {b.p256dh(), base64.RawURLEncoding.EncodeToString(make([]byte, 15))},
	} {
		_, err := s.Subscription(p.URL, c[0], c[1])
		require.ErrorContains(t, err, "field", c)
	}
}
