package hub

import "terminalproxy/protocol"

// isRepeatable reports whether a proxy may get m a second time.
func isRepeatable(m protocol.Message) bool {
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

// typingUnknown follows the failure of an input that reached a proxy and got no receipt.
const typingUnknown = "; it is unknown whether this was typed: read the screen before you type " +
	"it again"
