package protocol

// Blackout says that something is kept from agents from now on, or no longer; Why is "password" or
// "user".
type Blackout struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	On        bool   `json:"on"`
	Why       string `json:"reason"`
	// Secret says how sure the proxy is of a password's prompt.
	Secret SecretPrompt `json:"secretPrompt,omitempty"`
}

// Hidden says that something is kept from agents, why, and since when. While a password is asked
// for, the screen is shown but for what stands right of the question; while the user hides the
// screen, nothing of it is.
type Hidden struct {
	// Why is "password" or "user".
	Why string `json:"reason"`
	// Secret says how sure the proxy is that a password is asked for.
	Secret  SecretPrompt `json:"secretPrompt,omitempty"`
	SinceMs int64        `json:"sinceMs"`
	// Unattended: the session has no person in front of it who could answer.
	Unattended bool `json:"unattended,omitempty"`
}

// The reasons of a blackout.
const (
	BlackoutPassword = "password"
	BlackoutUser     = "user"
)

// SecretPrompt says how sure a proxy is that a program asks for a secret.
type SecretPrompt string

// The kinds of prompts.
const (
	SecretNone SecretPrompt = ""
	SecretHard SecretPrompt = "hard" // the terminal's line settings say so
	SecretSoft SecretPrompt = "soft" // it looks like one; the user can dismiss it
)

// ByUser reports whether the user hides the screen. w may be nil.
func (w *Hidden) ByUser() bool { return w != nil && w.Why == BlackoutUser }

func (c *checks) checkBlackout(field string, w *Hidden) *checks {
	if w == nil {
		return c
	}
	return c.oneOf(field+".reason", w.Why, BlackoutPassword, BlackoutUser).
		checkSecret(field+".secretPrompt", w.Secret)
}

func (c *checks) checkSecret(field string, s SecretPrompt) *checks {
	return c.oneOf(field, string(s), string(SecretNone), string(SecretHard), string(SecretSoft))
}

func (m *Blackout) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).
		oneOf("reason", m.Why, BlackoutPassword, BlackoutUser).
		checkSecret("secretPrompt", m.Secret).done()
}
