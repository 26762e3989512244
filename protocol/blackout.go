package protocol

// Blackout reports that something is hidden from agents from now on, or no longer; Why is
// "password" or "user".
type Blackout struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	On        bool   `json:"on"`
	Why       string `json:"reason"`
	// Secret is how certain the proxy is of a password prompt.
	Secret SecretPrompt `json:"secretPrompt,omitempty"`
}

// Hidden describes what is hidden from agents, why, and since when. While a password is asked for,
// only the text to the right of the question is hidden; while the user hides the screen, all of it.
type Hidden struct {
	// Why is "password" or "user".
	Why string `json:"reason"`
	// Secret is how certain the proxy is that a password is asked for.
	Secret  SecretPrompt `json:"secretPrompt,omitempty"`
	SinceMs int64        `json:"sinceMs"`
	// Unattended: no person at the session can answer.
	Unattended bool `json:"unattended,omitempty"`
}

// The reasons of a blackout.
const (
	BlackoutPassword = "password"
	BlackoutUser     = "user"
)

// SecretPrompt is how certain a proxy is that a program asks for a secret.
type SecretPrompt string

// The degrees of certainty.
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
