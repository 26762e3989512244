package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// wireVersion is the version of the messages between gateways. The subjects begin with it, too.
const wireVersion = 1

// Subjects. Each gateway listens to two of its own, and to the heartbeats of all.
const (
	heartbeats = "tp1.hb"
	prefix     = "tp1.gw."
	requests   = ".req" // for this gateway's sessions, from participants of others
	answers    = ".to"  // for participants of this gateway, from others
)

// Operations of a letter.
const (
	opSay   = "say"   // messages of a participant, or for it
	opLeave = "leave" // the participant is gone
	opWork  = "work"  // it has an open request
	opRest  = "rest"  // it has neither an open request nor a connection
	opList  = "list"  // a gateway requests the list of a namespace
	opHost  = "host"  // is that host here?
	opMoved = "moved" // the directory says that a session is no longer the receiver's
)

// letter is a message from one gateway to another: a header, and messages of the wire, one a line.
type letter struct {
	Wire int    `json:"wire"`
	From string `json:"from"` // the sending gateway
	Op   string `json:"op"`
	// Bond is the sender's number for the arrival of the receiving gateway: see beat.
	Bond uint64 `json:"bond,omitempty"`
	// Link and N belong to a participant's route to one session: the route's number at the
	// participant's gateway, and the letter's number in its direction. The first letter has the
	// member.
	Link   string  `json:"link,omitempty"`
	N      uint64  `json:"n,omitempty"`
	Member *member `json:"member,omitempty"`
	// Again: another gateway may have passed the messages on to the session's proxy before.
	Again bool `json:"again,omitempty"`
	// Namespace, Session and Host are the subject of a letter.
	Namespace string `json:"namespace,omitempty"`
	Session   string `json:"session,omitempty"`
	Host      string `json:"host,omitempty"`
	// Generations are the generations of the sessions in a list.
	Generations map[string]uint64 `json:"generations,omitempty"`
	// End says that this letter is the last, and why.
	End string `json:"end,omitempty"`

	messages []protocol.Message
	frames   [][]byte
}

// reply answers a letter: an empty reply accepts it.
type reply struct {
	// Wrong says why the letter was rejected, Code is for the participant.
	Wrong string        `json:"wrong,omitempty"`
	Code  protocol.Code `json:"code,omitempty"`
	// Lost: the route is unknown here, or misses letters.
	Lost bool `json:"lost,omitempty"`
	// Full: the participant has not read its earlier messages.
	Full bool `json:"full,omitempty"`
	Yes  bool `json:"yes,omitempty"`
}

// member describes a participant to another gateway, which looks the token up by itself.
type member struct {
	Token     string     `json:"token"`
	Role      hub.Role   `json:"role"`
	Namespace string     `json:"namespace,omitempty"`
	ID        string     `json:"id"`
	Lasting   bool       `json:"lasting,omitempty"`
	Can       rights.Can `json:"can"`
	Until     int64      `json:"until,omitempty"` // Unix milliseconds
}

func describeMember(m hub.Member) *member {
	out := &member{
		Token:     m.Token,
		Role:      m.Role,
		Namespace: m.Namespace,
		ID:        m.ID,
		Lasting:   m.Lasting,
		Can:       m.Rights.Can,
	}
	if !m.Rights.Until.IsZero() {
		out.Until = m.Rights.Until.UnixMilli()
	}
	return out
}

// rightsEnd returns the end of the member's rights, zero without one.
func (m *member) rightsEnd() time.Time {
	if m.Until == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m.Until)
}

var errWire = errors.New("not a letter of this version of the wire")

// encodeMessages makes the frames of the messages.
func (l *letter) encodeMessages() error {
	l.frames = nil
	for _, m := range l.messages {
		frame, err := protocol.Encode(m)
		if err != nil {
			return err
		}
		l.frames = append(l.frames, frame)
	}
	return nil
}

// seal encodes a letter.
func (l *letter) seal() ([]byte, error) {
	l.Wire = wireVersion
	head, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return bytes.Join(append([][]byte{head}, l.frames...), []byte("\n")), nil
}

// unseal decodes a letter, each message of which may have limit bytes.
func unseal(data []byte, limit int) (*letter, error) {
	lines := bytes.Split(data, []byte("\n"))
	l := &letter{}
	if err := json.Unmarshal(lines[0], l); err != nil {
		return nil, fmt.Errorf("%w: %w", errWire, err)
	}
	if l.Wire != wireVersion {
		return l, fmt.Errorf("%w: this gateway speaks %d, the other one %d", errWire, wireVersion,
			l.Wire)
	}
	for _, frame := range lines[1:] {
		m, err := protocol.Decode(frame, limit)
		if err != nil {
			return l, fmt.Errorf("%w: %w", errWire, err)
		}
		l.messages = append(l.messages, m)
	}
	return l, nil
}

// token encodes a name as part of a subject or key. Different names have different tokens.
func token(name string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	switch {
	case name == "":
		return "="
	case len(name) <= 64 && strings.Trim(name, plain) == "":
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "=" + strings.ToLower(strings.TrimRight(base32.StdEncoding.EncodeToString(sum[:]), "="))
}
