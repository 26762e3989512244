package protocol

// The messages of hosts, which start sessions without a user's terminal, and of people who attach
// to such a session.

// MaxViewerInput bounds the data of one [ViewerInput], in bytes.
const MaxViewerInput = 2048

// minHostKey is the length of the shortest key of a host: it has to be a secret.
const minHostKey = 20

// ProxyHost says that this connection of a proxy's can start sessions, only for the agents that
// show the same key. It is answered by [Done].
type ProxyHost struct {
	RequestID string `json:"requestId"`
	// HostKey is a secret that the host shares with the agent that launched it.
	HostKey string `json:"hostKey"`
}

// Attach says that a person sits down in front of a headless session, with a terminal of this size.
// Sent again, it says that the size changed. The screen itself comes with [Watch].
type Attach struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// ViewerID names the person's connection; the gateway fills it in.
	ViewerID string `json:"viewerId,omitempty"`
	Cols     int    `json:"cols"`
	Rows     int    `json:"rows"`
}

// Detach says that a person left: the viewer itself, its gateway, or the proxy, when the person
// pressed the keys for it.
type Detach struct {
	SessionID string `json:"sessionId"`
	ViewerID  string `json:"viewerId,omitempty"`
}

// ViewerInput is what an attached person typed, as their terminal sent it.
type ViewerInput struct {
	SessionID string `json:"sessionId"`
	ViewerID  string `json:"viewerId,omitempty"`
	DataB64   []byte `json:"dataB64"`
}

func (m *ProxyHost) check() error {
	c := new(checks).id("requestId", m.RequestID).id("hostKey", m.HostKey)
	if len(m.HostKey) < minHostKey {
		c.fail(CodeBadMessage, "hostKey", "has %d characters, a secret needs at least %d",
			len(m.HostKey), minHostKey)
	}
	return c.done()
}

func (m *Attach) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("viewerId", m.ViewerID).size(m.Cols, m.Rows).done()
}

func (m *Detach) check() error {
	return new(checks).id("sessionId", m.SessionID).optionalID("viewerId", m.ViewerID).done()
}

func (m *ViewerInput) check() error {
	c := new(checks).id("sessionId", m.SessionID).optionalID("viewerId", m.ViewerID)
	if len(m.DataB64) == 0 || len(m.DataB64) > MaxViewerInput {
		c.fail(CodeBadMessage, "dataB64", "holds %d bytes, it must hold 1 to %d",
			len(m.DataB64), MaxViewerInput)
	}
	return c.done()
}
