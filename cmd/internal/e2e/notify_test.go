package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// serveNotifications serves a receiver of notifications, and passes on the body of each with its
// link.
func serveNotifications(t *testing.T) (url string, came chan string) {
	t.Helper()
	came = make(chan string, 100)
	r := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		came <- strings.TrimSpace(string(body) + " " + req.Header.Get("Click"))
	}))
	t.Cleanup(r.Close)
	return r.URL + "/topic", came
}

// nextNotification returns the next notification.
func (w *world) nextNotification(came <-chan string) string {
	w.t.Helper()
	select {
	case got := <-came:
		return got
	case <-time.After(patience):
		require.FailNow(w.t, "nobody was notified")
		return ""
	}
}

func TestAnUnseenQuestionSendsANotification(t *testing.T) {
	w := newWorld(t)
	url, came := serveNotifications(t)
	s := w.terminal(100, 24)
	s.run("env -u TMUX TERM=xterm-ghostty proxy --agent --notify " + url + " --notify-after 100ms listener heard")
	s.wait("listening")
	id := w.session()
	asking := w.start("gateway", "request", id, "--as", "codex", "--reason", "hush")
	require.Equal(t, "codex asks in "+id, w.nextNotification(came), "no reason, nothing of the screen")
	const shown = "\x1b]777;notify;proxy;codex asks in "
	w.until(func() bool { return strings.Contains(w.content(s.recording()), shown) }, func() string { return w.content(s.recording()) })
	require.Equal(t, 1, strings.Count(w.content(s.recording()), shown+id+"\x1b\\"))
	s.waitQuestion()
	s.answer("C-g")
	require.Zero(t, asking.wait().status)
	s.close()
	require.Empty(t, came, "one for a question")
}

func TestAnOpenPageNotifies(t *testing.T) {
	w := newWorld(t)
	url, came := serveNotifications(t)
	s, opener := w.terminal(100, 24), w.terminal(100, 40)
	s.runListener("--agent --notify off")
	id := w.session()
	opener.run("gateway open --host desk.example --notify " + url + " --notify-after 100ms")
	opener.wait("https://desk.example/#c=")
	asking := w.start("gateway", "request", id, "--as", "codex", "--reason", "hush")
	require.Equal(t, "codex asks in "+id+" https://desk.example/#s="+id, w.nextNotification(came))
	s.waitQuestion()
	s.answer("C-g")
	require.Zero(t, asking.wait().status)
	opener.press("C-c")
	opener.wait("$")
	require.Empty(t, came)
}

func TestAServerNotifies(t *testing.T) {
	w := newWorld(t)
	url, came := serveNotifications(t)
	settings := w.write("gateway.toml", "notify = [\""+url+"#json\"]\nnotify-after = \"100ms\"\npage = true\nhost = [\"desk.example\"]\n")
	server := w.serve("gateway", "--config", settings)
	s := w.terminal(100, 24)
	s.runListener("--agent --notify off")
	id := w.session()
	asking := w.start("gateway", "request", id, "--as", "codex", "--reason", "hush")
	require.Equal(t, `{"text":"codex asks in `+id+` https://desk.example/#s=`+id+`"}`, w.nextNotification(came))
	s.waitQuestion()
	s.answer("C-g")
	require.Zero(t, asking.wait().status)
	resp, err := http.Get("http" + strings.TrimPrefix(server.url, "ws") + "/sw.js")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode, "a server's page has its worker, too")
	require.Empty(t, came)
}

// tmux passes the notification on to the terminal around it, where tmux lets programs do that.
func TestANotificationPassesThroughTmux(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	inner := w.path("inner")
	conf := w.write("tmux.conf", "set -g allow-passthrough on\n")
	s.run("env -u TMUX tmux -S " + inner + " -f " + conf + " new-session 'proxy --agent --notify terminal --notify-after 100ms listener heard'")
	s.wait("listening")
	id := w.session()
	asking := w.start("gateway", "request", id, "--as", "codex", "--reason", "hush")
	const shown = "\x1b]9;codex asks in "
	w.until(func() bool { return strings.Contains(w.content(s.recording()), shown+id+"\x1b\\") }, func() string { return w.content(s.recording()) })
	s.waitQuestion()
	s.answer("C-g")
	require.Zero(t, asking.wait().status)
	require.Zero(t, w.do("tmux", "-S", inner, "kill-server").status)
}
