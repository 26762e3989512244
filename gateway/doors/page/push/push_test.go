package push

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/gateway/doors/page/push/fakepush"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func raw(t *testing.T, s string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(s)
	require.NoError(t, err)
	return b
}

// The example of section 5 and appendix A.
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

func local(t *testing.T) (*fakepush.Service, *Sender) {
	p := fakepush.Serve(t)
	s, err := NewLocal("https://desk.example", p.Roots())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return p, s
}

func TestABrowserReadsWhatAPushServiceGets(t *testing.T) {
	p, s := local(t)
	b := fakepush.NewBrowser(t)
	to, err := s.Subscription(p.URL+"/push/abc?x=1", b.P256DH(), b.Auth())
	require.NoError(t, err)
	for _, text := range []string{`{"agent":"claude"}`, "", strings.Repeat("x", MaxPayload)} {
		require.NoError(t, s.Send(t.Context(), to, Message{Payload: []byte(text), Keep: 10 * time.Minute, Topic: "vim-k3f9"}))
		r := <-p.Received
		require.Equal(t, text, b.Open(r.Body))
		if len(text) == MaxPayload {
			require.Len(t, r.Body, 4096)
		}
		require.Equal(t, "POST /push/abc?x=1", r.Path)
		require.Equal(t, []string{"aes128gcm", "600", "high", "application/octet-stream"},
			[]string{r.Header.Get("Content-Encoding"), r.Header.Get("TTL"), r.Header.Get("Urgency"), r.Header.Get("Content-Type")})
		require.Regexp(t, `^[A-Za-z0-9_-]{32}$`, r.Header.Get("Topic"))
		vouches(t, s, p.URL, r.Header.Get("Authorization"))
	}
	require.ErrorIs(t, s.Send(t.Context(), to, Message{Payload: make([]byte, MaxPayload+1)}), errTooLarge)
}

// vouches checks which sender a request names.
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
	p, s := local(t)
	b := fakepush.NewBrowser(t)
	to, err := s.Subscription(p.URL+"/secret", b.P256DH(), b.Auth())
	require.NoError(t, err)
	for status, want := range map[int]string{404: ErrGone.Error(), 410: ErrGone.Error(), 500: "answered with status 500", 307: "answered with status 307", 201: ""} {
		p.Status.Store(int32(status)) //nolint:gosec // small
		err := s.Send(t.Context(), to, Message{Payload: []byte("x")})
		<-p.Received
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

// A subscription cannot reach a machine of the user's own network, neither by an address nor by a
// name that resolves to one.
func TestASubscriptionCannotReachTheUsersNetwork(t *testing.T) {
	s, err := NewSender("https://desk.example")
	require.NoError(t, err)
	defer s.Close()
	b := fakepush.NewBrowser(t)
	for _, endpoint := range []string{
		"", "http://push.example/x", "https:///x", "https://ada:pw@push.example/x", "ftp://push.example", "https://push.example:8443/x",
		"https://push.example/x#y", "https://push.example/" + strings.Repeat("x", 2048), "https://127.0.0.1/x", "https://[::1]/x", "https://10.0.0.1/x",
		"https://[::ffff:192.168.1.1]/x", "https://169.254.169.254/latest", "https://100.100.100.100/", "https://0.0.0.0/", "https://[fe80::1]/",
		"https://[fd00::1]/", "https://[64:ff9b::a00:1]/", "https://[2002:a00:1::]/", "https://224.0.0.1/", "https://255.255.255.255/",
	} {
		_, err := s.Subscription(endpoint, b.P256DH(), b.Auth())
		require.Error(t, err, endpoint)
	}
	to, err := s.Subscription("https://localhost/x", b.P256DH(), b.Auth())
	require.NoError(t, err, "a name is looked up when it is used")
	require.ErrorIs(t, s.Send(t.Context(), to, Message{Payload: []byte("x")}), errPrivate)
	for _, ip := range []string{"8.8.8.8", "2607:f8b0:4004:800::200e", "::ffff:8.8.8.8"} {
		require.True(t, isPublic(netip.MustParseAddr(ip)), ip)
	}
}

func TestInvalidKeysAreRefused(t *testing.T) {
	p, s := local(t)
	b := fakepush.NewBrowser(t)
	for _, c := range [][2]string{
		{"", b.Auth()},
		{"x", b.Auth()},
		{base64.RawURLEncoding.EncodeToString(make([]byte, 65)), b.Auth()},
		{b.P256DH(), ""},
		{b.P256DH(), "!"},
		{b.P256DH(), base64.RawURLEncoding.EncodeToString(make([]byte, 15))},
	} {
		_, err := s.Subscription(p.URL, c[0], c[1])
		require.ErrorContains(t, err, "field", c)
	}
}
