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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// endPatience is how long a process may take to end by itself.
const endPatience = 5 * time.Second

// process is one that can be ended, killed, stopped and started again. One goroutine uses it.
type process struct {
	cmd    *exec.Cmd // nil while none runs
	exited chan struct{}
}

// run starts it, with what it says going to a file.
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

// Pid is the process's id, 0 while none runs.
func (p *process) Pid() int {
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Signal sends it a signal: SIGSTOP has it stand still, and SIGCONT go on.
func (p *process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill ends it without a word.
func (p *process) Kill() { p.over(syscall.SIGKILL) }

// End lets it end by itself.
func (p *process) End() { p.over(syscall.SIGTERM) }

func (p *process) over(how syscall.Signal) {
	if p.cmd == nil {
		return
	}
	p.Signal(how)
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

// Start starts it, and does not wait.
func (n *Node) Start() error {
	return n.run(exec.CommandContext(context.Background(), filepath.Join(n.rig.Bin, "nats-server"), "-c", n.conf), n.rig.log(n.Name))
}

// Gateway is gateway serve with --cluster.
type Gateway struct {
	process
	Name string
	Port int
	seed string
	rig  *Rig
}

// URL is its address.
func (g *Gateway) URL() string { return "ws://127.0.0.1:" + strconv.Itoa(g.Port) }

// Start starts it, and waits until it answers.
func (g *Gateway) Start(ctx context.Context) error {
	r := g.rig
	flags := []string{
		"serve", "--listen", "127.0.0.1:" + strconv.Itoa(g.Port), "--tokens", r.tokens(), "--log",
		"--cluster", r.Servers(), "--cluster-creds", g.seed, "--cluster-tls-ca", filepath.Join(r.Dir, "ca.pem"),
	}
	cmd := r.Command(context.WithoutCancel(ctx), "gateway", append(flags, r.flags...)...)
	home := filepath.Join(r.Dir, "gateway-"+g.Name)
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+filepath.Join(home, "run"), "XDG_STATE_HOME="+home)
	if err := g.run(cmd, r.log("gateway-"+g.Name)); err != nil {
		return err
	}
	err := until(ctx, func() error {
		select {
		case <-g.exited:
			return fmt.Errorf("gateway %s ended: see %s", g.Name, r.log("gateway-"+g.Name))
		default:
		}
		_, err := g.get(ctx, "/healthz", "")
		return err
	})
	return err
}

// Get asks it over HTTP, with the token of a file.
func (g *Gateway) Get(ctx context.Context, path, tokenFile string) (string, error) {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return "", err
	}
	return g.get(ctx, path, strings.TrimSpace(string(token)))
}

func (g *Gateway) get(ctx context.Context, path, token string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", g.Port, path), nil)
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

// hears is how many other gateways it hears, 0 when it does not answer.
func (g *Gateway) hears(ctx context.Context) (n int) {
	text, err := g.get(ctx, "/healthz", "")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(text, `"gateways":`)
	_, _ = fmt.Sscanf(rest, "%d", &n)
	return n
}

// Command is one of the programs, in a home of the rig's.
func (r *Rig) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(r.Bin, name), args...)
	run := filepath.Join(r.Dir, "run")
	_ = os.MkdirAll(run, 0o700)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PROXY_") && !strings.HasPrefix(v, "TERMINALPROXY_") && !strings.HasPrefix(v, "XDG_") && !strings.HasPrefix(v, "HOME=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+r.Dir, "XDG_RUNTIME_DIR="+run, "XDG_STATE_HOME="+filepath.Join(r.Dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(r.Dir, "config"))
	return cmd
}

func (r *Rig) log(name string) string { return filepath.Join(r.Dir, name+".log") }

// failed is an error of a command, with what it said.
func failed(err error) error {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && len(ended.Stderr) > 0 {
		return errors.New(strings.TrimSpace(string(ended.Stderr)))
	}
	return err
}

func listenLoopback() (net.Listener, error) {
	return new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
}

// freePorts are ports of loopback that nobody listens on now.
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

// relay is the way from one NATS server to another, which can be cut.
type relay struct {
	address string
	ln      net.Listener
	to      string

	mu    sync.Mutex
	off   bool
	conns []net.Conn
}

func newRelay(port int) (*relay, error) {
	ln, err := listenLoopback()
	if err != nil {
		return nil, err
	}
	r := &relay{address: ln.Addr().String(), ln: ln, to: fmt.Sprintf("127.0.0.1:%d", port)}
	go r.serve() // ends with the listener
	return r, nil
}

func (r *relay) serve() {
	for {
		near, err := r.ln.Accept()
		if err != nil {
			return
		}
		far, err := new(net.Dialer).DialContext(context.Background(), "tcp", r.to)
		r.mu.Lock()
		if err != nil || r.off {
			_ = near.Close()
			if far != nil {
				_ = far.Close()
			}
		} else {
			r.conns = append(r.conns, near, far)
			go func() { _, _ = io.Copy(near, far); _ = near.Close() }() // both end with the connections
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
		}
		r.mu.Unlock()
	}
}

func (r *relay) cut(off bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.off = off; !off {
		return
	}
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

func (r *relay) close() {
	_ = r.ln.Close()
	r.cut(true)
}
