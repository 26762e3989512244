package open

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"terminalproxy/cmd/internal/cli"
)

// The values of --via.
const (
	viaTailscale   = "tailscale"
	viaSSH         = "ssh"
	viaCloudflared = "cloudflared"
)

// tunnel lets other devices reach a page of this machine, by a program of the user's. This program
// relays nothing itself.
type tunnel struct {
	// command opens the tunnel, as a user would type it. If there is set, it is for the other
	// device, otherwise it runs here.
	command string
	there   bool
	// host is the name, or name:port, of the page with TLS; "" if the link is the same as here.
	host string
	note string // a note for the user, or ""
	// dial connects to host; nil asks the system for its address.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	// helper runs command, nil where nothing runs here.
	helper *helper
}

// openTunnel opens a tunnel to a page on a port of this machine. close ends it.
func openTunnel(ctx context.Context, env *cli.Env, via string, port int) (*tunnel, error) {
	switch via {
	case viaTailscale:
		return findTailscale(ctx, env, port)
	case viaCloudflared:
		return findCloudflared(ctx, env, port)
	default:
		return findSSH(ctx, env, port)
	}
}

// close ends the tunnel's program.
func (w *tunnel) close() {
	if w != nil && w.helper != nil {
		w.helper.stop()
	}
}

// findInstalled returns the path of a program, or an error with a hint to install it.
func findInstalled(env *cli.Env, name, hint string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", cli.Fail(cli.StatusRefused, "%s: --via %s: %s is not installed", env.Command, name,
			name).WithHint(hint)
	}
	return path, nil
}

// askPatience bounds a question to a program.
const askPatience = 10 * time.Second

// tailnet is the used part of `tailscale status --json`.
type tailnet struct {
	BackendState string
	CertDomains  []string
	Self         struct {
		DNSName      string
		TailscaleIPs []string
	}
}

func findTailscale(ctx context.Context, env *cli.Env, port int) (*tunnel, error) {
	path, err := findInstalled(env, viaTailscale,
		"install it from https://tailscale.com/download, on the other device too, then run: "+
			"tailscale up")
	if err != nil {
		return nil, err
	}
	var net tailnet
	if err := runJSON(ctx, env, &net, path, "status", "--json"); err != nil {
		return nil, err
	}
	name, err := net.certifiedName(env)
	if err != nil {
		return nil, err
	}
	free, err := freeHTTPS(ctx, env, path)
	if err != nil {
		return nil, err
	}
	args := []string{"serve", "--https=" + free, strconv.Itoa(port)}
	h, err := runHelper(path, args, nil)
	if err != nil {
		return nil, cli.Fail(cli.StatusRefused, "%s: --via tailscale: %w", env.Command, err)
	}
	w := &tunnel{
		command: "tailscale " + strings.Join(args, " "),
		host:    name,
		helper:  h,
		note:    "Only devices of your tailnet reach it.",
	}
	if free != "443" {
		w.host += ":" + free
	}
	if len(net.Self.TailscaleIPs) > 0 { // this machine may not ask its tailnet for names
		w.dial = dialInstead(net.Self.TailscaleIPs[0])
	}
	return w, nil
}

// certifiedName returns this machine's name in the tailnet, which has a certificate.
func (n tailnet) certifiedName(env *cli.Env) (string, error) {
	name := strings.TrimSuffix(n.Self.DNSName, ".")
	switch {
	case n.BackendState != "Running":
		return "", cli.Fail(cli.StatusRefused, "%s: --via tailscale: this machine is not connected (%s)",
			env.Command, cmp.Or(n.BackendState, "no state")).WithHint("run: tailscale up")
	case name == "" || !slices.Contains(n.CertDomains, name):
		return "", cli.Fail(cli.StatusRefused,
			"%s: --via tailscale: this machine has no name with a certificate", env.Command).
			WithHint(
				"turn on MagicDNS and HTTPS Certificates at https://login.tailscale.com/admin/dns")
	}
	return name, nil
}

// freeHTTPS returns a port that `tailscale serve` does not use yet.
func freeHTTPS(ctx context.Context, env *cli.Env, path string) (string, error) {
	type ports struct{ TCP map[string]any }
	var served struct {
		ports
		Foreground map[string]ports
	}
	if err := runJSON(ctx, env, &served, path, "serve", "status", "--json"); err != nil {
		return "", err
	}
	for _, port := range []string{"443", "8443", "10000"} {
		_, taken := served.TCP[port]
		for _, f := range served.Foreground {
			_, also := f.TCP[port]
			taken = taken || also
		}
		if !taken {
			return port, nil
		}
	}
	return "", cli.Fail(cli.StatusRefused,
		"%s: --via tailscale: the ports 443, 8443 and 10000 of this machine are taken", env.Command).
		WithHint("see: tailscale serve status; and --host for a name of your own")
}

// runJSON reads the JSON that a program answers.
func runJSON(ctx context.Context, env *cli.Env, into any, path string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		return cli.Fail(cli.StatusRefused, "%s: --via tailscale: tailscale %s: %w", env.Command,
			strings.Join(args, " "), err).WithHint("run it by hand to see why")
	}
	return nil
}

// dialInstead returns a dial function that always connects to the same address.
func dialInstead(ip string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(ip, port))
	}
}

// quickName matches the name of a Cloudflare tunnel that needs no account.
var quickName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`https://([a-z0-9-]+\.trycloudflare\.com)`)
})

func findCloudflared(ctx context.Context, env *cli.Env, port int) (*tunnel, error) {
	path, err := findInstalled(env, viaCloudflared,
		"install it from https://github.com/cloudflare/cloudflared/releases")
	if err != nil {
		return nil, err
	}
	args := []string{"tunnel", "--no-autoupdate", "--url", "http://127.0.0.1:" + strconv.Itoa(port)}
	h, err := runHelper(path, args, quickName())
	if err != nil {
		return nil, cli.Fail(cli.StatusRefused, "%s: --via cloudflared: %w", env.Command, err)
	}
	select {
	case name := <-h.found:
		return &tunnel{
			command: "cloudflared " + strings.Join(args, " "), host: name, helper: h,
			note: "Anyone on the Internet can reach it, but only a link lets them in. " +
				"Cloudflare can read what it shows.",
		}, nil
	case <-h.ended:
		err = fmt.Errorf("cloudflared has ended: %s", h.lastLine())
	case <-time.After(patienceOf(ctx)):
		err = fmt.Errorf("cloudflared names no tunnel: %s", h.lastLine())
	case <-ctx.Done():
		err = ctx.Err()
	}
	h.stop()
	return nil, cli.Fail(cli.StatusRefused, "%s: --via cloudflared: %w", env.Command, err).WithHint(
		"run it by hand to see why: cloudflared " + strings.Join(args, " "))
}

// findSSH checks for an SSH server here. Only the other device runs a command.
func findSSH(ctx context.Context, env *cli.Env, port int) (*tunnel, error) {
	host, sshd := hostOf(os.Getenv("SSH_CONNECTION"))
	if err := checkSSH(ctx, sshd); err != nil {
		return nil, cli.Fail(cli.StatusRefused, "%s: --via ssh: no SSH server answers at %s: %w", env.Command,
			sshd, err).
			WithHint("start one on this machine, e.g.: sudo apt install openssh-server")
	}
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username + "@"
	}
	forward := fmt.Sprintf("%d:127.0.0.1:%d", port, port)
	args := []string{"ssh", "-N", "-L", forward}
	if _, at, err := net.SplitHostPort(sshd); err == nil && at != "22" {
		args = append(args, "-p", at)
	}
	return &tunnel{
		command: strings.Join(append(args, name+host), " "),
		there:   true,
		note:    "The link works on the device where that runs.",
	}, nil
}

// hostOf returns the host by which others reach this machine by SSH: the one that this login used
// (ssh(1), SSH_CONNECTION), else the machine's name. sshd is the server's own address.
func hostOf(connection string) (host, sshd string) {
	if f := strings.Fields(connection); len(f) == 4 {
		return f[2], net.JoinHostPort(f[2], f[3])
	}
	host, err := os.Hostname()
	if err != nil {
		host = "HOST"
	}
	return host, "127.0.0.1:22"
}

// checkSSH checks that a server sends the greeting of SSH (RFC 4253, section 4.2).
func checkSSH(ctx context.Context, address string) error {
	conn, err := (&net.Dialer{Timeout: askPatience}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetReadDeadline(time.Now().Add(askPatience)); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "SSH-") {
		err = fmt.Errorf("unexpected greeting %.40q", line)
	}
	return err
}
