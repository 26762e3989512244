package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// gateway send takes the steps from a file, and ends with the status of the step that failed.
func TestStepsFromAShell(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(80, 24)
	s.run("proxy --agent --grant drive listener got")
	s.wait("listening")
	id := w.session()
	w.write("steps", `[{"text":"one\n","until":"idle","value":"50ms"},{"text":"two","until":"text","value":"no such text"},{"text":"three"}]`)
	w.write("bad", `[{"text":"one","wait_for":"idle"}]`)
	w.write("none", `[]`)
	for file, why := range map[string]string{"bad": `unknown field "wait_for"`, "none": "steps is empty"} {
		got := w.gateway("send", id, "--steps", w.path(file))
		require.Equal(t, 2, got.status, got.err)
		require.Contains(t, got.err, why)
	}
	got := w.gateway("send", id, "--steps", w.path("steps"), "--text", "x")
	require.Equal(t, 2, got.status, got.err)
	require.Contains(t, got.err, "--steps takes no --text")
	w.mustGateway("request", id, "--reason", "steps")
	got = w.gateway("send", id, "--steps", w.path("steps"), "--timeout", "1s")
	require.Equal(t, 124, got.status, got.err)
	require.Contains(t, got.err, "step 2: no match: timeout")
	require.Contains(t, got.err, "not typed: step 3: text (5 bytes): not sent")
	require.Contains(t, got.err, "step 1: quiet")
	require.Equal(t, "one\rtwo", w.content("got"))
	s.press("C-d")
}
