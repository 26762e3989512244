package world

import (
	"io"
	"net/http"
	"strings"
	"syscall"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// WaitListed waits until a session is listed as running.
func (w *World) WaitListed(id string) {
	w.T.Helper()
	var last string
	w.Until(func() bool {
		got := w.Gateway("ls")
		last = got.Out + got.Err
		for line := range strings.Lines(got.Out) {
			if strings.HasPrefix(line, id+" ") && strings.Contains(line, protocol.StateRunning) {
				return true
			}
		}
		return false
	}, func() string { return id + " in\n" + last })
}

// Unwrapped joins the rows of a screen on which a long line is wrapped.
func Unwrapped(screen string) string { return strings.ReplaceAll(screen, "\n", "") }

// Server is `gateway serve`.
type Server struct {
	*Running
	URL string
}

// Serve starts a gateway on a free port, and waits until the gateway prints its address.
func (w *World) Serve(command string, flags ...string) *Server {
	w.T.Helper()
	s := &Server{Running: w.Start(command, append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)}
	w.T.Cleanup(func() { _ = s.Cmd.Process.Signal(syscall.SIGTERM) })
	w.Until(func() bool {
		first, _, whole := strings.Cut(s.Out.String(), "\n")
		s.URL = strings.TrimPrefix(first, "listening on ")
		return whole
	}, s.Err.String)
	return s
}

// PostPrompt sends a prompt to a conversation over HTTP, with an owner's token.
func (s *Server) PostPrompt(owner, id, text string) (status int, body string) {
	s.w.T.Helper()
	url := strings.Replace(s.URL, "ws", "http", 1) + "/v1/sessions/" + id + "/chat/send"
	ask, err := http.NewRequestWithContext(s.w.Ctx, http.MethodPost, url, strings.NewReader(`{"text":"`+text+`"}`))
	require.NoError(s.w.T, err)
	ask.Header.Set("Authorization", "Bearer "+owner)
	ask.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(ask)
	require.NoError(s.w.T, err)
	defer got.Body.Close()
	answer, err := io.ReadAll(got.Body)
	require.NoError(s.w.T, err)
	return got.StatusCode, string(answer)
}

// Token makes a token and writes it to a file.
func (w *World) Token(name, role string) string {
	w.T.Helper()
	w.Write(name, w.MustGateway("token", "create", name, "--role", role))
	return w.Path(name)
}
