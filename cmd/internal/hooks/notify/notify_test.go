package notify

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	for raw, say := range map[string]string{
		"file:///etc/passwd":             `scheme "file": must be https or http`,
		"ntfy.sh/topic":                  `scheme "": must be https or http`,
		"https:///topic":                 "it names no host",
		"https://ada:secret@example.com": "it holds a user name or password",
		"https://ada@example.com":        "it holds a user name or password",
		"https://exa mple.com":           "it is not a URL",
	} {
		_, err := Parse(raw)
		require.ErrorContains(t, err, say, raw)
		require.NotContains(t, err.Error(), "secret")
	}
	for raw, want := range map[string]Target{
		"https://ntfy.sh/topic":                   {url: "https://ntfy.sh/topic", host: "ntfy.sh"},
		"http://10.0.0.5:8080/x?y=1":              {url: "http://10.0.0.5:8080/x?y=1", host: "10.0.0.5:8080"},
		"https://hooks.slack.com/services/T/B/X":  {url: "https://hooks.slack.com/services/T/B/X", host: "hooks.slack.com", json: true},
		"https://chat.example.com/hooks/abc#json": {url: "https://chat.example.com/hooks/abc", host: "chat.example.com", json: true},
		"https://example.com/#other":              {url: "https://example.com/", host: "example.com"},
	} {
		got, err := Parse(raw)
		require.NoError(t, err, raw)
		require.Equal(t, want, got)
	}
}

// came is one request.
type came struct {
	path, kind, click, body string
}

// receiver answers with what statuses say, the last one for good.
type receiver struct {
	*httptest.Server
	came chan came
	mu   sync.Mutex
	say  []http.HandlerFunc
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func receive(t *testing.T, secure bool, say ...http.HandlerFunc) *receiver {
	r := &receiver{came: make(chan came, 100), say: say}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		answer := r.say[0]
		if len(r.say) > 1 {
			r.say = r.say[1:]
		}
		r.mu.Unlock()
		answer(w, req)
		r.came <- came{req.Method + " " + req.URL.Path, req.Header.Get("Content-Type"), req.Header.Get("Click"), string(body)}
	}))
	r.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	if secure {
		r.StartTLS()
	} else {
		r.Start()
	}
	t.Cleanup(r.Close)
	return r
}

// posting is a poster to a URL, with the failures that it tells.
func posting(t *testing.T, raw string, client *http.Client) (p *Poster, failures chan string, log func() string) {
	t.Helper()
	target, err := Parse(raw)
	require.NoError(t, err)
	failures = make(chan string, 100)
	var mu sync.Mutex
	var lines bytes.Buffer
	p = New(Config{
		Target: target, client: client, wait: time.Millisecond, Failed: func(err error) { failures <- err.Error() },
		Log: slog.New(slog.NewTextHandler(writer(func(b []byte) {
			mu.Lock()
			defer mu.Unlock()
			lines.Write(b)
		}), nil)),
	})
	t.Cleanup(p.Close)
	return p, failures, func() string {
		mu.Lock()
		defer mu.Unlock()
		return lines.String()
	}
}

// said is the next failure.
func said(t *testing.T, failures <-chan string) string {
	t.Helper()
	select {
	case failure := <-failures:
		return failure
	case <-time.After(2 * time.Minute):
		require.FailNow(t, "nothing failed")
		return ""
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

func TestTheBodyIsAsTheReceiverTakesIt(t *testing.T) {
	r := receive(t, false, status(200))
	plain, _, _ := posting(t, r.URL+"/topic", nil)
	plain.Post(Note{Text: "claude asks in vim-k3f9", Link: "https://desk.example/#s=vim-k3f9"})
	require.Equal(t, came{"POST /topic", "text/plain; charset=utf-8", "https://desk.example/#s=vim-k3f9", "claude asks in vim-k3f9"}, <-r.came)
	slack, _, _ := posting(t, r.URL+"/hook#json", nil)
	slack.Post(Note{Text: `a "b`, Link: "https://desk.example/"})
	require.Equal(t, came{"POST /hook", "application/json", "", `{"text":"a \"b https://desk.example/"}`}, <-r.came)
	slack.Post(Note{Text: "no link"})
	require.Equal(t, `{"text":"no link"}`, (<-r.came).body)
}

func TestOneRetryWhereItMayHelp(t *testing.T) {
	r := receive(t, false, status(503), status(200))
	p, failures, log := posting(t, r.URL, nil)
	p.Post(Note{Text: "one"})
	require.Equal(t, "one", (<-r.came).body)
	require.Equal(t, "one", (<-r.came).body)
	require.Empty(t, failures)
	require.Empty(t, log())

	no := receive(t, false, status(404))
	p, failures, log = posting(t, no.URL+"/secret", nil)
	for _, text := range []string{"one", "two"} {
		p.Post(Note{Text: text})
		require.Equal(t, text, (<-no.came).body, "a refusal is not tried again")
	}
	require.Equal(t, strings.TrimPrefix(no.URL, "http://")+": unexpected status 404", said(t, failures))
	p.Close()
	require.Empty(t, failures, "it is said once")
	require.Equal(t, 1, strings.Count(log(), "notifications do not arrive"))
	require.NotContains(t, log(), "secret")
}

func TestItSaysWhenTheyArriveAgain(t *testing.T) {
	r := receive(t, false, status(404), status(200))
	p, failures, log := posting(t, r.URL, nil)
	for range 3 {
		p.Post(Note{Text: "x"})
		<-r.came
	}
	p.Close()
	require.Len(t, failures, 1)
	require.Equal(t, 1, strings.Count(log(), "notifications arrive again"))
}

// A certificate that nobody vouches for is a stranger's.
func TestCertificatesAreChecked(t *testing.T) {
	r := receive(t, true, status(200))
	p, failures, _ := posting(t, r.URL, nil)
	p.Post(Note{Text: "x"})
	require.Contains(t, said(t, failures), "certificate")
	require.Empty(t, r.came)
	trusting, failures, _ := posting(t, r.URL, r.Client())
	trusting.Post(Note{Text: "x"})
	require.Equal(t, "x", (<-r.came).body)
	require.Empty(t, failures)
}

func TestRedirectsStayOnTheHost(t *testing.T) {
	other := receive(t, false, status(200))
	to := func(code int, where string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", where)
			w.WriteHeader(code)
		}
	}
	r := receive(t, false, to(308, "/there"), status(200), to(307, other.URL), to(302, "/there"))
	p, failures, _ := posting(t, r.URL+"/here", nil)
	p.Post(Note{Text: "x"})
	require.Equal(t, "POST /here", (<-r.came).path)
	require.Equal(t, came{"POST /there", "text/plain; charset=utf-8", "", "x"}, <-r.came)
	for range 2 {
		p.Post(Note{Text: "x"})
		<-r.came
	}
	p.Close()
	require.Contains(t, said(t, failures), "redirects to another host")
	require.Empty(t, other.came)
	require.Empty(t, r.came)
}

// A receiver that does not answer costs nobody anything but its notes.
func TestNobodyWaits(t *testing.T) {
	stuck := make(chan struct{})
	r := receive(t, false, func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-stuck:
		case <-req.Context().Done():
		}
	})
	p, _, log := posting(t, r.URL, nil)
	for range queued + 2 { // one is under way
		p.Post(Note{Text: "x"})
	}
	require.Contains(t, log(), "dropped")
	close(stuck)
}

func TestATimeoutIsSaidPlainly(t *testing.T) {
	require.EqualError(t, withoutURL(slow{}), "it does not answer in time")
	require.EqualError(t, withoutURL(errors.New("x")), "x")
}

type slow struct{}

func (slow) Error() string   { return "Post https://secret: slow" }
func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }
