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

	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/rights"
	"terminalproxy/protocol"
)

// wireVersion is that of what gateways say to each other. The subjects begin with it, too.
const wireVersion = 1

// The subjects. Each gateway listens to two of its own, and to the heartbeats of all.
const (
	heartbeats = "tp1.hb"
	prefix     = "tp1.gw."
	requests   = ".req" // what participants of other gateways want of this one's sessions
	answers    = ".to"  // what participants of this gateway get from others
)

// What a letter is about.
const (
	opSay   = "say"   // messages of a participant, or for it
	opLeave = "leave" // the participant is gone
	opWork  = "work"  // it has a request under way
	opRest  = "rest"  // it has none, and no connection
	opList  = "list"  // a gateway wants to be told of the sessions of a namespace
	opHost  = "host"  // is that host here?
	opMoved = "moved" // the directory says that a session is no longer the receiver's
)

// letter is what one gateway tells another: a header, and messages of the wire, one a line.
type letter struct {
	Wire int    `json:"wire"`
	From string `json:"from"` // the sending gateway
	Op   string `json:"op"`
	// Bond names the coming of the receiving gateway, for the sender: see beat.
	Bond uint64 `json:"bond,omitempty"`
	// Link and N are of a participant's way to one session: its number at the gateway where the participant is, and the letter's number
	// in its direction. The first letter has the member.
	Link   string  `json:"link,omitempty"`
	N      uint64  `json:"n,omitempty"`
	Member *member `json:"member,omitempty"`
	// Again: another gateway may have passed the messages on to the session's proxy before.
	Again bool `json:"again,omitempty"`
	// Namespace, Session and Host are what a letter is about.
	Namespace string `json:"namespace,omitempty"`
	Session   string `json:"session,omitempty"`
	Host      string `json:"host,omitempty"`
	// Generations are those of the sessions in a list.
	Generations map[string]uint64 `json:"generations,omitempty"`
	// End says that nothing follows, and why.
	End string `json:"end,omitempty"`

	messages []protocol.Message
	frames   [][]byte
}

// reply answers a letter: all empty is taken.
type reply struct {
	// Wrong says why the letter was not taken, Code is for the participant.
	Wrong string        `json:"wrong,omitempty"`
	Code  protocol.Code `json:"code,omitempty"`
	// Lost: the link is not known here, or letters of it are missing.
	Lost bool `json:"lost,omitempty"`
	// Full: the participant has not read what it was told before.
	Full bool `json:"full,omitempty"`
	Yes  bool `json:"yes,omitempty"`
}

// member is a participant as one gateway describes it to another, which looks the token up by itself.
type member struct {
	Token     string     `json:"token"`
	Role      hub.Role   `json:"role"`
	Namespace string     `json:"namespace,omitempty"`
	ID        string     `json:"id"`
	Lasting   bool       `json:"lasting,omitempty"`
	Can       rights.Can `json:"can"`
	Until     int64      `json:"until,omitempty"` // Unix milliseconds
}

func describe(m hub.Member) *member {
	out := &member{Token: m.Token, Role: m.Role, Namespace: m.Namespace, ID: m.ID, Lasting: m.Lasting, Can: m.Rights.Can}
	if !m.Rights.Until.IsZero() {
		out.Until = m.Rights.Until.UnixMilli()
	}
	return out
}

// until is the end of what the member may do, zero for none.
func (m *member) until() time.Time {
	if m.Until == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m.Until)
}

var errWire = errors.New("not a letter of this version of the wire")

// seal makes the bytes of a letter.
func (l *letter) seal() ([]byte, error) {
	l.Wire = wireVersion
	head, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return bytes.Join(append([][]byte{head}, l.frames...), []byte("\n")), nil
}

// unseal reads a letter, each message of which may have limit bytes.
func unseal(data []byte, limit int) (*letter, error) {
	lines := bytes.Split(data, []byte("\n"))
	l := &letter{}
	if err := json.Unmarshal(lines[0], l); err != nil {
		return nil, fmt.Errorf("%w: %w", errWire, err)
	}
	if l.Wire != wireVersion {
		return l, fmt.Errorf("%w: this gateway speaks %d, the other one %d", errWire, wireVersion, l.Wire)
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

// token is a name as a part of a subject or key. Two names have never the same.
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
