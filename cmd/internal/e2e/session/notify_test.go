package session_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// An unseen question reaches its user once each way: by the session's own terminal, through the
// tmux in which it runs; by the session's, the server's and the page's receivers. No notification
// has the reason, or anything of the screen.
func TestAnUnseenQuestionNotifies(t *testing.T) {
	w := world.New(t)
	came := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came <- strings.Join([]string{r.URL.Path, string(body), r.Header.Get("Click")}, " ")
	}))
	t.Cleanup(receiver.Close)
	settings := w.Write("gateway.toml", "notify = [\""+receiver.URL+"/server#json\"]\nnotify-after = \"100ms\"\npage = true\nhost = [\"desk.example\"]\n")
	w.Serve("gateway", "--config", settings)

	s, opener := w.Terminal(100, 24), w.Terminal(100, 40)
	inner := w.Path("inner")
	conf := w.Write("inner.conf", "set -g allow-passthrough on\n")
	s.Run("env -u TMUX tmux -S " + inner + " -f " + conf + " new-session 'proxy --agent --notify " + receiver.URL + "/own --notify terminal --notify-after 100ms listener heard'")
	t.Cleanup(func() { w.Do("tmux", "-S", inner, "kill-server") })
	s.Wait("listening")
	id := w.Session()
	opener.Run("gateway open --host desk.example --notify " + receiver.URL + "/page --notify-after 100ms")
	opener.Wait("https://desk.example/#c=")

	asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "hush")
	var got []string
	for range 3 {
		select {
		case n := <-came:
			got = append(got, strings.TrimSpace(n))
		case <-time.After(world.Patience):
			require.FailNow(t, "no notification", "after %q", got)
		}
	}
	says, link := "codex asks in "+id, "https://desk.example/#s="+id
	require.ElementsMatch(t, []string{"/own " + says, "/page " + says + " " + link, `/server {"text":"` + says + " " + link + `"}`}, got)
	const shown = "\x1b]9;codex asks in "
	w.WaitHeard(s.Recording(), regexp.QuoteMeta(shown+id+"\x1b\\"))
	s.WaitQuestion()
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
	opener.Press("C-c")
	require.Zero(t, opener.Status())
	require.Contains(t, opener.Screen(), "^C\n", "the prompt begins a line of its own")
	require.Equal(t, 1, strings.Count(w.Content(s.Recording()), shown))
	require.Empty(t, came, "one for a question")
}
