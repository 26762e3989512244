package open

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/userdirs"
)

// openPage runs gateway open without a terminal until end is called.
func openPage(t *testing.T, args ...string) (out *bufio.Reader, end func() (status int, rest string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	status := make(chan int, 1)
	go func() { // ends with ctx
		status <- clitest.Run(ctx, append([]string{"open"}, args...), io.NopCloser(strings.NewReader("\ny\n")), write, write)
		_ = write.Close()
	}()
	out = bufio.NewReader(read)
	return out, func() (int, string) {
		cancel()
		rest, err := io.ReadAll(out)
		require.NoError(t, err)
		http.DefaultClient.CloseIdleConnections()
		return <-status, string(rest)
	}
}

// enterBy enters a page by its link.
func enterBy(t *testing.T, link string) (status int, fields map[string]any) {
	t.Helper()
	base, code, found := strings.Cut(link, "/#c=")
	require.True(t, found, link)
	body := `{"code":"` + strings.TrimSpace(code) + `","key":"` + strings.Repeat("ab", 32) + `"}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/page/enter", strings.NewReader(body))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&fields))
	return resp.StatusCode, fields
}

func TestOpenPrintsTheLinkAlone(t *testing.T) {
	clitest.ShareTerminal(t)
	out, end := openPage(t)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/#c=[a-z2-7]{16}\n$`, line)
	status, page := enterBy(t, line)
	require.Equal(t, http.StatusOK, status, page)
	require.Equal(t, "viewer", page["role"])
	code, rest := end()
	require.Zero(t, code)
	require.Empty(t, rest, "without a terminal it says the link and nothing else")
}

func TestOpenAsJSON(t *testing.T) {
	p := clitest.ShareTerminal(t)
	out, end := openPage(t, p.ID, "--json", "--host", "Laptop.example")
	var got map[string]any
	require.NoError(t, json.NewDecoder(out).Decode(&got))
	require.Equal(t, "viewer", got["role"])
	require.Equal(t, p.ID, got["session"])
	require.Regexp(t, `^https://laptop\.example/#c=`, got["url"])
	require.NotZero(t, got["expires"])
	code, _ := end()
	require.Zero(t, code)
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := clitest.Isolate(t)
	for _, c := range []struct {
		status int
		say    string
		args   []string
	}{
		{cli.StatusUsage, `open: --role "boss": must be viewer or owner`, []string{"--role", "boss"}},
		{cli.StatusUsage, "--for 10: missing unit", []string{"--for", "10"}},
		{cli.StatusUsage, "open: --for 0s: must be more than 0 and at most 168h", []string{"--for", "0s"}},
		{cli.StatusUsage, "open: --for 169h0m0s: must be more than 0 and at most 168h", []string{"--for", "169h"}},
		{cli.StatusUsage, `open: --listen "0.0.0.0:80": the page is served on this machine only`, []string{"--listen", "0.0.0.0:80"}},
		{cli.StatusUsage, `open: --listen "7117": address 7117: missing port in address: write it as 127.0.0.1:PORT`, []string{"--listen", "7117"}},
		{cli.StatusUsage, `open: --host "https://x": write a name, or name:port, without https://`, []string{"--host", "https://x"}},
		{cli.StatusUsage, `open: --notify: scheme "file": must be https or http`, []string{"--notify", "file:///x"}},
		{cli.StatusUsage, "open: --notify: it holds a user name or password", []string{"--notify", "https://ada:pw@example.com"}},
		{cli.StatusUsage, "open: --notify-after -1s: must be 0s to 1h", []string{"--notify-after", "-1s"}},
		{cli.StatusUsage, "open: too many arguments", []string{"one", "two"}},
		{cli.StatusForbidden, "open: standard input is not a terminal, so no person can be asked", []string{"--role", "owner"}},
		{cli.StatusNoGateway, "connect: no gateway is running", nil},
	} {
		clitest.RunFailing(t, c.status, c.say, append([]string{"open"}, c.args...)...)
	}
	p := &clitest.Terminal{ID: "sh-1"}
	p.ShareIn(t, dir)
	clitest.RunFailing(t, cli.StatusNoSession, `no session "nothing"`, "open", "nothing")
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	clitest.RunFailing(t, cli.StatusRefused, "open: --listen "+ln.Addr().String()+": the port is taken", "open", "--listen", ln.Addr().String())
	t.Setenv("TERMINALPROXY_SESSION", "sh-1")
	clitest.RunFailing(t, cli.StatusForbidden, "open: this shell runs inside the session sh-1, where an agent may be typing", "open", "--role", "owner")
}

// The next gateway open removes what a killed one left, even if it needs no keys itself.
func TestOpenRemovesWhatAKilledOpenLeft(t *testing.T) {
	clitest.ShareTerminal(t)
	path, err := userdirs.TokensPath()
	require.NoError(t, err)
	store, err := auth.OpenStore(path, nil)
	require.NoError(t, err)
	_, err = store.Create(auth.Token{Name: "owner", Role: auth.RoleOwner})
	require.NoError(t, err)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	left := strings.Replace(string(file), `"name":"owner"`, `"name":"page-x","holder":"holder-aaaaaaaaaa.lock"`, 1)
	require.NoError(t, os.WriteFile(path, append(file, left...), 0o600))
	tokens, err := store.List()
	require.NoError(t, err)
	require.Len(t, tokens, 2)
	out, end := openPage(t)
	_, err = out.ReadString('\n')
	require.NoError(t, err)
	tokens, err = store.List()
	require.NoError(t, err)
	require.Len(t, tokens, 1)
	require.Equal(t, "owner", tokens[0].Name)
	_, _ = end()
}

// tokenOf makes a token of a role, and returns the file with it.
func tokenOf(t *testing.T, role string, more ...string) string {
	t.Helper()
	got := clitest.Command(t, append([]string{"token", "create", role, "--role", role}, more...)...)
	require.Zero(t, got.Status, got.Err)
	path := t.TempDir() + "/token"
	require.NoError(t, os.WriteFile(path, []byte(got.Out), 0o600))
	return path
}

// At a remote gateway, the token's role counts. The gateway serves pages if it was started to; with
// --listen, this machine serves them.
func TestOpenAtARemoteGateway(t *testing.T) {
	clitest.Isolate(t)
	s := clitest.Serve(t)
	viewer := tokenOf(t, "viewer")
	clitest.RunFailing(t, cli.StatusForbidden, "role agent may not use /v1/view", "open", "--gateway", s.URL, "--token-file", tokenOf(t, "agent"))
	clitest.RunFailing(t, cli.StatusForbidden, "open: the gateway at "+s.URL+" requires a token", "open", "--gateway", s.URL)
	got := clitest.Command(t, "open", "--gateway", s.URL, "--token-file", viewer)
	require.Equal(t, cli.StatusRefused, got.Status)
	require.Equal(t, "gateway: open: the gateway at "+s.URL+" serves no web pages\nhint: start it there with: gateway serve --page; "+
		"or serve the page on this machine: gateway open --listen 127.0.0.1:0\n", got.Err)
	out, end := openPage(t, "--gateway", s.URL, "--token-file", viewer, "--listen", "127.0.0.1:0")
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.NotContains(t, line, strings.TrimPrefix(s.URL, "ws"))
	status, _ := enterBy(t, line)
	require.Equal(t, http.StatusOK, status)
	code, _ := end()
	require.Zero(t, code)
}

func TestOpenAtAServer(t *testing.T) {
	clitest.Isolate(t)
	s := clitest.Serve(t, "--page")
	out, end := openPage(t, "--gateway", s.URL, "--token-file", tokenOf(t, "viewer"))
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, "^http"+strings.TrimPrefix(s.URL, "ws")+"/#c=[a-z2-7]{16}\n$", line)
	status, page := enterBy(t, line)
	require.Equal(t, http.StatusOK, status, page)
	require.Equal(t, "viewer", page["role"])
	status, again := enterBy(t, line)
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, again["error"], "the link was used")
	code, rest := end()
	require.Zero(t, code)
	require.Empty(t, rest)
}

// A revoked token ends what was opened with it, and gateway open says so.
func TestOpenEndsWithItsToken(t *testing.T) {
	clitest.Isolate(t)
	s := clitest.Serve(t, "--page")
	out, end := openPage(t, "--gateway", s.URL, "--token-file", tokenOf(t, "viewer"))
	_, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Zero(t, clitest.Command(t, "token", "revoke", "viewer").Status)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "gateway: open: the token was revoked or has expired\n", line)
	code, _ := end()
	require.Equal(t, cli.StatusRefused, code)
}

func TestACodeIsDrawnBlackOnWhite(t *testing.T) {
	lines := halfBlocks(func(x, y int) bool { return x == 0 && y == 0 || x == 1 && y == 1 }, 2)
	require.Len(t, lines, 3)
	require.Equal(t, "\x1b[30;107m  ▀▄  \x1b[m", lines[1])
	require.Equal(t, "\x1b[30;107m      \x1b[m", lines[0])
}
