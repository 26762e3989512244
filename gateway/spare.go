package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"terminalproxy/gateway/place"
)

// lastWord is how long a peer that is turned away gets to send its request and to take the answer.
const lastWord = 100 * time.Millisecond

// spare is a listener that keeps a file descriptor back. Who connects while all others are in use hears so, and does not wait
// in the kernel's queue for an answer that does not come. One goroutine calls Accept.
type spare struct {
	net.Listener
	log  *slog.Logger
	back *os.File // nil while there is none
}

// Accept implements net.Listener.
func (s *spare) Accept() (net.Conn, error) {
	for {
		s.keep()
		conn, err := s.Listener.Accept()
		if s.back != nil && (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) {
			s.giveUp()
			conn, err = s.Listener.Accept()
		}
		switch {
		case errors.Is(err, net.ErrClosed):
			s.giveUp()
			return nil, err
		case err != nil || s.keep() && room():
			return conn, err
		}
		s.turnAway(conn)
	}
}

// keep reports whether there is a descriptor to spare.
func (s *spare) keep() bool {
	if s.back == nil {
		s.back, _ = os.Open(os.DevNull)
	}
	return s.back != nil
}

func (s *spare) giveUp() {
	if s.back != nil {
		_ = s.back.Close()
		s.back = nil
	}
}

// room reports whether the process can still open a directory and a file in it for itself, as it does to see what its own
// session's program waits for.
func room() bool {
	dir, err := os.Open(os.DevNull)
	if err != nil {
		return false
	}
	defer dir.Close()
	file, err := os.Open(os.DevNull)
	if err != nil {
		return false
	}
	return file.Close() == nil
}

// turnAway reads a request first: to close a connection with something unread in it would take the answer away.
func (s *spare) turnAway(conn net.Conn) {
	files := openFiles()
	s.log.Warn("turned a connection away: all file descriptors are in use", "limit", files)
	say := fmt.Sprintf("all %d file descriptors of this process are in use", files)
	_ = conn.SetDeadline(time.Now().Add(lastWord))
	_, _ = conn.Read(make([]byte, maxHeaderBytes))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n%s: %d\r\n\r\n%s",
		http.StatusServiceUnavailable, http.StatusText(http.StatusServiceUnavailable), len(say), place.HeaderFiles, files, say)
	_ = conn.Close()
}

// openFiles is how many files this process can have open. Package syscall has raised the limit as far as it goes, and gives
// the programs that it starts the one that was set.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(limit.Cur, math.MaxInt32)) //nolint:gosec // bounded
}
