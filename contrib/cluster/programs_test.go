package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"terminalproxy/contrib/cluster/rig"
)

// TestPrograms has the programs that people and agents use at other gateways than the session's: the commands, attach, event
// streams, plain HTTP. Then their gateway dies while they wait. CLIENTS=1 has it run.
func TestPrograms(t *testing.T) {
	if os.Getenv("CLIENTS") == "" {
		t.Skip("it needs the built programs: make cluster-soak runs it")
	}
	s := newStage(t)
	id := s.shares("sh", "-c", "PS1='$ ' exec sh")

	// The owner at C says yes; the agent at B, which waits for that, hears it.
	s.fails(1, "request", id, "--reason", "to try", "--timeout", "1ms")
	heard := s.begins("wait", id, "--control")
	s.posts(2, "owner", id, "control/grant", `{"level":"drive"}`)
	require.NotContains(t, <-heard, "asks")

	// A person at C watches, an event stream at C follows, while the agent types at B.
	watching := s.attaches(2, id)
	events := s.follows(2, "/v1/sessions/"+id+"/events?changes=true")
	s.runs(1, "agent", "send", id, "--text", "echo across-$((40+2))", "--enter", "--until", "text=across-42")
	for _, out := range []*output{watching, events} {
		out.has(t, "across-42")
	}

	// The gateway of the session dies while somebody waits; what is watched goes on.
	waiting := s.begins("wait", id, "--text", "after-42", "--timeout", "60s")
	s.rig.Gateways[0].Kill()
	require.Eventually(t, func() bool { _, err := s.run(2, "viewer", "read", id); return err == nil }, limit, 20*time.Millisecond)
	_, err := s.run(1, "agent", "send", id, "--text", "x")
	require.Error(t, err, "the grant ended")
	s.fails(1, "request", id, "--reason", "to go on", "--timeout", "1ms")
	s.posts(2, "owner", id, "control/grant", `{"level":"drive"}`)
	s.runs(1, "agent", "send", id, "--text", "echo after-$((40+2))", "--enter")
	require.Contains(t, <-waiting, "after-42")
	watching.has(t, "after-42")
	events.has(t, "after-42")

	// It gives the keyboard back and asks again; the owner says no.
	s.runs(1, "agent", "release", id)
	s.fails(1, "request", id, "--reason", "once more", "--timeout", "1ms")
	heard = s.begins("wait", id, "--control")
	s.posts(2, "owner", id, "control/refuse", `{"agentName":"agent"}`)
	require.NotContains(t, <-heard, "asks")

	// The owner mutes: the agent may not ask.
	s.posts(2, "owner", id, "control/mute", `{"agentName":"agent"}`)
	require.Contains(t, s.fails(1, "request", id, "--reason", "please", "--timeout", "10s"), "muted")

	// A gateway that comes later has it all.
	require.NoError(t, s.rig.Gateways[0].Start(s.ctx))
	require.NoError(t, s.rig.WaitConnected(s.ctx))
	require.Contains(t, s.runs(0, "viewer", "ls"), id)
	require.Contains(t, s.runs(0, "viewer", "read", id), "after-42")
}

// stage is a cluster with tokens.
type stage struct {
	t      *testing.T
	ctx    context.Context //nolint:containedctx // the test's
	rig    *rig.Rig
	tokens map[string]string // files, by role
}

func newStage(t *testing.T) *stage {
	t.Helper()
	bin := os.Getenv("CLUSTER_BIN")
	if bin == "" {
		bin = filepath.Join("..", "..", "bin")
	}
	bin, err := filepath.Abs(bin)
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "stage") //nolint:usetesting // that one is too long for sockets
	require.NoError(t, err)
	s := &stage{t: t, ctx: t.Context(), tokens: make(map[string]string)}
	s.rig, err = rig.Start(s.ctx, dir, bin, size)
	require.NoError(t, err)
	t.Cleanup(func() {
		s.rig.Close()
		_ = os.RemoveAll(dir)
	})
	for _, role := range []string{"proxy", "agent", "viewer", "owner"} {
		s.tokens[role], err = s.rig.CreateToken(s.ctx, role, role)
		require.NoError(t, err)
	}
	return s
}

// shares starts a program at the first gateway, and gives the session's id as another one lists it.
func (s *stage) shares(program ...string) (id string) {
	s.t.Helper()
	s.starts(0, program...)
	require.Eventually(s.t, func() bool {
		out, err := s.run(1, "viewer", "ls", "--json")
		var list struct{ Sessions []struct{ SessionID string } }
		if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list.Sessions) == 0 {
			return false
		}
		id = list.Sessions[0].SessionID
		return true
	}, limit, 20*time.Millisecond)
	return id
}

// starts starts a program at a gateway, until the test's end.
func (s *stage) starts(at int, program ...string) {
	s.t.Helper()
	args := append([]string{"--agent", "--allow-remote-grant", "--gateway", s.rig.URLs(at), "--token-file", s.tokens["proxy"]}, program...)
	terminal, err := rig.NewTerminal(s.rig.Command(s.ctx, "proxy", args...))
	require.NoError(s.t, err)
	s.t.Cleanup(terminal.Close)
}

// command is a command of the gateway's at one of the gateways, which goes to the others when that is gone.
func (s *stage) command(at int, role string, args ...string) *exec.Cmd {
	args = append(args[:len(args):len(args)], "--gateway", s.rig.URLs(at), "--token-file", s.tokens[role])
	return s.rig.Command(s.ctx, "gateway", args...)
}

func (s *stage) run(at int, role string, args ...string) (string, error) {
	out, err := s.command(at, role, args...).CombinedOutput()
	return string(out), err
}

func (s *stage) runs(at int, role string, args ...string) string {
	s.t.Helper()
	out, err := s.run(at, role, args...)
	require.NoError(s.t, err, "%v: %s", args, out)
	return out
}

// fails is a command of the agent's that does not succeed.
func (s *stage) fails(at int, args ...string) string {
	s.t.Helper()
	out, err := s.run(at, "agent", args...)
	require.Error(s.t, err, "%v: %s", args, out)
	return out
}

// begins has the agent at the second gateway wait for something, and gives what it says in the end. The session's proxy waits, too, when
// begins returns.
func (s *stage) begins(args ...string) <-chan string {
	s.t.Helper()
	done := make(chan string, 1)
	go func() { // ends with the program
		out, _ := s.run(1, "agent", args...)
		done <- out
	}()
	require.Eventually(s.t, func() bool {
		for _, g := range s.rig.Gateways {
			text, err := g.Get(s.ctx, "/metrics", s.tokens["viewer"])
			if _, n, _ := strings.Cut(text, "\nterminalproxy_requests_waiting "); err == nil && n != "" && n[0] != '0' {
				return true
			}
		}
		return false
	}, limit, 20*time.Millisecond, "nobody waits")
	return done
}

// asks sends an HTTP request to a gateway.
func (s *stage) asks(at int, role, method, path, body string) *http.Response {
	s.t.Helper()
	token, err := os.ReadFile(s.tokens[role])
	require.NoError(s.t, err)
	req, err := http.NewRequestWithContext(s.ctx, method, fmt.Sprintf("http://127.0.0.1:%d%s", s.rig.Gateways[at].Port, path), strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// posts has somebody decide, again while nobody asks yet.
func (s *stage) posts(at int, role, id, what, body string) {
	s.t.Helper()
	var said []byte
	require.Eventually(s.t, func() bool {
		resp := s.asks(at, role, http.MethodPost, "/v1/sessions/"+id+"/"+what, body) //nolint:bodyclose // asks has it closed
		said, _ = io.ReadAll(resp.Body)
		return resp.StatusCode == http.StatusOK
	}, limit, 50*time.Millisecond, "%s: %s", what, &said)
}

// output is what somebody sees.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// has waits until it is seen.
func (o *output) has(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(o.String(), text) }, limit, 20*time.Millisecond, "%s is not seen: %s", text, o)
}

// attaches has a person watch on a terminal.
func (s *stage) attaches(at int, id string) *output {
	s.t.Helper()
	cmd := s.command(at, "owner", "attach", id, "--watch")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(s.t, err)
	seen := &output{}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = terminal.Close()
	})
	go func() { _, _ = io.Copy(seen, terminal) }() // ends with the terminal
	seen.has(s.t, "$")
	return seen
}

// follows reads an event stream.
func (s *stage) follows(at int, path string) *output {
	s.t.Helper()
	resp := s.asks(at, "viewer", http.MethodGet, path, "") //nolint:bodyclose // as above
	require.Equal(s.t, http.StatusOK, resp.StatusCode)
	seen := &output{}
	go func() { _, _ = io.Copy(seen, resp.Body) }() // ends with the stream
	return seen
}
