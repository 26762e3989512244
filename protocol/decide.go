package protocol

import "fmt"

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
	// Strings carry their length in bytes: no field can be moved into another.
	text := func(s string) string { return fmt.Sprintf("%d:%s", len(s), s) }
	return fmt.Appendf(nil, "%s decide\n%s %d\n%t %s %d %s %s\n%d %d\n", Version, text(m.SessionID), startedAt,
		m.Grant, text(string(m.Level)), m.Seconds, text(m.AgentName), text(m.Hide), m.Epoch, m.At)
}
