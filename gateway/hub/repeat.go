package hub

import "terminalproxy/protocol"

// IsRepeatable reports whether a proxy, or another gateway, may get m a second time.
func IsRepeatable(m protocol.Message) bool {
	switch m := m.(type) {
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt, *protocol.ChatAsk:
		return false
	case *protocol.Note, *protocol.Keys, *protocol.Attach: // sendAttached repeats an attach by itself
		return false
	case *protocol.ControlDecide:
		return !m.Widens()
	}
	return true
}

// UncertaintyText returns what to add to a failure of m if it may still have had an effect, or "".
func UncertaintyText(m protocol.Message) string {
	switch m.(type) {
	case *protocol.Input, *protocol.Keys:
		return "; it is unknown whether this was typed: read the screen before you type it again"
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt:
		return "; it is unknown whether the coding agent received it: look at the conversation " +
			"before you repeat it"
	}
	return ""
}
