package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"terminalproxy/gateway/place"
)

// refusalTime is how long a rejected peer gets to send its request and to read the answer.
const refusalTime = 100 * time.Millisecond

// alwaysThere can be opened while a descriptor is left; a container image from scratch has no
// /dev/null.
const alwaysThere = "/"

// spare is a listener that reserves a file descriptor. A client that connects while all others are
// in use gets an answer, and does not wait in the kernel's queue. One goroutine calls Accept.
type spare struct {
	net.Listener
	log  *slog.Logger
	back *os.File // the reserved descriptor, or nil
}

// Accept implements net.Listener.
func (s *spare) Accept() (net.Conn, error) {
	for {
		s.keepDescriptor()
		conn, err := s.Listener.Accept()
		if s.back != nil && (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) {
			s.releaseDescriptor()
			conn, err = s.Listener.Accept()
		}
		switch {
		case errors.Is(err, net.ErrClosed):
			s.releaseDescriptor()
			return nil, err
		case err != nil || s.keepDescriptor() && canOpenFiles():
			return conn, err
		}
		s.reject(conn)
	}
}

// keepDescriptor opens the spare descriptor if needed, and reports whether it is open.
func (s *spare) keepDescriptor() bool {
	if s.back == nil {
		s.back, _ = os.Open(alwaysThere)
	}
	return s.back != nil
}

func (s *spare) releaseDescriptor() {
	if s.back != nil {
		_ = s.back.Close()
		s.back = nil
	}
}

// canOpenFiles reports whether the process can still open a directory and a file in it, as it must
// to find out what its own session's program waits for.
func canOpenFiles() bool {
	dir, err := os.Open(alwaysThere)
	if err != nil {
		return false
	}
	defer dir.Close()
	file, err := os.Open(alwaysThere)
	if err != nil {
		return false
	}
	return file.Close() == nil
}

// reject reads the request first: a socket closed with unread data would lose the answer.
func (s *spare) reject(conn net.Conn) {
	files := place.FileLimit()
	s.log.Warn("rejected a connection: all file descriptors are in use", "limit", files)
	message := fmt.Sprintf("all %d file descriptors of this process are in use", files)
	_ = conn.SetDeadline(time.Now().Add(refusalTime))
	_, _ = conn.Read(make([]byte, maxHeaderBytes))
	_, _ = fmt.Fprintf(conn,
		"HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "+
			"%d\r\nConnection: close\r\n%s: %d\r\n\r\n%s", http.StatusServiceUnavailable,
		http.StatusText(http.StatusServiceUnavailable), len(message), place.HeaderFiles, files,
		message)
	_ = conn.Close()
}
