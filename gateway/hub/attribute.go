package hub

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"terminalproxy/protocol"
)

// attributedCopy returns a copy of m for the proxy, under the wire's id. Its sender is the one that
// the gateway knows; what m claims is ignored.
func (p *Peer) attributedCopy(m protocol.Message, wireID string) protocol.Message {
	out := protocol.Forward(m, wireID, p.member.ID)
	switch out := out.(type) {
	case *protocol.ControlRequest:
		out.AgentName, out.TokenID = p.displayName(out.AgentName), p.member.TokenID
	case *protocol.ControlRelease:
		out.Gone = false
	case *protocol.ControlDecide:
		out.By = p.displayName(out.By)
	case *protocol.Close:
		if p.member.Role != RoleAgent {
			out.AgentID = ""
		}
	case *protocol.ProxyStart:
		out.AgentName, out.HostKey = p.displayName(out.AgentName), ""
	case *protocol.Note:
		return p.attributedNote(out, wireID)
	case *protocol.ChatSend:
		out.AgentID, out.By = p.speakerOf(out.By)
	case *protocol.ChatAnswer:
		_, out.By = p.speakerOf(out.By)
	case *protocol.ChatInterrupt:
		out.AgentID, out.By = p.speakerOf(out.By)
	case *protocol.ChatAsk:
		out.AgentName, out.TokenID = p.displayName(out.AgentName), p.member.TokenID
	}
	return out
}

// attributedNote returns a participant's note for the proxy, with the author as the gateway knows
// it. An agent writes to the user; all others write to the agent, for the user.
func (p *Peer) attributedNote(m *protocol.Note, wireID string) *protocol.Note {
	out := &protocol.Note{RequestID: wireID, SessionID: m.SessionID, Text: m.Text}
	if p.member.Role == RoleAgent {
		out.From, out.AgentID, out.TokenID = protocol.FromAgent, p.member.ID, p.member.TokenID
		out.AgentName = p.displayName(m.AgentName)
		return out
	}
	out.From, out.By = protocol.FromUser, p.displayName(m.By)
	return out
}

// speakerOf names a participant in a conversation: an agent by its id, a person by a name.
func (p *Peer) speakerOf(claimed string) (agentID, by string) {
	if p.member.Role == RoleAgent {
		return p.member.ID, ""
	}
	return "", p.displayName(claimed)
}

// displayName returns the name for people: the one that the gateway knows, else the claimed one.
func (p *Peer) displayName(claimed string) string {
	if p.member.Named {
		return p.member.Name
	}
	return cmp.Or(claimed, p.member.Name, p.member.ID)
}

// wireID returns a request id that is unique across agents and the same for a repeated request. The
// proxy uses it to recognise input that it has already typed.
func wireID(agentID, id string) string {
	if whole := agentID + ":" + id; len(whole) <= protocol.MaxID {
		return whole
	}
	sum := sha256.Sum256([]byte(id))
	return agentID + ":" + hex.EncodeToString(sum[:16])
}

// ownID returns the agent's id of a request, or "" if the wire's id does not contain it.
func ownID(agentID, wireID string) string {
	if id, ok := strings.CutPrefix(wireID, agentID+":"); ok {
		return id
	}
	return ""
}
