package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// endPatience bounds how long a process may take to end before it is killed.
const endPatience = 5 * time.Second

// process can be ended, killed, stopped and started again. It is not safe for concurrent use.
type process struct {
	cmd    *exec.Cmd // nil if it does not run
	exited chan struct{}
}

// run starts the process and appends its output to a file.
func (p *process) run(cmd *exec.Cmd, log string) error {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.exited = cmd, make(chan struct{})
	go func(ended chan struct{}) { // ends with the process
		_ = cmd.Wait()
		close(ended)
	}(p.exited)
	return nil
}

// Pid returns the process id, 0 if it does not run.
func (p *process) Pid() int {
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Signal sends a signal: SIGSTOP stops the process, SIGCONT resumes it.
func (p *process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill ends the process without a chance to clean up.
func (p *process) Kill() { p.endWith(syscall.SIGKILL) }

// End lets the process end by itself.
func (p *process) End() { p.endWith(syscall.SIGTERM) }

func (p *process) endWith(signal syscall.Signal) {
	if p.cmd == nil {
		return
	}
	p.Signal(signal)
	p.Signal(syscall.SIGCONT)
	select {
	case <-p.exited:
	case <-time.After(endPatience):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	p.cmd = nil
}

// Node is a NATS server.
type Node struct {
	process
	Name  string
	Port  int
	route int // port for other servers
	conf  string
	store string
	rig   *Rig
}

// Start starts the server without waiting until it answers.
func (n *Node) Start() error {
	server := filepath.Join(n.rig.Bin, "nats-server")
	cmd := exec.CommandContext(context.Background(), server, "-c", n.conf)
	return n.run(cmd, n.rig.logPath(n.Name))
}

// Gateway is gateway serve with --cluster.
type Gateway struct {
	process
	Name string
	Port int
	seed string
	rig  *Rig
}

// URL is the gateway's address.
func (g *Gateway) URL() string { return "ws://127.0.0.1:" + strconv.Itoa(g.Port) }

// Start starts the gateway and waits until it answers.
func (g *Gateway) Start(ctx context.Context) error {
	r := g.rig
	flags := []string{
		"serve", "--log", "--listen", "127.0.0.1:" + strconv.Itoa(g.Port), "--tokens", r.tokensPath(),
		"--cluster", r.Servers(), "--cluster-creds", g.seed,
		"--cluster-tls-ca", filepath.Join(r.Dir, "ca.pem"),
	}
	cmd := r.Command(context.WithoutCancel(ctx), "gateway", append(flags, r.flags...)...)
	home := filepath.Join(r.Dir, "gateway-"+g.Name)
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+filepath.Join(home, "run"), "XDG_STATE_HOME="+home)
	if err := g.run(cmd, r.logPath("gateway-"+g.Name)); err != nil {
		return err
	}
	err := retryUntilDone(ctx, func() error {
		select {
		case <-g.exited:
			return fmt.Errorf("gateway %s ended: see %s", g.Name, r.logPath("gateway-"+g.Name))
		default:
		}
		_, err := g.getPath(ctx, "/healthz", "")
		return err
	})
	return err
}

// Get requests a path over HTTP, with the token of a file.
func (g *Gateway) Get(ctx context.Context, path, tokenFile string) (string, error) {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return "", err
	}
	return g.getPath(ctx, path, strings.TrimSpace(string(token)))
}

func (g *Gateway) getPath(ctx context.Context, path, token string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	url := fmt.Sprintf("http://127.0.0.1:%d%s", g.Port, path)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return string(body), err
}

// countPeers returns how many other gateways it hears, 0 if it does not answer.
func (g *Gateway) countPeers(ctx context.Context) (n int) {
	text, err := g.getPath(ctx, "/healthz", "")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(text, `"gateways":`)
	_, _ = fmt.Sscanf(rest, "%d", &n)
	return n
}

// Command prepares one of the programs, with a home directory of the rig.
func (r *Rig) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(r.Bin, name), args...)
	run := filepath.Join(r.Dir, "run")
	_ = os.MkdirAll(run, 0o700)
	isReplaced := func(v string) bool {
		return strings.HasPrefix(v, "PROXY_") || strings.HasPrefix(v, "TERMINALPROXY_") ||
			strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "HOME=")
	}
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isReplaced),
		"HOME="+r.Dir, "XDG_RUNTIME_DIR="+run,
		"XDG_STATE_HOME="+filepath.Join(r.Dir, "state"),
		"XDG_CONFIG_HOME="+filepath.Join(r.Dir, "config"))
	return cmd
}

func (r *Rig) logPath(name string) string { return filepath.Join(r.Dir, name+".log") }

// withStderr returns the error output of a failed command as the error.
func withStderr(err error) error {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && len(ended.Stderr) > 0 {
		return errors.New(strings.TrimSpace(string(ended.Stderr)))
	}
	return err
}

func listenLoopback() (net.Listener, error) {
	return new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
}

// freePorts returns n unused ports of loopback.
func freePorts(n int) (ports []int, err error) {
	for range n {
		ln, err := listenLoopback()
		if err != nil {
			return nil, err
		}
		defer func() { _ = ln.Close() }()
		ports = append(ports, ln.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// relay connects one NATS server to another, and can be cut.
type relay struct {
	address string
	ln      net.Listener
	to      string

	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

func newRelay(port int) (*relay, error) {
	ln, err := listenLoopback()
	if err != nil {
		return nil, err
	}
	r := &relay{address: ln.Addr().String(), ln: ln, to: fmt.Sprintf("127.0.0.1:%d", port)}
	go r.acceptConns() // ends with the listener
	return r, nil
}

func (r *relay) acceptConns() {
	for {
		near, err := r.ln.Accept()
		if err != nil {
			return
		}
		far, err := new(net.Dialer).DialContext(context.Background(), "tcp", r.to)
		r.mu.Lock()
		if err != nil || r.isCut {
			_ = near.Close()
			if far != nil {
				_ = far.Close()
			}
		} else {
			r.conns = append(r.conns, near, far)
			// Both goroutines end with the connections.
			go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
		}
		r.mu.Unlock()
	}
}

func (r *relay) setCut(isCut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isCut = isCut; !isCut {
		return
	}
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

func (r *relay) close() {
	_ = r.ln.Close()
	r.setCut(true)
}
