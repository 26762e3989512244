package protocol

import "fmt"

// MaxKeys bounds the data of one [Keys], in bytes; MaxPaste is the same for all pieces of a paste
// together.
const (
	MaxKeys  = 2048
	MaxPaste = 256 << 10
)

// Keys holds keys that an owner typed elsewhere, at a page. The session's proxy checks the
// signature itself: a gateway can neither make keys up nor repeat, reorder or omit some. It is
// answered by [Done] when the keys are on their way to the program.
type Keys struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// KeyNo grows with every message signed with the same key. After is the number of the previous
	// message of the owner to this session; 0 starts a new sequence.
	KeyNo uint64 `json:"keyNo"`
	After uint64 `json:"after,omitempty"`
	// At is when the keys were typed; they are void half a minute later.
	At int64 `json:"at"`
	// InputKind is InputKeys, InputText, InputPaste or InputMouse. The data of InputMouse is an
	// action, and a row and a column from 0: "wheel-down*3 12,40".
	InputKind InputKind `json:"kind"`
	Data      string    `json:"data"`
	// More is set on a piece of a paste that another one follows. The paste is typed as a whole,
	// with the last piece.
	More bool `json:"more,omitempty"`
	// SignatureB64 is the Ed25519 signature over Signed.
	SignatureB64 []byte `json:"signatureB64"`
}

// Signed returns the bytes that the owner signs, for this one session: see [ControlDecide.Signed].
func (m *Keys) Signed(startedAt int64) []byte {
	return fmt.Appendf(nil, "%s keys\n%s %d\n%d %d %d\n%s %t %s\n",
		Version, lengthPrefixed(m.SessionID), startedAt, m.KeyNo, m.After, m.At,
		lengthPrefixed(string(m.InputKind)), m.More, lengthPrefixed(m.Data))
}

func (m *Keys) check() error {
	c := new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		required("data", m.Data, MaxKeys).
		oneOf("kind", string(m.InputKind), string(InputKeys), string(InputText), string(InputPaste),
			string(InputMouse))
	switch {
	case m.KeyNo == 0:
		c.fail(CodeBadMessage, "keyNo", "is missing")
	case m.After >= m.KeyNo:
		c.fail(CodeBadMessage, "after", "is %d, must be less than keyNo (%d)", m.After, m.KeyNo)
	case m.More && m.InputKind != InputPaste:
		c.fail(CodeBadMessage, "more", "is only for a paste")
	case len(m.SignatureB64) == 0:
		c.fail(CodeBadMessage, "signatureB64", "is missing")
	}
	return c.done()
}
