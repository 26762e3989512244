package open

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"

	"terminalproxy/gateway/text"
)

// helper is a program that runs as long as a page is open.
type helper struct {
	cmd   *exec.Cmd
	found chan string   // what the pattern matched in its output, once
	ended chan struct{} // closed when it has ended

	mu   sync.Mutex
	line string // its last non-empty line of output
}

// runHelper starts a program in a new process group, so that Ctrl+C ends the page first. pattern
// finds the wanted text in the output; it may be nil.
func runHelper(path string, args []string, pattern *regexp.Regexp) (*helper, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	h := &helper{
		cmd:   exec.Command(path, args...), //nolint:noctx // stop ends it, in its own way
		found: make(chan string, 1),
		ended: make(chan struct{}),
	}
	h.cmd.Stdout, h.cmd.Stderr, h.cmd.SysProcAttr = write, write, &syscall.SysProcAttr{
		Setpgid: true,
	}
	err = h.cmd.Start()
	_ = write.Close()
	if err != nil {
		return nil, errors.Join(err, read.Close())
	}
	all := make(chan struct{})
	go func() { // ends with the program's output
		defer close(all)
		defer func() { _ = read.Close() }()
		h.read(read, pattern)
	}()
	go func() { // ends with the program
		defer close(h.ended)
		_ = h.cmd.Wait()
		select { // its last output explains its end
		case <-all:
		case <-time.After(time.Second): // another process still holds its output open
		}
	}()
	return h, nil
}

// read reads the program's output.
func (h *helper) read(from io.Reader, pattern *regexp.Regexp) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			continue
		}
		h.mu.Lock()
		h.line = line
		h.mu.Unlock()
		if pattern == nil {
			continue
		}
		if m := pattern.FindStringSubmatch(line); m != nil {
			select {
			case h.found <- m[1]:
			default: // matched before
			}
		}
	}
	_, _ = io.Copy(io.Discard, from) // an overlong line
}

// lastLine returns the last line of the helper's output, safe for a terminal.
func (h *helper) lastLine() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.line == "" {
		return "it printed nothing"
	}
	return fmt.Sprintf("%.200s", text.OneLine(h.line))
}

// stopPatience is how long a program may take to end after it was asked to.
const stopPatience = 5 * time.Second

// stop ends the program and everything that it started.
func (h *helper) stop() {
	group := -h.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGINT)
	select {
	case <-h.ended:
	case <-time.After(stopPatience):
		_ = syscall.Kill(group, syscall.SIGKILL)
		<-h.ended
	}
}

// tunnelPatience is how long a new tunnel may take until the page answers through it: a first
// certificate takes some seconds, and so does a new name.
const tunnelPatience = time.Minute

// patienceOf returns the time until ctx's deadline, or tunnelPatience without one.
func patienceOf(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return time.Until(end)
	}
	return tunnelPatience
}

// viaTransport connects through a tunnel to test it; nil is the system's. Tests replace it.
var viaTransport http.RoundTripper

// waitReachable waits until the page at a local address answers through the tunnel with the same
// id.
func (w *tunnel) waitReachable(ctx context.Context, local string) error {
	if w == nil || w.host == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patienceOf(ctx))
	defer cancel()
	transport := viaTransport
	if transport == nil {
		own := &http.Transport{DialContext: w.dial, ForceAttemptHTTP2: true}
		defer own.CloseIdleConnections()
		transport = own
	}
	client := &http.Client{Transport: transport, Timeout: askPatience}
	direct := &http.Transport{
		DisableKeepAlives: true, DialContext: (&net.Dialer{}).DialContext,
	}
	want, err := fetchServerID(ctx, &http.Client{Transport: direct}, local)
	if err != nil {
		return err
	}
	for {
		got, err := fetchServerID(ctx, client, "https://"+w.host)
		switch {
		case err == nil && got == want:
			return nil
		case err == nil:
			err = errors.New("another server answers there")
		}
		select {
		case <-w.helperGone():
			return fmt.Errorf("it has ended: %s", w.helper.lastLine())
		case <-ctx.Done():
			return err
		case <-time.After(time.Second / 2):
		}
	}
}

// helperGone returns a channel that is closed when the tunnel's program has ended, nil without a
// program.
func (w *tunnel) helperGone() <-chan struct{} {
	if w == nil || w.helper == nil {
		return nil
	}
	return w.helper.ended
}

// fetchServerID returns the id of a page's server, which is unique.
func fetchServerID(ctx context.Context, client *http.Client, base string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/page/id", nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct{ ID string }
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("unexpected status %d", resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 4<<10)).Decode(&answer); err != nil ||
		answer.ID == "" {
		return "", errors.New("another server answers there")
	}
	return answer.ID, nil
}
