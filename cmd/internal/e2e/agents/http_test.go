package agents_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"image/png"
	"io"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// newTypingCaller runs a listener under proxy, which writes what it reads to the file "got", and a
// caller that controls it; at is the caller's path.
func newTypingCaller(t *testing.T) (w *world.World, s *world.Terminal, c *world.Caller, at string) {
	t.Helper()
	w = world.New(t)
	s = w.Terminal(80, 24)
	s.Run("proxy --agent --grant drive listener got")
	s.Wait("listening")
	at, c = "/v1/sessions/"+w.Session(), w.Caller()
	c.Do("POST", at+"/control/request", `{"level":"drive","reason":"type once"}`, 200)
	return w, s, c, at
}

// nextEvent waits for a server-sent event of a kind.
func nextEvent(t *testing.T, lines *bufio.Scanner, kind string) string {
	t.Helper()
	for lines.Scan() {
		if lines.Text() != "event: "+kind {
			continue
		}
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return data
			}
		}
	}
	require.FailNow(t, "the stream ended before a "+kind)
	return ""
}

func TestAProgramDrivesVimOverHTTP(t *testing.T) {
	w := world.New(t, "vim")
	s := w.Terminal(80, 24)
	a := w.ServingAgent("claude", world.Eras[0]) // its server is the gateway, so the session's end is told
	s.Run("proxy --agent vim -u NONE -n notes.txt")
	s.Wait("notes.txt")
	id := w.Session()
	c := w.Caller()
	at := "/v1/sessions/" + id
	require.Contains(t, c.Do("GET", "/v1/sessions", "", 200), `"sessionId":"`+id+`"`)
	require.Contains(t, c.Do("POST", at+"/input", `{"data":"i","kind":"keys"}`, 403), "ask with POST control/request first")

	stream := c.Request("GET", at+"/events", "")
	defer func() { _ = stream.Body.Close() }()
	lines := bufio.NewScanner(stream.Body)
	lines.Buffer(nil, protocol.MaxMessage)
	nextEvent(t, lines, "terminal.snapshot")
	granted := make(chan string, 1)
	go func() { // ends with the answer
		resp := c.Request("POST", at+"/control/request", `{"level":"drive","reason":"add a line"}`)
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		granted <- string(text)
	}()
	s.WaitQuestion()
	s.Wait("“script” asks to drive for 10 min: “add a line”")
	s.Answer("C-g")
	var grant protocol.ControlGrant
	require.NoError(t, json.Unmarshal([]byte(<-granted), &grant))
	require.NotZero(t, grant.Epoch)
	require.Contains(t, nextEvent(t, lines, "terminal.control.grant"), `"agentName":"script"`)

	c.Do("POST", at+"/input", `{"data":"i","kind":"keys","settleMs":30}`, 200)
	c.Do("POST", at+"/input", `{"data":"hello from a script","kind":"text"}`, 200)
	require.Contains(t, c.Do("POST", at+"/wait", `{"until":{"text":"from a script"},"timeoutMs":60000}`, 200), `"met":true`)
	s.Wait("hello from a script")
	c.Do("POST", at+"/input", `{"data":"esc","kind":"keys","settleMs":30}`, 200)
	require.Contains(t, c.Do("POST", at+"/input", `{"data":"x","expect":{"seq":1}}`, 412), `"result":{`)
	screen := c.Do("GET", at+"/screen", "", 200)
	require.True(t, strings.HasPrefix(screen, "hello from a script\n~\n"), screen)
	pixels, err := png.Decode(bytes.NewReader([]byte(c.Do("GET", at+"/screen?format=png", "", 200))))
	require.NoError(t, err)
	require.Greater(t, pixels.Bounds().Dx(), 400)
	require.Contains(t, c.Do("GET", at+"/screen?format=svg", "", 200), "hello from a scrip<", "the cursor is on the last letter")
	require.Contains(t, c.Do("GET", "/metrics", "", 200), `terminalproxy_sessions{state="running"} 1`)
	require.Contains(t, c.Do("GET", "/v1/sessions/nope/screen", "", 404), "known: "+id)

	c.Do("POST", at+"/input", `{"data":":wq","kind":"text"}`, 200)
	c.Do("POST", at+"/input", `{"data":"enter","kind":"keys"}`, 200)
	require.Contains(t, nextEvent(t, lines, "terminal.session.close"), `"exitCode":0`)
	for lines.Scan() {
		require.Empty(t, lines.Text(), "the stream ends with the session")
	}
	require.Zero(t, s.Status())
	require.Equal(t, "hello from a script\n", w.Content("notes.txt"))
	c.Do("POST", at+"/input", `{"data":"x"}`, 410)
	c.Client.CloseIdleConnections()
	require.NoError(t, a.Session.Close())
}
