package world

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/detached/keep"
)

// EndsKept ends what a failed test would leave behind.
func (w *World) EndsKept() {
	w.T.Cleanup(func() {
		for _, p := range w.Processes() {
			if pid, line, _ := strings.Cut(p, " "); strings.HasPrefix(line, keep.Name) && w.T.Failed() {
				w.Kill(pid, syscall.SIGTERM)
			}
		}
	})
}

// Detach presses the menu's key to leave, and waits for the shell, with the terminal as it was.
func (s *Terminal) Detach(id string) {
	s.W.T.Helper()
	s.Press(`C-\`)
	s.Wait("d detaches")
	s.Press("d")
	s.WaitDetached(id, "detached; gateway attach "+id+" comes back")
}

// WaitDetached waits until the session has released the window.
func (s *Terminal) WaitDetached(id, say string) {
	s.W.T.Helper()
	s.See(say, func(screen string) bool {
		return strings.Contains(screen, "["+id+": "+say+"]") && strings.Contains(screen, s.Marked+"=0") && s.Format(Modes) == PlainModes
	})
	s.RunToEnd("stty -g > after")
	require.Equal(s.W.T, s.W.Content("before"), s.W.Content("after"))
}

// WaitAttached waits until the session has a window and shows a text.
func (s *Terminal) WaitAttached(id, shown string) {
	s.W.T.Helper()
	s.Run("stty -g > before; gateway attach " + id)
	s.Wait(shown)
}

// WaitForWindow waits until the session has a window.
func (w *World) WaitForWindow(id string) { w.T.Helper(); w.WaitKept(id, false) }

func (w *World) WaitKept(id string, isDetached bool) {
	w.T.Helper()
	var list []protocol.SessionInfo
	w.Until(func() bool {
		list = w.Sessions()
		return len(list) == 1 && list[0].SessionID == id && list[0].Kept && (list[0].DetachedAt != 0) == isDetached
	}, func() string { return fmt.Sprintf("%+v", list) })
}
