package agents_test

import (
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// gateway send takes the steps from a file, and ends with the status of the step that failed.
func TestStepsFromAShell(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(80, 24)
	s.Run("proxy --agent --grant drive listener got")
	s.Wait("listening")
	id := w.Session()
	w.Write("steps", `[{"text":"one\n","until":"idle","value":"50ms"},{"text":"two","until":"text","value":"no such text"},{"text":"three"}]`)
	w.Write("bad", `[{"text":"one","wait_for":"idle"}]`)
	w.Write("none", `[]`)
	for file, why := range map[string]string{"bad": `unknown field "wait_for"`, "none": "steps is empty"} {
		got := w.Gateway("send", id, "--steps", w.Path(file))
		require.Equal(t, 2, got.Status, got.Err)
		require.Contains(t, got.Err, why)
	}
	got := w.Gateway("send", id, "--steps", w.Path("steps"), "--text", "x")
	require.Equal(t, 2, got.Status, got.Err)
	require.Contains(t, got.Err, "--steps cannot be used with --text")
	w.MustGateway("request", id, "--reason", "steps")
	got = w.Gateway("send", id, "--steps", w.Path("steps"), "--timeout", "1s")
	require.Equal(t, 124, got.Status, got.Err)
	require.Contains(t, got.Err, "step 2: no match: timeout")
	require.Contains(t, got.Err, "not typed: step 3: text (5 bytes): not sent")
	require.Contains(t, got.Err, "step 1: quiet")
	w.WaitContent("got", "one\rtwo")
	s.Press("C-d")
}
