package e2e_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// python runs a script with contrib's client for Python, using the interpreter itself.
func (w *world) python(interpreter, script string) *running {
	w.t.Helper()
	r := w.prepare(interpreter, "-I", "-B", "-c", `import sys; sys.path.insert(0, "`+mustAbs(w.t, filepath.Join(checkout, "contrib", "python"))+`")
from terminalproxy import *
def fails(code, say, do, **args):
    try: do(**args)
    except GatewayError as e: assert e.code == code and say in str(e), repr(e)
    else: raise AssertionError("it does not fail")
`+script)
	r.run()
	return r
}

// The client is one file that needs only the standard library.
func TestAPythonProgramTypes(t *testing.T) {
	w := newWorld(t, "python3")
	interpreter := realPython(t)
	s := w.terminal(100, 24)
	s.run("proxy --agent bash --norc -i")
	id := w.session()
	r := w.python(interpreter, `
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
gateway.say("nearly done")
gateway.release(note="a line is written")
gateway.release()
fails("no_grant", "", gateway.send, keys="enter")
fails("no_such_session", "", gateway.look, session="nope")
fails("bad_message", "level", gateway.request, reason="x", level="own")
fails("refused", "do not ask again", gateway.request, reason="once more", timeout=60)
print("DONE")
`)
	s.waitQuestion()
	require.Contains(t, s.bottom(), "“release bot” asks to drive for 10 min: “write a line”")
	s.answer("C-g")
	s.wait("“once more”")
	s.answer(`C-\`)
	got := r.wait()
	require.Equal(t, result{out: "DONE\n"}, got)
	s.quitProgram("exit\n")
	got = w.python(interpreter, `fails("unreachable", "proxy --agent", Gateway().list); print("DONE")`).wait()
	require.Equal(t, result{out: "DONE\n"}, got)
}

// A gateway on the network refuses a Python program without its token. The token never crosses the
// network in the clear.
func TestAPythonProgramIsRefused(t *testing.T) {
	w := newWorld(t, "python3")
	token := strings.TrimSpace(w.mustGateway("token", "create", "bot", "--role", "agent"))
	viewer := strings.TrimSpace(w.mustGateway("token", "create", "eyes", "--role", "viewer"))
	serving := w.serve("gateway")
	got := w.python(realPython(t), `
url = "`+serving.url+`"
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
`).wait()
	require.Equal(t, result{out: "DONE\n"}, got)
	require.NoError(t, serving.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, serving.wait().status)
}
