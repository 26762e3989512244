package agents_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
)

// An agent reads that the user's Ctrl+S stopped the output, and that the output continues.
func TestAnAgentReadsThatOutputIsStopped(t *testing.T) {
	w := world.New(t)
	st := w.Stage("stty ixon; proxy --agent sh -c 'echo ready; while read x; do echo got $x; done'")
	w.Until(func() bool { return strings.Contains(st.Sent(), "ready") }, st.Sent)
	id := w.Session()
	reads := func(says string, is bool) {
		w.Until(func() bool { return strings.Contains(w.Gateway("read", id).Out, says) == is }, func() string { return w.Gateway("read", id).Out })
	}
	st.TypeKeys("\x13")
	reads("output is stopped: Ctrl+S", true)
	st.TypeKeys("one\n\x11")
	reads("got one", true)
	reads("output is stopped", false)
}
