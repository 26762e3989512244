package protocol

import "fmt"

// Limits of a question for a secret.
const (
	MaxSecretPrompt = 4096 // bytes of the asking program's prompt
	MaxSecretKey    = 256  // bytes of a public key
	MaxSealed       = 2048 // bytes of a sealed answer
	MaxSecret       = 1000 // bytes of an answer, before it is sealed
	MaxAskerChain   = 64   // ancestors of an asker
)

// The kinds of answers.
const (
	SecretHidden  = "secret"  // typed without echo: a password
	SecretText    = "text"    // typed with echo: a user's name
	SecretConfirm = "confirm" // yes, or a refusal
)

// The verdicts of a [SecretAnswer].
const (
	SecretGiven   = "answer"
	SecretRefused = "refuse"
)

// SecretAsk puts a program's question for a secret to the user at the session's own terminal: for a
// sudo, git or ssh that an agent runs outside the session. Only a gateway sends it: to that
// session's proxy and, for [SecretWatch], to owners. It is answered by [SecretAnswer]; a
// [Cancel] withdraws it.
type SecretAsk struct {
	RequestID string      `json:"requestId"`
	SessionID string      `json:"sessionId"`
	Asker     SecretAsker `json:"asker"`
	// Prompt is the program's own text.
	Prompt string `json:"prompt"`
	Kind   string `json:"kind"`
	// Again is set if the same process already had an answer to the same prompt, which was
	// therefore wrong.
	Again bool `json:"again,omitempty"`
	// PublicKeyB64 is the asker's own key, made for this question: a P-256 point, uncompressed.
	PublicKeyB64 []byte `json:"publicKeyB64"`
	// Watched is set if an owner's page shows the question too, so that it can be answered although
	// no person is at the terminal.
	Watched bool `json:"watched,omitempty"`
}

// SecretAsker describes the asker, as a gateway has read it from the kernel.
type SecretAsker struct {
	// Program is the name of the program that gets the answer, Command its command line, and Host
	// the machine that it talks to, if its prompt names one.
	Program string `json:"program"`
	Command string `json:"command"`
	Host    string `json:"host,omitempty"`
	Cwd     string `json:"cwd,omitempty"`
	// Pid and Started (clock ticks since the boot) identify its process.
	Pid     int   `json:"pid"`
	Started int64 `json:"started"`
	// Agent names the agent that started it. Proven is set if a client of this gateway reported
	// that, and it was not concluded from what a program looks like.
	Agent  string `json:"agent,omitempty"`
	Proven bool   `json:"proven,omitempty"`
	// AgentID and TokenID are those of that client, if Proven is set.
	AgentID string `json:"agentId,omitempty"`
	TokenID string `json:"tokenId,omitempty"`
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
	// By names the person elsewhere who answered; "" is the user at the terminal.
	By string `json:"by,omitempty"`
}

// SecretWatch asks for the open questions for secrets and for each later one. It is answered by a
// [SecretAsk] for each open one, then by [Done]. The end of a question is reported by
// [SecretEnded].
type SecretWatch struct {
	RequestID string `json:"requestId"`
}

// SecretEnded reports that a question no longer needs an answer.
type SecretEnded struct {
	// Question is the request id of the [SecretAsk].
	Question  string `json:"question"`
	SessionID string `json:"sessionId"`
	// Verdict is that of the [SecretAnswer]. It is "" if the program no longer waits or, with
	// Moved, if the question is now asked elsewhere.
	Verdict string `json:"verdict,omitempty"`
	By      string `json:"by,omitempty"`
	Moved   bool   `json:"moved,omitempty"`
}

// SecretReply is a person's answer from elsewhere, at an owner's page. The session's proxy checks
// the signature itself; the first answer counts. It is answered by [Done].
type SecretReply struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// Question is the request id of the [SecretAsk].
	Question string `json:"question"`
	Verdict  string `json:"verdict"`
	// SealedB64 is as in [SecretAnswer].
	SealedB64 []byte `json:"sealedB64,omitempty"`
	// At is when it was signed; it is void half a minute later.
	At int64 `json:"at"`
	// SignatureB64 is the Ed25519 signature over Signed.
	SignatureB64 []byte `json:"signatureB64"`
}

// Signed returns the bytes that the owner signs, for this one session: see [ControlDecide.Signed].
// They include the asker's key that the answer is sealed to.
func (m *SecretReply) Signed(startedAt int64, publicKey []byte) []byte {
	return fmt.Appendf(nil, "%s secret\n%s %d\n%s %s %d\n%x\n%x\n",
		Version, lengthPrefixed(m.SessionID), startedAt, lengthPrefixed(m.Question), lengthPrefixed(m.Verdict), m.At,
		publicKey, m.SealedB64)
}

// SealInfo binds an answer to the question that the user read: an answer to another one cannot be
// opened.
func (m *SecretAsk) SealInfo() []byte {
	return []byte(Version + " secret\x00" + m.Kind + "\x00" + m.Prompt)
}

func (m *SecretAsk) check() error {
	c := new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		text("prompt", m.Prompt, MaxSecretPrompt).
		oneOf("kind", m.Kind, SecretHidden, SecretText, SecretConfirm).
		between("publicKeyB64", len(m.PublicKeyB64), 1, MaxSecretKey)
	a := &m.Asker
	c.required("asker.program", a.Program, MaxName).text("asker.command", a.Command, MaxText).
		text("asker.host", a.Host, MaxReason).text("asker.cwd", a.Cwd, MaxText).
		text("asker.agent", a.Agent, MaxName).optionalID("asker.agentId", a.AgentID).
		optionalID("asker.tokenId", a.TokenID).
		between("asker.chain", len(a.Chain), 0, MaxAskerChain)
	for _, name := range a.Chain {
		c.text("asker.chain", name, MaxName)
	}
	return c.done()
}

func (m *SecretAnswer) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		oneOf("verdict", m.Verdict, SecretGiven, SecretRefused).text("by", m.By, MaxName).
		between("sealedB64", len(m.SealedB64), 0, MaxSealed).done()
}

func (m *SecretWatch) check() error { return new(checks).id("requestId", m.RequestID).done() }

func (m *SecretEnded) check() error {
	return new(checks).id("question", m.Question).id("sessionId", m.SessionID).
		oneOf("verdict", m.Verdict, "", SecretGiven, SecretRefused).
		text("by", m.By, MaxName).done()
}

func (m *SecretReply) check() error {
	c := new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		id("question", m.Question).oneOf("verdict", m.Verdict, SecretGiven, SecretRefused).
		between("sealedB64", len(m.SealedB64), 0, MaxSealed)
	switch {
	case m.Verdict == SecretGiven && len(m.SealedB64) == 0:
		c.fail(CodeBadMessage, "sealedB64", "is missing")
	case len(m.SignatureB64) == 0:
		c.fail(CodeBadMessage, "signatureB64", "is missing")
	}
	return c.done()
}
