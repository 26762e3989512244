package session_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

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
func nextNotification(w *world.World, came <-chan string) string {
	w.T.Helper()
	select {
	case got := <-came:
		return got
	case <-time.After(world.Patience):
		require.FailNow(w.T, "nobody was notified")
		return ""
	}
}

func TestAnUnseenQuestionSendsANotification(t *testing.T) {
	w := world.New(t)
	url, came := serveNotifications(t)
	s := w.Terminal(100, 24)
	s.Run("env -u TMUX TERM=xterm-ghostty proxy --agent --notify " + url + " --notify-after 100ms listener heard")
	s.Wait("listening")
	id := w.Session()
	asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "hush")
	require.Equal(t, "codex asks in "+id, nextNotification(w, came), "no reason, nothing of the screen")
	const shown = "\x1b]777;notify;proxy;codex asks in "
	w.Until(func() bool { return strings.Contains(w.Content(s.Recording()), shown) }, func() string { return w.Content(s.Recording()) })
	require.Equal(t, 1, strings.Count(w.Content(s.Recording()), shown+id+"\x1b\\"))
	s.WaitQuestion()
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
	s.Close()
	require.Empty(t, came, "one for a question")
}

func TestAnOpenPageNotifies(t *testing.T) {
	w := world.New(t)
	url, came := serveNotifications(t)
	s, opener := w.Terminal(100, 24), w.Terminal(100, 40)
	s.RunListener("--agent --notify off")
	id := w.Session()
	opener.Run("gateway open --host desk.example --notify " + url + " --notify-after 100ms")
	opener.Wait("https://desk.example/#c=")
	asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "hush")
	require.Equal(t, "codex asks in "+id+" https://desk.example/#s="+id, nextNotification(w, came))
	s.WaitQuestion()
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
	opener.Press("C-c")
	opener.Wait("$")
	require.Empty(t, came)
}

func TestAServerNotifies(t *testing.T) {
	w := world.New(t)
	url, came := serveNotifications(t)
	settings := w.Write("gateway.toml", "notify = [\""+url+"#json\"]\nnotify-after = \"100ms\"\npage = true\nhost = [\"desk.example\"]\n")
	server := w.Serve("gateway", "--config", settings)
	s := w.Terminal(100, 24)
	s.RunListener("--agent --notify off")
	id := w.Session()
	asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "hush")
	require.Equal(t, `{"text":"codex asks in `+id+` https://desk.example/#s=`+id+`"}`, nextNotification(w, came))
	s.WaitQuestion()
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
	resp, err := http.Get("http" + strings.TrimPrefix(server.URL, "ws") + "/sw.js")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode, "a server's page has its worker, too")
	require.Empty(t, came)
}

// tmux passes the notification on to the terminal around it, where tmux lets programs do that.
func TestANotificationPassesThroughTmux(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	inner := w.Path("inner")
	conf := w.Write("tmux.conf", "set -g allow-passthrough on\n")
	s.Run("env -u TMUX tmux -S " + inner + " -f " + conf + " new-session 'proxy --agent --notify terminal --notify-after 100ms listener heard'")
	s.Wait("listening")
	id := w.Session()
	asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "hush")
	const shown = "\x1b]9;codex asks in "
	w.Until(func() bool { return strings.Contains(w.Content(s.Recording()), shown+id+"\x1b\\") }, func() string { return w.Content(s.Recording()) })
	s.WaitQuestion()
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
	require.Zero(t, w.Do("tmux", "-S", inner, "kill-server").Status)
}
