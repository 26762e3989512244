package protocol

import "fmt"

// Widens reports whether the decision gives agents more than they have: control, a screen that was
// hidden, or a voice.
func (m *ControlDecide) Widens() bool {
	switch {
	case m.Hide != "":
		return m.Hide == HideOff
	case m.Mute != "":
		return m.Mute == MuteOff
	case m.Refuse:
		return false
	}
	return m.Grant
}

// Signed is what an owner signs: everything that the decision says, for this one session. startedAt
// is the session's (see [SessionInfo.StartedAt]), so that a signature is of no use for another
// session that happens to have the same id. The request's id and the owner's name are not in it: a
// gateway rewrites both.
func (m *ControlDecide) Signed(startedAt int64) []byte {
	signed := fmt.Appendf(nil, "%s decide\n%s %d\n%t %s %d %s %s\n%d %d\n",
		Version, counted(m.SessionID), startedAt, m.Grant, counted(string(m.Level)), m.Seconds,
		counted(m.AgentName), counted(m.Hide), m.Epoch, m.At)
	if m.Mute != "" || m.Refuse {
		signed = fmt.Appendf(signed, "%s %t\n", counted(m.Mute), m.Refuse)
	}
	return signed
}

// Signed is what the holder of a token signs who asks for control: everything that the request says
// but for what a gateway rewrites, for this one session. startedAt is as in [ControlDecide.Signed].
func (m *ControlRequest) Signed(startedAt int64) []byte {
	return fmt.Appendf(nil, "%s request\n%s %d\n%s %d %s\n%s %s\n%d %d\n",
		Version, counted(m.SessionID), startedAt, counted(string(m.Level)), m.Seconds,
		counted(m.Why), counted(m.Program), counted(m.Parent), m.Epoch, m.At)
}

// counted returns a string behind its length in bytes, so that no signed field can be moved into
// another.
func counted(s string) string { return fmt.Sprintf("%d:%s", len(s), s) }

// Signer is the owner who signed a message, as the session's own machine knows them.
type Signer struct {
	Name string
	// Types says that the owner may type into a user's own terminal.
	Types bool
	// Session is the only one in which the owner may decide and type, "" for all.
	Session string
}
