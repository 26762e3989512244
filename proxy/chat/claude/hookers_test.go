package claude_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol/fake"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/claude"
)

// hookConn makes a hook's connection that the test controls.
func hookConn(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", os.Getenv("TERMINALPROXY_CHAT_SOCKET"))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// sendHook sends a hook's first message, and what the hook was told.
func sendHook(t *testing.T, conn net.Conn, event, told string) {
	t.Helper()
	_, err := fmt.Fprintf(conn, "{%q:%q,%q:%q}\n%s\n", "key", os.Getenv("TERMINALPROXY_CHAT_KEY"), "event", event, told)
	require.NoError(t, err)
}

// within fails a test whose do does not return: its ceiling is far below the patience that the
// driver has in these tests.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{}, 1)
	go func() { do(); done <- struct{}{} }()
	fake.Receive(t, done, what)
}

// Whatever a hook has sent by then, the end of a session does not wait for it.
func TestASilentHookDelaysNothing(t *testing.T) {
	for name, say := range map[string]func(u *tui, conn net.Conn){
		"it has said nothing": func(*tui, net.Conn) {},
		"it has shown its key": func(u *tui, conn net.Conn) {
			_, err := fmt.Fprintf(conn, "{%q:%q}\n", "key", os.Getenv("TERMINALPROXY_CHAT_KEY"))
			require.NoError(u.T, err)
		},
		"it asks": func(u *tui, conn net.Conn) {
			sendHook(u.T, conn, "PermissionRequest", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`)
			u.Next("a request", func(r chat.Record) bool { return r.Request != nil })
		},
		"it does not read the answer": func(u *tui, conn net.Conn) {
			sendHook(u.T, conn, "PermissionRequest", fmt.Sprintf(`{"tool_name":"Bash","tool_input":{"command":%q}}`, strings.Repeat("x", 4<<20)))
			r := u.Next("a request", func(r chat.Record) bool { return r.Request != nil })
			within(u.T, "the answer is on its way", func() {
				assert.NoError(u.T, u.Answer(r.Request.ID, "ada", chat.Answer{Verdict: chat.Once}))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := atPrompt(t, func(d *claude.TUI) { d.Patience(time.Hour) })
			say(u, hookConn(t))
			within(t, "the end", func() { assert.NoError(t, u.Close()) })
		})
	}
}

// What the socket did not take at once follows.
func TestAnAnswerReachesAHookThatReadsLate(t *testing.T) {
	u := atPrompt(t)
	conn := hookConn(t)
	command := strings.Repeat("x", 4<<20)
	sendHook(t, conn, "PermissionRequest", fmt.Sprintf(`{"tool_name":"Bash","tool_input":{"command":%q}}`, command))
	r := u.Next("a request", func(r chat.Record) bool { return r.Request != nil })
	require.NoError(t, u.Answer(r.Request.ID, "ada", chat.Answer{Verdict: chat.Once}))
	got, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Contains(t, string(got), command)
	require.True(t, strings.HasSuffix(string(got), "}\n"))
}

// The race detector sees a hook that comes while the session ends.
func TestHooksComeUntilTheEnd(t *testing.T) {
	for range 20 {
		u := beside(t)
		var dialling sync.WaitGroup
		for range 4 {
			dialling.Go(func() {
				for {
					conn, err := net.Dial("unix", os.Getenv("TERMINALPROXY_CHAT_SOCKET"))
					if err != nil {
						return // it has ended
					}
					conn.Close()
				}
			})
		}
		require.NoError(t, u.Close())
		dialling.Wait()
	}
}
