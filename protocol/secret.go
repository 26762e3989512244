package protocol

// Limits of a question for a secret.
const (
	MaxSecretPrompt = 4096 // bytes of the asking program's own words
	MaxSecretKey    = 256  // bytes of a public key
	MaxSealed       = 2048 // bytes of a sealed answer
	MaxSecret       = 1000 // bytes of an answer, before it is sealed
	MaxAskerChain   = 64   // ancestors of an asker
)

// The kinds of answers.
const (
	SecretHidden  = "secret"  // typed without echo: a password
	SecretText    = "text"    // typed as it is read: a user's name
	SecretConfirm = "confirm" // yes, or a refusal
)

// The verdicts of a [SecretAnswer].
const (
	SecretGiven   = "answer"
	SecretRefused = "refuse"
)

// SecretAsk puts a program's question for a secret to the user at the session's own terminal: for a
// sudo, git or ssh that an agent runs outside the session. Only a gateway sends it, and to no one
// else. It is answered by [SecretAnswer]; a [Cancel] takes it back.
type SecretAsk struct {
	RequestID string      `json:"requestId"`
	SessionID string      `json:"sessionId"`
	Asker     SecretAsker `json:"asker"`
	// Prompt is the program's own words.
	Prompt string `json:"prompt"`
	Kind   string `json:"kind"`
	// Again says that the same process has had an answer to the same words: it was a wrong one.
	Again bool `json:"again,omitempty"`
	// PublicKeyB64 is the asker's own key, made for this question: a P-256 point, uncompressed.
	PublicKeyB64 []byte `json:"publicKeyB64"`
}

// SecretAsker says who asks, as a gateway has read it from the kernel.
type SecretAsker struct {
	// Program is the name of the program that gets the answer, Command its command line, and Host
	// the machine that it talks to, where its words name one.
	Program string `json:"program"`
	Command string `json:"command"`
	Host    string `json:"host,omitempty"`
	Cwd     string `json:"cwd,omitempty"`
	// Pid and Started (clock ticks since the boot) name its process.
	Pid     int   `json:"pid"`
	Started int64 `json:"started"`
	// Agent names the agent that started it. Proven says that a client of this gateway, and not the
	// look of a program, says so.
	Agent  string `json:"agent,omitempty"`
	Proven bool   `json:"proven,omitempty"`
	// Chain holds the names of the program's ancestors, the nearest first.
	Chain []string `json:"chain,omitempty"`
}

// SecretAnswer answers a [SecretAsk].
type SecretAnswer struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Verdict   string `json:"verdict"`
	// SealedB64 is the answer for the asker alone: HPKE (RFC 9180) in base mode with DHKEM(P-256,
	// HKDF-SHA256), HKDF-SHA256 and AES-128-GCM, the encapsulated key first, bound to SealInfo.
	SealedB64 []byte `json:"sealedB64,omitempty"`
}

// SealInfo binds an answer to what the user read: an answer to other words does not open.
func (m *SecretAsk) SealInfo() []byte {
	return []byte(Version + " secret\x00" + m.Kind + "\x00" + m.Prompt)
}

func (m *SecretAsk) check() error {
	c := new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		text("prompt", m.Prompt, MaxSecretPrompt).
		oneOf("kind", m.Kind, SecretHidden, SecretText, SecretConfirm).
		between("publicKeyB64", int64(len(m.PublicKeyB64)), 1, MaxSecretKey)
	a := &m.Asker
	c.required("asker.program", a.Program, MaxName).text("asker.command", a.Command, MaxText).
		text("asker.host", a.Host, MaxReason).text("asker.cwd", a.Cwd, MaxText).
		text("asker.agent", a.Agent, MaxName).
		between("asker.chain", int64(len(a.Chain)), 0, MaxAskerChain)
	for _, name := range a.Chain {
		c.text("asker.chain", name, MaxName)
	}
	return c.done()
}

func (m *SecretAnswer) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		oneOf("verdict", m.Verdict, SecretGiven, SecretRefused).
		between("sealedB64", int64(len(m.SealedB64)), 0, MaxSealed).done()
}
