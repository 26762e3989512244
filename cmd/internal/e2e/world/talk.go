package world

import (
	"testing"
)

// StartTalk runs a coding agent in a terminal, and opens another terminal for an owner.
func StartTalk(t *testing.T) (w *World, s, o *Terminal, id string) {
	t.Helper()
	w = New(t)
	s, o = w.Terminal(80, 24), w.Owner(140, 40)
	s.Run("talker s.cast sh -c 'echo ready; cat'")
	s.Wait("ready")
	return w, s, o, w.Session()
}

// WaitForChat waits for a state of the conversation.
func (w *World) WaitForChat(id, state string, more ...string) {
	w.T.Helper()
	got := ""
	w.Until(func() bool {
		got = ""
		for _, s := range w.Sessions(more...) {
			if s.SessionID == id && s.Chat != nil {
				got = s.Chat.State
			}
		}
		return got == state
	}, func() string { return "it is " + got + " and not " + state })
}
