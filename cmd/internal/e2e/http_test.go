package e2e_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"image/png"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// caller is a program that speaks plain HTTP to a gateway, as curl does.
type caller struct {
	w      *world
	client *http.Client
	host   string
	token  string // "" for no token
	name   string // "" for script
}

func (w *world) caller() *caller {
	return w.callerAt("unix", filepath.Join(w.run(), "gateway.sock"), "localhost")
}

func (w *world) callerAt(network, address, host string) *caller {
	c := &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: 3 * patience, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}}
	w.t.Cleanup(c.CloseIdleConnections)
	return &caller{w: w, client: c, host: host}
}

// waitPending waits until the gateway has n open requests.
func (c *caller) waitPending(n int) {
	c.w.t.Helper()
	want, metrics := "terminalproxy_requests_waiting "+strconv.Itoa(n)+"\n", ""
	c.w.until(func() bool {
		metrics = c.do("GET", "/metrics", "", 200)
		return strings.Contains(metrics, want)
	}, func() string { return "not " + want + metrics })
}

// newTypingCaller runs a listener under proxy, which writes what it reads to the file "got", and a
// caller that controls it; at is the caller's path.
func newTypingCaller(t *testing.T) (w *world, s *terminal, c *caller, at string) {
	t.Helper()
	w = newWorld(t)
	s = w.terminal(80, 24)
	s.run("proxy --agent --grant drive listener got")
	s.wait("listening")
	at, c = "/v1/sessions/"+w.session(), w.caller()
	c.do("POST", at+"/control/request", `{"level":"drive","reason":"type once"}`, 200)
	return w, s, c, at
}

func (c *caller) request(method, path, body string) *http.Response {
	c.w.t.Helper()
	resp, err := c.ask(c.w.ctx, method, path, body)
	require.NoError(c.w.t, err)
	return resp
}

func (c *caller) ask(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.host+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Terminal-Agent-Key", "0123456789abcdef0123456789abcdef")
	r.Header.Set("Terminal-Agent-Name", cmp.Or(c.name, "script"))
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return c.client.Do(r)
}

// do sends a request and checks the status.
func (c *caller) do(method, path, body string, status int) string {
	c.w.t.Helper()
	resp := c.request(method, path, body)
	text, err := io.ReadAll(resp.Body)
	require.NoError(c.w.t, err)
	require.NoError(c.w.t, resp.Body.Close())
	require.Equal(c.w.t, status, resp.StatusCode, "%s %s: %s", method, path, text)
	return string(text)
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
	w := newWorld(t, "vim")
	s := w.terminal(80, 24)
	a := w.servingAgent("claude", eras[0]) // its server is the gateway, so the session's end is told
	s.run("proxy --agent vim -u NONE -n notes.txt")
	s.wait("notes.txt")
	id := w.session()
	c := w.caller()
	at := "/v1/sessions/" + id
	require.Contains(t, c.do("GET", "/v1/sessions", "", 200), `"sessionId":"`+id+`"`)
	require.Contains(t, c.do("POST", at+"/input", `{"data":"i","kind":"keys"}`, 403), "ask with POST control/request first")

	stream := c.request("GET", at+"/events", "")
	defer func() { _ = stream.Body.Close() }()
	lines := bufio.NewScanner(stream.Body)
	lines.Buffer(nil, protocol.MaxMessage)
	nextEvent(t, lines, "terminal.snapshot")
	granted := make(chan string, 1)
	go func() { // ends with the answer
		resp := c.request("POST", at+"/control/request", `{"level":"drive","reason":"add a line"}`)
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		granted <- string(text)
	}()
	s.waitQuestion()
	require.Contains(t, s.screen(), "“script” asks to drive for 10 min: “add a line”")
	s.answer("C-g")
	var grant protocol.ControlGrant
	require.NoError(t, json.Unmarshal([]byte(<-granted), &grant))
	require.NotZero(t, grant.Epoch)
	require.Contains(t, nextEvent(t, lines, "terminal.control.grant"), `"agentName":"script"`)

	c.do("POST", at+"/input", `{"data":"i","kind":"keys","settleMs":30}`, 200)
	c.do("POST", at+"/input", `{"data":"hello from a script","kind":"text"}`, 200)
	require.Contains(t, c.do("POST", at+"/wait", `{"until":{"text":"from a script"},"timeoutMs":5000}`, 200), `"met":true`)
	s.wait("hello from a script")
	c.do("POST", at+"/input", `{"data":"esc","kind":"keys","settleMs":30}`, 200)
	require.Contains(t, c.do("POST", at+"/input", `{"data":"x","expect":{"seq":1}}`, 412), `"result":{`)
	screen := c.do("GET", at+"/screen", "", 200)
	require.True(t, strings.HasPrefix(screen, "hello from a script\n~\n"), screen)
	pixels, err := png.Decode(bytes.NewReader([]byte(c.do("GET", at+"/screen?format=png", "", 200))))
	require.NoError(t, err)
	require.Greater(t, pixels.Bounds().Dx(), 400)
	require.Contains(t, c.do("GET", at+"/screen?format=svg", "", 200), "hello from a scrip<", "the cursor is on the last letter")
	require.Contains(t, c.do("GET", "/metrics", "", 200), `terminalproxy_sessions{state="running"} 1`)
	require.Contains(t, c.do("GET", "/v1/sessions/nope/screen", "", 404), "known: "+id)

	c.do("POST", at+"/input", `{"data":":wq","kind":"text"}`, 200)
	c.do("POST", at+"/input", `{"data":"enter","kind":"keys"}`, 200)
	require.Contains(t, nextEvent(t, lines, "terminal.session.close"), `"exitCode":0`)
	for lines.Scan() {
		require.Empty(t, lines.Text(), "the stream ends with the session")
	}
	require.Zero(t, s.status())
	require.Equal(t, "hello from a script\n", w.content("notes.txt"))
	c.do("POST", at+"/input", `{"data":"x"}`, 410)
	c.client.CloseIdleConnections()
	require.NoError(t, a.session.Close())
}

// A wait ends when its caller leaves. Otherwise a session would run out of its 256 waits, since
// agents change their minds.
func TestCancelledWaitsLeaveRoom(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(80, 24)
	a := w.servingAgent("claude", eras[0])
	s.run("proxy --agent bash --norc -i")
	id := w.session()
	c := w.caller()
	for range 6 {
		ctx, cancel := context.WithCancel(w.ctx)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { // ends with cancel
				if resp, err := c.ask(ctx, http.MethodPost, "/v1/sessions/"+id+"/wait", `{"until":{"exit":true}}`); err == nil {
					_ = resp.Body.Close()
				}
			})
		}
		c.waitPending(50)
		cancel()
		wg.Wait()
		c.waitPending(0)
	}
	require.Contains(t, c.do("POST", "/v1/sessions/"+id+"/wait", `{"until":{"quietMs":1},"timeoutMs":5000}`, 200), `"met":true`)
	s.quitProgram("exit\n")
	c.client.CloseIdleConnections()
	require.NoError(t, a.session.Close())
}
