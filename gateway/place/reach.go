package place

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
	// stoppedPatience is how long a stopped process may stay so, and answerPatience how long any
	// other may take to answer, before others take its place.
	stoppedPatience = time.Second
	answerPatience  = 3 * time.Second
	// retryPatience is for an answer that arrived while this process itself was stopped, so that
	// its time ran out.
	retryPatience = 250 * time.Millisecond
	// movePatience is how long the former owner of a name may take to end its connections itself,
	// with a message.
	movePatience = time.Second
)

const (
	// HeaderFiles is the header in which a gateway reports its limit of open files. With the status
	// 503, all are in use.
	HeaderFiles = "Terminal-Gateway-Files"
	// Few is the limit of open files below which a process serves only if no other one can. No
	// system sets fewer than 256 by default.
	Few = 256
)

// ErrReplaced means that the name changed hands while it was dialled. The next try finds the new
// owner.
var ErrReplaced = errors.New("the local gateway just changed hands")

// SilentOwnerError is the error for a process that has the place and does not answer, or is full.
type SilentOwnerError struct {
	Process Process
	Stopped bool // by a signal, as the kernel reports
	Full    bool // it has no file descriptor for another connection
	Files   int  // its limit of open files, or 0 if unknown
	path    string
	at      mark
}

// HasFewFiles reports whether the process should not serve if another one can.
func (s *SilentOwnerError) HasFewFiles() bool { return s.Files > 0 && s.Files < Few }

// Error implements error.
func (s *SilentOwnerError) Error() string {
	switch {
	case s.Stopped:
		return fmt.Sprintf(
			"%s, which serves the local gateway, does not answer: it is stopped %s",
			s.Process, s.Process.Resume(),
		)
	case s.Full:
		return fmt.Sprintf(
			"%s, which serves the local gateway, has all its %d file descriptors in use",
			s.Process, s.Files,
		)
	}
	return fmt.Sprintf("%s, which serves the local gateway, does not answer", s.Process)
}

// Hint returns what the user can do about it, or "".
func (s *SilentOwnerError) Hint() string {
	if s.Full {
		return "end agents that you do not need, " +
			"or start one with a higher limit of open files (ulimit -n), which takes over"
	}
	return ""
}

// RemoveName takes the name from the process, so that another one can serve. It leaves the name to
// a new owner.
func (s *SilentOwnerError) RemoveName() error { return removeIfSame(s.path, s.at) }

// Conn is a connection to the owner of a name. If the name changes hands and the owner does not end
// the connection, Conn ends it.
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

// DialOwner dials the name and makes sure that its owner answers. Afterwards the connection is like
// a new one. dial has to check that the Unix socket can be trusted. A process that does not answer
// is a [*SilentOwnerError], a name without an owner is [IsVacant].
func DialOwner(
	ctx context.Context, path string, dial func(context.Context, string) (net.Conn, error),
) (*Conn, error) {
	c := &Conn{path: path}
	var err error
	if c.at, err = markOf(path); err != nil {
		return nil, err
	}
	raw, err := dial(ctx, path)
	if errors.Is(err, syscall.EAGAIN) { // its queue of connections is full
		return nil, &SilentOwnerError{path: path, at: c.at}
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
	err = c.checkAlive()
	if !stop() && err != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	c.unwatch = watchDir(filepath.Dir(path), c.checkName)
	if now, err := markOf(path); err != nil || now != c.at {
		_ = c.Close()
		return nil, ErrReplaced
	}
	return c, nil
}

// checkAlive makes sure that the owner answers a request.
func (c *Conn) checkAlive() error {
	const request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	if _, err := io.WriteString(c.UnixConn, request); err != nil {
		return err
	}
	first := make([]byte, 1)
	if err := c.readFirstByte(first); err != nil {
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
	var health struct{ Gathering bool }
	_ = json.Unmarshal(body, &health) // a missing or broken body means false
	c.gathers = health.Gathering
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
		return fmt.Errorf(
			"the server on the local socket is not a gateway: %s answered %s", c.process, resp.Status,
		)
	}
	return bound.Done()
}

// readFirstByte waits for the first byte of the answer, longer if the kernel does not report the
// process as stopped.
func (c *Conn) readFirstByte(first []byte) error {
	tries := []time.Duration{stoppedPatience, answerPatience - stoppedPatience, retryPatience}
	for _, patience := range tries {
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		_, err := c.Read(first)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, io.EOF):
			return ErrReplaced // it closed before it answered, so it is ending
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case patience == stoppedPatience && !c.process.Stopped():
			continue
		case patience == stoppedPatience:
			return c.silentOwner()
		}
	}
	return c.silentOwner()
}

func (c *Conn) silentOwner() *SilentOwnerError {
	s := c.Owner()
	s.Stopped = c.process.Stopped()
	return s
}

// Owner returns the process at the other end, for another process to replace it.
func (c *Conn) Owner() *SilentOwnerError {
	return &SilentOwnerError{Process: c.process, Files: c.files, path: c.path, at: c.at}
}

// AnswerProblem returns why the owner cannot answer now, or nil. It asks the kernel, not the owner.
func (c *Conn) AnswerProblem() error {
	if c.process.Stopped() {
		return c.silentOwner()
	}
	return nil
}

// Gathering reports whether the owner had just taken over, so that sessions may still have been
// reconnecting to it.
func (c *Conn) Gathering() bool { return c.gathers }

// checkName ends the connection if the name points elsewhere. A living owner ends it itself, with a
// reason.
func (c *Conn) checkName() {
	if at, err := markOf(c.path); err == nil && at == c.at {
		return
	}
	c.moving.Do(func() {
		if c.process.Stopped() {
			_ = c.UnixConn.Close()
			return
		}
		time.AfterFunc(movePatience, func() { _ = c.UnixConn.Close() }) // harmless after Close
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

// FileLimit returns how many files this process can have open. Package syscall has raised the
// limit to the greatest value, and gives the original one to programs that the process starts.
func FileLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(limit.Cur, math.MaxInt32)) //nolint:gosec // bounded
}
