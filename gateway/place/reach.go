package place

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"terminalproxy/protocol/handshake"
)

const (
	// stoppedPatience is how long a process that is stopped may go on being so, and answerPatience how long any other may
	// take to answer, before others take its place.
	stoppedPatience = time.Second
	answerPatience  = 3 * time.Second
	// secondLook is for an answer that came while this process itself was stopped, and the time ran out.
	secondLook = 250 * time.Millisecond
	// movePatience is what the owner of a name that changed gets to end its connections itself, after what it has to say.
	movePatience = time.Second
)

const (
	// HeaderFiles is the header in which a gateway says how many files it can have open, with the status 503 where all are.
	HeaderFiles = "Terminal-Gateway-Files"
	// Few files are what a process has that serves only for want of another. No system sets fewer than 256 by default.
	Few = 256
)

// ErrReplaced says that the name changed hands during the dialling; the next try finds the new owner.
var ErrReplaced = errors.New("the local gateway just changed hands")

// Silent is the error of a process that has the place and does not answer, or answers that it is full.
type Silent struct {
	Process Process
	Stopped bool // by a signal, as the kernel says
	Full    bool // it has no file descriptor for one more connection
	Files   int  // how many files it can have open, 0 where it has not said so
	path    string
	at      mark
}

// Few reports whether the process should not serve if another one can.
func (s *Silent) Few() bool { return s.Files > 0 && s.Files < Few }

// Error implements error.
func (s *Silent) Error() string {
	switch {
	case s.Stopped:
		return fmt.Sprintf("%s, which serves the local gateway, does not answer: it is stopped %s", s.Process, s.Process.Resume())
	case s.Full:
		return fmt.Sprintf("%s, which serves the local gateway, has all its %d file descriptors in use", s.Process, s.Files)
	}
	return fmt.Sprintf("%s, which serves the local gateway, does not answer", s.Process)
}

// Hint is what to do about it, "" for nothing.
func (s *Silent) Hint() string {
	if s.Full {
		return "end agents that you do not need, or start one with a higher limit of open files (ulimit -n), which takes over"
	}
	return ""
}

// Displace takes the name from the process, so that another one can serve. Who has taken its place already keeps it.
func (s *Silent) Displace() error { return remove(s.path, s.at) }

// Conn is a connection to the owner of a name. It ends when the name changes hands and the owner does not end it itself.
type Conn struct {
	*net.UnixConn
	process Process
	gathers bool
	files   int
	path    string
	at      mark
	moving  sync.Once
	unwatch func()
	closing sync.Once
}

// Reach dials the name and makes sure that its owner answers; the connection is then like one just made. dial is asked for a
// Unix socket that may be trusted. A process that does not answer is a [*Silent], a name that nobody has is [Vacant].
func Reach(ctx context.Context, path string, dial func(context.Context, string) (net.Conn, error)) (*Conn, error) {
	c := &Conn{path: path}
	var err error
	if c.at, err = markOf(path); err != nil {
		return nil, err
	}
	raw, err := dial(ctx, path)
	if errors.Is(err, syscall.EAGAIN) { // so many wait that no more are let in
		return nil, &Silent{path: path, at: c.at}
	}
	if err != nil {
		return nil, err
	}
	var ok bool
	if c.UnixConn, ok = raw.(*net.UnixConn); !ok {
		_ = raw.Close()
		return nil, fmt.Errorf("%s: not a unix socket", path)
	}
	c.process = ProcessOf(c.UnixConn)
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	err = c.probe()
	if !stop() && err != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	c.unwatch = watchDir(filepath.Dir(path), c.look)
	if now, err := markOf(path); err != nil || now != c.at {
		_ = c.Close()
		return nil, ErrReplaced
	}
	return c, nil
}

// probe asks the owner for a sign of life.
func (c *Conn) probe() error {
	if _, err := io.WriteString(c.UnixConn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err
	}
	first := make([]byte, 1)
	if err := c.hear(first); err != nil {
		return err
	}
	bound, err := handshake.Bound(c.UnixConn, answerPatience)
	if err != nil {
		return err
	}
	answer := bufio.NewReader(io.MultiReader(bytes.NewReader(first), bound))
	resp, err := http.ReadResponse(answer, nil)
	if err != nil {
		return fmt.Errorf("%s answers on the local socket: %w", c.process, err)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, handshake.MaxBytes))
	_ = resp.Body.Close()
	var said struct{ Gathering bool }
	_ = json.Unmarshal(body, &said) // it is true or not said
	c.gathers = said.Gathering
	c.files, _ = strconv.Atoi(resp.Header.Get(HeaderFiles))
	switch {
	case err != nil:
		return fmt.Errorf("%s answers on the local socket: %w", c.process, err)
	case resp.StatusCode == http.StatusServiceUnavailable && c.files > 0:
		full := c.Owner()
		full.Full = true
		return full
	case resp.StatusCode == http.StatusServiceUnavailable:
		return ErrReplaced
	case resp.StatusCode != http.StatusOK || answer.Buffered() > 0:
		return fmt.Errorf("what answers on the local socket is not a gateway: %s says %s", c.process, resp.Status)
	}
	return bound.Done()
}

// hear waits for the first byte of the answer, the longer the less the kernel says against it.
func (c *Conn) hear(first []byte) error {
	for _, patience := range []time.Duration{stoppedPatience, answerPatience - stoppedPatience, secondLook} {
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		_, err := c.Read(first)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, io.EOF):
			return ErrReplaced // it closed before it answered: it is leaving
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case patience == stoppedPatience && !c.process.Stopped():
			continue
		case patience == stoppedPatience:
			return c.silent()
		}
	}
	return c.silent()
}

func (c *Conn) silent() *Silent {
	s := c.Owner()
	s.Stopped = c.process.Stopped()
	return s
}

// Owner is the process at the other end, for who takes its place.
func (c *Conn) Owner() *Silent {
	return &Silent{Process: c.process, Files: c.files, path: c.path, at: c.at}
}

// Answers reports why the owner cannot answer now, nil when nothing speaks against it. It asks the kernel and not the owner.
func (c *Conn) Answers() error {
	if c.process.Stopped() {
		return c.silent()
	}
	return nil
}

// Gathering reports whether the owner had just taken over, so that sessions may still have been on their way to it.
func (c *Conn) Gathering() bool { return c.gathers }

// look ends the connection when the name points elsewhere. An owner that lives does that itself, and says more.
func (c *Conn) look() {
	if at, err := markOf(c.path); err == nil && at == c.at {
		return
	}
	c.moving.Do(func() {
		if c.process.Stopped() {
			_ = c.UnixConn.Close()
			return
		}
		time.AfterFunc(movePatience, func() { _ = c.UnixConn.Close() }) // after Close it does nothing
	})
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.closing.Do(c.unwatch)
	if err := c.UnixConn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil // it ended when the name changed hands
}
