package hub

import "terminalproxy/protocol"

// unsupportedPart describes the part of m that the session's proxy does not know, or returns "".
func (s *session) unsupportedPart(m protocol.Message) string {
	switch m := m.(type) {
	case *protocol.Input:
		if len(m.Parts) > 0 && !s.info.Parts {
			return "no parts: send one input after another"
		}
		if m.HasSteps() && !s.info.Steps {
			return "no until between parts: send one input, then wait, then the next"
		}
	case *protocol.ControlDecide:
		if m.Mute != "" && m.Hide == "" && !s.info.Mutes {
			return "no muting: refuse the agent, or take the keyboard back"
		}
	case *protocol.Keys:
		if !s.takesKeys {
			return "no keys from pages: start the program with a newer one"
		}
	case *protocol.ChatAsk:
		if !s.takesAsks {
			return "no requests from other agents: start the program with a newer one"
		}
	}
	return ""
}
