package world

import (
	"terminalproxy/protocol"
)

// WaitForApproval waits until a conversation has an approval of a command. The conversation's state
// alone may still belong to the previous approval.
func (w *World) WaitForApproval(id, command string) {
	w.T.Helper()
	w.WaitForLog(id, command)
	w.WaitForChat(id, protocol.ChatApproval)
}
