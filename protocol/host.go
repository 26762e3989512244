package protocol

// The messages of hosts, which start sessions without a user's terminal, and of people who attach
// to such a session.

// MaxViewerInput bounds the data of one [ViewerInput], in bytes.
const MaxViewerInput = 2048

// minHostKey is the length of the shortest key of a host: it has to be a secret.
const minHostKey = 20

// ProxyHost declares that a proxy can start sessions over this connection, but only for agents that
// present the same key. It is answered by [Done].
type ProxyHost struct {
	RequestID string `json:"requestId"`
	// HostKey is a secret that the host shares with the agent that launched it.
	HostKey string `json:"hostKey"`
}

// ProxyStart asks a host to start a headless session.
type ProxyStart struct {
	RequestID string   `json:"requestId"`
	Command   string   `json:"command"`
	Args      []string `json:"args,omitempty"`
	Cwd       string   `json:"cwd,omitempty"`
	Env       []string `json:"env,omitempty"`
	Cols      int      `json:"cols,omitempty"`
	Rows      int      `json:"rows,omitempty"`
	AgentID   string   `json:"agentId,omitempty"`
	Name      string   `json:"name,omitempty"`
	AgentName string   `json:"agentName,omitempty"`
	// HostKey selects the host by the secret that it shares only with this agent. A gateway never
	// forwards it.
	HostKey string `json:"hostKey,omitempty"`
}

// ProxyStarted answers a [ProxyStart].
type ProxyStarted struct {
	ID        string `json:"id"`
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Attach attaches a person to a headless session, with a terminal of this size. Sent again, it
// changes the size. The screen itself comes with [Watch].
type Attach struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// ViewerID names the person's connection; the gateway fills it in.
	ViewerID string `json:"viewerId,omitempty"`
	Cols     int    `json:"cols"`
	Rows     int    `json:"rows"`
}

// Detach reports that a person left. It comes from the viewer itself, its gateway, or the proxy if
// the person pressed the keys for it.
type Detach struct {
	SessionID string `json:"sessionId"`
	ViewerID  string `json:"viewerId,omitempty"`
}

// ViewerInput is an attached person's typing, as their terminal sent it.
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

func (m *ProxyStart) check() error {
	c := new(checks).id("requestId", m.RequestID).required("command", m.Command, MaxInput).
		text("cwd", m.Cwd, MaxInput).
		optionalID("agentId", m.AgentID).text("name", m.Name, MaxName).
		text("agentName", m.AgentName, MaxName).
		optionalID("hostKey", m.HostKey)
	return c.between("cols", m.Cols, 0, MaxSize).between("rows", m.Rows, 0, MaxSize).
		done()
}

func (m *ProxyStarted) check() error {
	return new(checks).id("id", m.ID).id("requestId", m.RequestID).
		optionalID("sessionId", m.SessionID).done()
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
