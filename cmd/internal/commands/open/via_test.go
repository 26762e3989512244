package open

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/protocol/fake"
)

// standIns is a directory with programs that stand in for others, the only one in $PATH beside the
// system's shell. Each program writes its arguments to the file "log", and "off" when it is asked
// to end.
type standIns struct {
	t   *testing.T
	dir string
}

func fakePrograms(t *testing.T, all map[string]string) standIns {
	t.Helper()
	p := standIns{t, t.TempDir()}
	for name, body := range all {
		script := "#!/bin/sh\nPATH=/usr/bin:/bin\ncd " + p.dir + "\n" +
			"lasts() { echo $$ > pid; echo \"$@\" >> log; trap 'echo off >> log; exit 0' INT TERM; while :; do sleep 0.02; done; }\n" + body
		require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), []byte(script), 0o700)) //nolint:gosec // the file is executed
	}
	t.Setenv("PATH", p.dir)
	return p
}

func (p standIns) write(name, content string) {
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600))
}

func (p standIns) log() string {
	content, err := os.ReadFile(filepath.Join(p.dir, "log"))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(p.t, err)
	}
	return string(content)
}

// forwardRequests lets requests for a name reach the port that a program was told, as the program
// would forward them.
func (p standIns) forwardRequests(t *testing.T, host string) {
	t.Helper()
	port := regexp.MustCompile(`(\d+)\n`)
	viaTransport = roundTrip(func(r *http.Request) (*http.Response, error) {
		m := port.FindStringSubmatch(p.log())
		if m == nil || r.URL.Host != host || r.URL.Scheme != "https" {
			return nil, errors.New("no such host")
		}
		inner := r.Clone(r.Context())
		inner.Host, inner.URL.Scheme, inner.URL.Host = host, "http", "127.0.0.1:"+m[1]
		return http.DefaultTransport.RoundTrip(inner)
	})
	t.Cleanup(func() { viaTransport = nil })
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

const fakeTailscale = `case "$1 $2" in
"status --json") cat status;;
"serve status") cat served;;
*) lasts "$@";;
esac
`

const connected = `{"BackendState":"Running","CertDomains":["desk.tail12.ts.net"],"Self":{"DNSName":"desk.tail12.ts.net.","TailscaleIPs":["100.64.0.1"]}}`

func TestOpenViaTailscale(t *testing.T) {
	for _, c := range []struct{ name, served, port, host string }{
		{"nothing is served", "{}", "443", "desk.tail12.ts.net"},
		{"443 is taken", `{"TCP":{"443":{"HTTPS":true}}}`, "8443", "desk.tail12.ts.net:8443"},
		{"443 is taken for a while", `{"Foreground":{"1":{"TCP":{"443":{"HTTPS":true}}}},"TCP":{"8443":{}}}`, "10000", "desk.tail12.ts.net:10000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clitest.ShareTerminal(t)
			p := fakePrograms(t, map[string]string{"tailscale": fakeTailscale})
			p.write("status", connected)
			p.write("served", c.served)
			p.forwardRequests(t, c.host)
			out, end := openPage(t, "--via", "tailscale", "--json")
			var got struct{ URL, Command string }
			require.NoError(t, json.NewDecoder(out).Decode(&got))
			require.Regexp(t, `^https://`+regexp.QuoteMeta(c.host)+`/#c=[a-z2-7]{16}$`, got.URL)
			require.Regexp(t, `^tailscale serve --https=`+c.port+` \d+$`, got.Command)
			require.Equal(t, strings.TrimPrefix(got.Command, "tailscale ")+"\n", p.log())
			status, _ := end()
			require.Zero(t, status)
			require.Equal(t, strings.TrimPrefix(got.Command, "tailscale ")+"\noff\n", p.log(), "what it did is undone")
		})
	}
}

func TestOpenViaTailscaleSaysWhatIsMissing(t *testing.T) {
	clitest.ShareTerminal(t)
	p := fakePrograms(t, map[string]string{"tailscale": fakeTailscale})
	p.write("served", `{"TCP":{"443":{},"8443":{},"10000":{}}}`)
	for status, say := range map[string]string{
		"":                              "tailscale status --json: ",
		`{"BackendState":"NeedsLogin"}`: "open: --via tailscale: this machine is not connected (NeedsLogin)\nhint: run: tailscale up",
		`{"BackendState":"Running","Self":{"DNSName":"desk.tail12.ts.net."}}`: "this machine has no name with a certificate\nhint: turn on MagicDNS and HTTPS",
		connected: "the ports 443, 8443 and 10000 of this machine are taken",
	} {
		p.write("status", status)
		clitest.RunFailing(t, cli.StatusRefused, say, "open", "--via", "tailscale")
	}
	require.Empty(t, p.log())
	for name, hint := range map[string]string{"tailscale": "https://tailscale.com/download", "cloudflared": "https://github.com/cloudflare/cloudflared"} {
		t.Setenv("PATH", t.TempDir())
		clitest.RunFailing(t, cli.StatusRefused, "open: --via "+name+": "+name+" is not installed\nhint: install it from "+hint, "open", "--via", name)
	}
	clitest.RunFailing(t, cli.StatusUsage, `open: --via "frp": must be tailscale, ssh or cloudflared`, "open", "--via", "frp")
	clitest.RunFailing(t, cli.StatusUsage, "open: --via ssh: names the page itself: leave --host out", "open", "--via", "ssh", "--host", "x")
}

func TestOpenViaCloudflared(t *testing.T) {
	clitest.ShareTerminal(t)
	p := fakePrograms(t, map[string]string{"cloudflared": `echo "INF |  https://two-words.trycloudflare.com  |" >&2
lasts "$@"
`})
	p.forwardRequests(t, "two-words.trycloudflare.com")
	out, end := openPage(t, "--via", "cloudflared")
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^https://two-words\.trycloudflare\.com/#c=[a-z2-7]{16}\n$`, line)
	require.Regexp(t, `^tunnel --no-autoupdate --url http://127\.0\.0\.1:\d+\n$`, p.log())
	status, _ := end()
	require.Zero(t, status)
	require.True(t, strings.HasSuffix(p.log(), "\noff\n"))
}

// An unreachable page is not opened, and one that becomes unreachable is closed.
func TestOpenEndsWithItsWay(t *testing.T) {
	clitest.ShareTerminal(t)
	fakePrograms(t, map[string]string{"cloudflared": "echo failed to request quickName Tunnel >&2\nexit 1\n"})
	clitest.RunFailing(t, cli.StatusRefused, "open: --via cloudflared: cloudflared has ended: failed to request quickName Tunnel\nhint: run it by hand", "open", "--via", "cloudflared")

	p := fakePrograms(t, map[string]string{"cloudflared": "echo https://x.trycloudflare.com\nlasts \"$@\"\n"})
	viaTransport = roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"key":"another"}`))}, nil
	})
	t.Cleanup(func() { viaTransport = nil })
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorContains(t, (&tunnel{host: "x.trycloudflare.com"}).waitReachable(ctx, startKey(t, "ours")), "another server answers there")

	p.forwardRequests(t, "x.trycloudflare.com")
	out, end := openPage(t, "--via", "cloudflared")
	_, err := out.ReadString('\n')
	require.NoError(t, err)
	pid, err := os.ReadFile(filepath.Join(p.dir, "pid"))
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(n, syscall.SIGKILL))
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Contains(t, string(rest), "open: --via cloudflared: cloudflared has ended")
	status, _ := end()
	require.Equal(t, cli.StatusRefused, status)
}

func TestOpenViaSSH(t *testing.T) {
	clitest.ShareTerminal(t)
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { // ends with the listener
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "SSH-2.0-fake\r\n")
			_ = conn.Close()
		}
	}()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	require.NoError(t, err)
	t.Setenv("SSH_CONNECTION", "127.0.0.1 5555 127.0.0.1 "+port)
	out, end := openPage(t, "--via", "ssh")
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^on the other device: ssh -N -L (\d+):127\.0\.0\.1:(\d+) -p `+port+` \S+@127\.0\.0\.1\n$`, line)
	link, err := out.ReadString('\n')
	require.NoError(t, err)
	forward := regexp.MustCompile(`-L (\d+):127\.0\.0\.1:(\d+) `).FindStringSubmatch(line)
	require.Equal(t, forward[1], forward[2])
	require.True(t, strings.HasPrefix(link, "http://127.0.0.1:"+forward[1]+"/#c="), link)
	status, _ := end()
	require.Zero(t, status)
	require.NoError(t, ln.Close())
	clitest.RunFailing(t, cli.StatusRefused, "open: --via ssh: no SSH server answers at 127.0.0.1:"+port, "open", "--via", "ssh")
}

// startKey starts a server that has a key.
func startKey(t *testing.T, key string) (base string) {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &http.Server{ReadHeaderTimeout: fake.Soon, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"key": key})
	})}
	go func() { _ = s.Serve(ln) }() // ends with the test
	t.Cleanup(func() { _ = s.Close() })
	return "http://" + ln.Addr().String()
}
