package e2e_test

import (
	"strings"
	"testing"
)

// An agent reads that the user's Ctrl+S stopped the output, and that the output continues.
func TestAnAgentReadsThatOutputIsStopped(t *testing.T) {
	w := newWorld(t)
	st := w.stage("stty ixon; proxy --agent sh -c 'echo ready; while read x; do echo got $x; done'")
	w.until(func() bool { return strings.Contains(st.sent(), "ready") }, st.sent)
	id := w.session()
	reads := func(says string, is bool) {
		w.until(func() bool { return strings.Contains(w.gateway("read", id).out, says) == is }, func() string { return w.gateway("read", id).out })
	}
	st.typeKeys("\x13")
	reads("output is stopped: Ctrl+S", true)
	st.typeKeys("one\n\x11")
	reads("got one", true)
	reads("output is stopped", false)
}

// A search says which rows are gone, both of a running program and of an ended one.
func TestASearchNamesMissingRows(t *testing.T) {
	w := newWorld(t)
	w.agent("claude", eras[0]).mustCall("terminal_list", nil, "there are no terminals") // its process serves beyond the program's end
	st := w.stage("proxy --agent sh -c 'seq 12000; echo ready; read x'; read x")
	w.until(func() bool { return strings.Contains(st.sent(), "ready") }, st.sent)
	id := w.session()
	search := func(says string) {
		w.until(func() bool { return strings.Contains(w.gateway("read", id, "--match", "^5$").out, says) }, func() string { r := w.gateway("read", id, "--match", "^5$"); return r.out + r.err })
	}
	search("no line matches; not searched: 19")
	search(" rows before line 19")
	st.typeKeys("\n")
	search("exited")
	search("no line matches; not searched: ")
}
