package push

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ErrGone means that the browser has ended the subscription.
var ErrGone = errors.New("the browser has ended the subscription")

// signedFor is how long a signature is valid, at most a day (RFC 8292, section 2).
const signedFor = 12 * time.Hour

// Subscription is the address and the keys of a browser that accepts messages.
type Subscription struct {
	endpoint *url.URL
	receiver receiver
}

// Sender sends messages signed by its key. Its methods are safe for concurrent use.
type Sender struct {
	key     *ecdsa.PrivateKey
	public  string // in base64url
	contact string
	client  *http.Client
	private bool // in tests, a push service may be on this machine
}

// NewSender returns a sender with a new key. contact is a URL by which a push service can complain,
// https: or mailto:.
func NewSender(contact string) (*Sender, error) { return newSender(contact, false) }

// NewLocal returns a sender that reaches push services on this machine, for tests. roots certify
// them.
func NewLocal(contact string, roots *x509.CertPool) (*Sender, error) {
	s, err := newSender(contact, true)
	if err == nil {
		s.client = newClient(true, roots)
	}
	return s, err
}

func newSender(contact string, private bool) (*Sender, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	return &Sender{
		key: key, public: base64.RawURLEncoding.EncodeToString(point), contact: contact,
		client: newClient(private, nil), private: private,
	}, nil
}

// Key returns the public key, which a browser needs to subscribe: a point of P-256 in base64url.
func (s *Sender) Key() string { return s.public }

// Close closes idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Subscription parses a browser's subscription. Its error is a sentence that names the field.
func (s *Sender) Subscription(endpoint, p256dh, auth string) (Subscription, error) {
	u, err := checkEndpoint(endpoint, s.private)
	if err != nil {
		return Subscription{}, err
	}
	r, err := readReceiver(p256dh, auth)
	return Subscription{endpoint: u, receiver: r}, err
}

// Message is a message for a browser.
type Message struct {
	Payload []byte        // at most MaxPayload bytes
	Keep    time.Duration // how long a push service keeps it for an unreachable browser
	Topic   string        // a later message of the same topic replaces it there; may be ""
}

// Send sends a message. The error is ErrGone if the subscription has ended.
func (s *Sender) Send(ctx context.Context, to Subscription, m Message) error {
	req, err := s.newRequest(ctx, to, m)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		// The whole error names the endpoint, which must stay secret.
		if fault, ok := errors.AsType[*url.Error](err); ok {
			err = fault.Err
		}
		return fmt.Errorf("push service %s: %w", to.endpoint.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return ErrGone
	case resp.StatusCode >= 300:
		return fmt.Errorf("push service %s answered with status %d", to.endpoint.Host, resp.StatusCode)
	}
	return nil
}

// newRequest builds the request for a message, encrypted and signed.
func (s *Sender) newRequest(
	ctx context.Context, to Subscription, m Message,
) (*http.Request, error) {
	body, err := to.receiver.sealMessage(m.Payload)
	if err != nil {
		return nil, err
	}
	signed, err := s.signVAPID(to.endpoint, time.Now())
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(
		ctx, http.MethodPost, to.endpoint.String(), bytes.NewReader(body),
	)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", signed)
	req.Header.Set("Content-Encoding", "aes128gcm")
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("TTL", strconv.Itoa(int(m.Keep.Seconds())))
	req.Header.Set("Urgency", "high")
	if m.Topic != "" {
		// at most 32 characters of base64url (RFC 8030, section 5.4)
		sum := sha256.Sum256([]byte(m.Topic))
		req.Header.Set("Topic", base64.RawURLEncoding.EncodeToString(sum[:])[:32])
	}
	return req, nil
}

// signVAPID returns the sender's authorization for one push service (RFC 8292): a JSON Web Token
// signed by ES256.
func (s *Sender) signVAPID(endpoint *url.URL, now time.Time) (string, error) {
	claims, err := json.Marshal(map[string]any{
		"aud": endpoint.Scheme + "://" + endpoint.Host, "exp": now.Add(signedFor).Unix(),
		"sub": s.contact,
	})
	if err != nil {
		return "", err
	}
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(token))
	r, v, err := ecdsa.Sign(rand.Reader, s.key, sum[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	v.FillBytes(signature[32:])
	return "vapid t=" + token + "." + base64.RawURLEncoding.EncodeToString(signature) + ", k=" +
		s.public, nil
}
