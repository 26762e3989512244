package protocol

import "crypto/ed25519"

// The messages between gateway open and the server at which it makes links to web pages.
// PROTOCOL.md describes the messages of the pages themselves, in "Web pages".

// PathLinks is the path at which gateway open makes links.
const PathLinks = "/v1/links"

// MaxPages bounds the pages of one opening, which is what a [PageOpen] starts.
const MaxPages = 8

// minSecret is the length of the shortest secret of an opening.
const minSecret = 20

// PageOpen sets the rights of the pages that enter by links of this connection, and when these
// rights end. It is the first message, and is answered by [PageOpened]. The same secret with the
// same token means the same opening, even over another connection; the newest connection takes it
// over.
type PageOpen struct {
	RequestID string `json:"requestId"`
	Secret    string `json:"secret"`
	// Role is viewer or owner, and not more than the token's.
	Role string `json:"role"`
	// SessionID limits the pages to one session.
	SessionID string `json:"sessionId,omitempty"`
	// ExpiresAt is the requested end; the gateway's answer has the actual one.
	ExpiresAt int64 `json:"expiresAt"`
	// KeysB64 are the keys of the pages that were admitted already, for a restarted server.
	KeysB64 [][]byte `json:"keysB64,omitempty"`
}

// PageCode asks for the code of a new link, which invalidates the previous one. It is answered by
// [PageOpened].
type PageCode struct {
	RequestID string `json:"requestId"`
}

// PageOpened reports the state of an opening; Code is that of a new link, if one was requested.
type PageOpened struct {
	RequestID string `json:"requestId"`
	Role      string `json:"role"`
	ExpiresAt int64  `json:"expiresAt"`
	Code      string `json:"code,omitempty"`
}

// PageKnock reports that a page entered by a link or, with Pending, that it waits for [PageAdmit].
type PageKnock struct {
	PageID  string `json:"pageId"`
	KeyB64  []byte `json:"keyB64"`
	Pending bool   `json:"pending,omitempty"`
}

// PageAdmit is the user's answer to a page.
type PageAdmit struct {
	KeyB64 []byte `json:"keyB64"`
	Admit  bool   `json:"admit"`
}

// PageGone reports that a page ended.
type PageGone struct {
	KeyB64 []byte `json:"keyB64"`
}

// PageClose ends the opening and its pages. It is answered by [Done].
type PageClose struct {
	RequestID string `json:"requestId"`
}

func (m *PageOpen) check() error {
	c := new(checks).id("requestId", m.RequestID).id("secret", m.Secret).
		oneOf("role", m.Role, "viewer", "owner").optionalID("sessionId", m.SessionID)
	if len(m.Secret) < minSecret {
		c.fail(CodeBadMessage, "secret", "has %d characters, it needs at least %d",
			len(m.Secret), minSecret)
	}
	if n := len(m.KeysB64); n > MaxPages {
		c.fail(CodeTooLarge, "keysB64", "has %d keys, the limit is %d", n, MaxPages)
	}
	for _, key := range m.KeysB64 {
		c.checkKey("keysB64", key)
	}
	return c.done()
}

func (c *checks) checkKey(field string, key []byte) *checks {
	if len(key) != ed25519.PublicKeySize {
		c.fail(CodeBadMessage, field, "holds %d bytes, an Ed25519 key has %d",
			len(key), ed25519.PublicKeySize)
	}
	return c
}

func (m *PageCode) check() error { return new(checks).id("requestId", m.RequestID).done() }

func (m *PageOpened) check() error {
	return new(checks).id("requestId", m.RequestID).required("role", m.Role, MaxName).
		text("code", m.Code, MaxName).done()
}

func (m *PageKnock) check() error {
	return new(checks).id("pageId", m.PageID).checkKey("keyB64", m.KeyB64).done()
}

func (m *PageAdmit) check() error { return new(checks).checkKey("keyB64", m.KeyB64).done() }

func (m *PageGone) check() error { return new(checks).checkKey("keyB64", m.KeyB64).done() }

func (m *PageClose) check() error { return new(checks).id("requestId", m.RequestID).done() }
