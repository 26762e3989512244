package agents_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// python runs a script with contrib's client for Python, using the interpreter itself, not a version
// manager's wrapper.
func python(w *world.World, script string) *world.Running {
	w.T.Helper()
	interpreter, err := exec.CommandContext(w.Ctx, "python3", "-c", "import sys; print(sys.executable)").Output()
	require.NoError(w.T, err)
	r := w.Prepare(strings.TrimSpace(string(interpreter)), "-I", "-B", "-c", `import sys; sys.path.insert(0, "`+world.MustAbs(w.T, filepath.Join(world.Checkout, "contrib", "python"))+`")
from terminalproxy import *
def fails(code, say, do, **args):
    try: do(**args)
    except GatewayError as e: assert e.code == code and say in str(e), repr(e)
    else: raise AssertionError("it does not fail")
`+script)
	r.Run()
	return r
}

// The client is one file that needs only the standard library.
func TestAPythonProgramTypes(t *testing.T) {
	w := world.New(t, "python3")
	s := w.Terminal(100, 24)
	s.Run("proxy --agent bash --norc -i")
	id := w.Session()
	r := python(w, `
gateway = Gateway(name="release bot")
assert [s["sessionId"] for s in gateway.list()] == ["`+id+`"]
assert gateway.look().keyboard == "user"
fails("no_grant", "call request()", gateway.send, text="x")
fails("pending", "wait(control=True)", gateway.request, reason="write a line", timeout=0.1)
assert gateway.wait(control=True, timeout=60)["matched"] == "granted"
receipt = gateway.send(text="echo py$((6*7))", enter=True)
assert receipt["status"] == "written", receipt
assert gateway.wait(text="py42")["met"]
assert gateway.wait(text="never", timeout=0.05)["met"] is False
assert "py42" in gateway.look() and gateway.look().rev > 0
assert "py42" in gateway.read(match="^py42")
fails("screen_changed", "look() before", gateway.send, keys="ctrl-u", rev=1)
assert gateway.send(text="echo left", keys=["ctrl-u"])["status"] == "written"
assert gateway.wait(regex="^never", stop="py4.", timeout=50)["stopped"]
# A step is typed once the until of the one before has come true.
receipt = gateway.send(steps=[
    {"text": "read x", "enter": True, "until": {"quiet": 0.1}},
    {"text": "an answer", "keys": "enter", "until": {"waiting": True}},
    {"text": "echo got $x", "enter": True, "until": {"regex": "^got an .*"}, "stop": "error"},
], timeout=60)
assert [p["until"]["matched"] for p in receipt["parts"] if "until" in p] == ["quiet", "waiting", "got an answer"], receipt
never = {"text": "touch never", "enter": True}
fails("timeout", "after part 2", gateway.send, steps=[{"text": "true", "enter": True, "until": {"text": "absent"}}, never], timeout=0.5)
fails("screen_changed", "stop condition", gateway.send, steps=[
    {"text": "echo err''or", "enter": True, "until": {"text": "absent"}, "stop": ["^error"]}, never], timeout=60)
fails("bad_message", "parts.until.regex", gateway.send, steps=[never, {"text": "x", "until": {"regex": "("}}])
fails("too_large", "the limit is 48", gateway.send, steps=[dict(never, until={"waiting": True})] * 100)
for wrong, say in (
    ({"steps": []}, "empty"), ({"steps": [never], "text": "x"}, "replaces text"), ({}, "nothing to type"),
    ({"text": "x", "stop": "y"}, "needs until"), ({"text": "x", "until": {}}, "send: name one of"),
):
    try: gateway.send(**wrong)
    except ValueError as e: assert say in str(e), repr(e)
    else: raise AssertionError(wrong)
try: gateway.send(steps=[{"txt": "x"}])
except TypeError as e: assert "txt" in str(e)
gateway.say("nearly done")
gateway.release(note="a line is written")
gateway.release()
fails("no_grant", "", gateway.send, keys="enter")
fails("no_such_session", "", gateway.look, session="nope")
fails("bad_message", "level", gateway.request, reason="x", level="own")
fails("refused", "do not ask again", gateway.request, reason="once more", timeout=60)
print("DONE")
`)
	s.WaitQuestion()
	s.WaitBottom("“release bot” asks to drive for 10 min: “write a line”")
	s.Answer("C-g")
	s.Wait("“once more”")
	s.Answer(`C-\`)
	got := r.Wait()
	require.Equal(t, world.Result{Out: "DONE\n"}, got)
	s.QuitProgram("exit\n")
	require.NoFileExists(t, w.Path("never"))
	got = python(w, `fails("unreachable", "proxy --agent", Gateway().list); print("DONE")`).Wait()
	require.Equal(t, world.Result{Out: "DONE\n"}, got)
}

// A gateway on the network refuses a Python program without its token. The token never crosses the
// network in the clear.
func TestAPythonProgramIsRefused(t *testing.T) {
	w := world.New(t, "python3")
	token := strings.TrimSpace(w.MustGateway("token", "create", "bot", "--role", "agent"))
	viewer := strings.TrimSpace(w.MustGateway("token", "create", "eyes", "--role", "viewer"))
	serving := w.Serve("gateway")
	got := python(w, `
url = "`+serving.URL+`"
fails("unauthorized", "token=", Gateway(url).list)
gateway = Gateway(url, token="`+token+`")
assert gateway.list() == []
fails("no_such_session", "proxy --agent", gateway.look)
fails("forbidden", "role agent", Gateway(url, token="`+viewer+`").wait, session="x", exit=True)
for wrong in "ws://example.com", "ftp://x":
    try: Gateway(wrong, token="secret")
    except ValueError as e: assert "secret" not in str(e)
    else: raise AssertionError(wrong)
print("DONE")
`).Wait()
	require.Equal(t, world.Result{Out: "DONE\n"}, got)
	require.NoError(t, serving.Cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, serving.Wait().Status)
}
