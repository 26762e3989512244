package protocol

import (
	"fmt"
)

// Widens reports whether the decision gives agents more than they have: control, or a screen that was hidden.
func (m *ControlDecide) Widens() bool {
	if m.Hide != "" {
		return m.Hide == HideOff
	}
	return m.Grant
}

// Signed is what an owner signs: everything that the decision says, for this one session. startedAt is the session's (see
// [SessionInfo.StartedAt]), so that a signature is of no use for another session that happens to have the same id. The
// request's id and the owner's name are not in it: a gateway rewrites both.
func (m *ControlDecide) Signed(startedAt int64) []byte {
	return fmt.Appendf(nil, "%s decide\n%q %d\n%t %q %d %q %q\n%d %d\n",
		Version, m.SessionID, startedAt, m.Grant, m.Level, m.Seconds, m.AgentName, m.Hide, m.Epoch, m.At)
}
