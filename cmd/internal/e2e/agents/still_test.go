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

// A search says which rows are gone, both of a running program and of an ended one.
func TestASearchNamesMissingRows(t *testing.T) {
	w := world.New(t)
	w.Agent("claude", world.Eras[0]).MustCall("terminal_list", nil, "there are no terminals") // its process serves beyond the program's end
	st := w.Stage("proxy --agent sh -c 'seq 12000; echo ready; read x'; read x")
	w.Until(func() bool { return strings.Contains(st.Sent(), "ready") }, st.Sent)
	id := w.Session()
	search := func(says string) {
		w.Until(func() bool { return strings.Contains(w.Gateway("read", id, "--match", "^5$").Out, says) }, func() string { r := w.Gateway("read", id, "--match", "^5$"); return r.Out + r.Err })
	}
	search("no line matches; not searched: 19")
	search(" rows before line 19")
	st.TypeKeys("\n")
	search("exited")
	search("no line matches; not searched: ")
}
