package ws

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// sock is the connection under a WebSocket. A message is written by one goroutine at a time, at once if the system takes it; what gorilla
// writes besides, which are control frames, never gets into the middle of one.
type sock struct {
	net.Conn
	in  io.Reader       // the same, without what is around it
	raw syscall.RawConn // nil where nothing can be written without waiting

	writing sync.Mutex // one whole frame
	control time.Time  // for how long a control frame may take; gorilla writes one after the other

	mu   sync.Mutex
	owed []byte // control frames that came while a message was under way
}

// maxOwed bounds the control frames that wait, in bytes: a peer that takes no messages needs no answer to its pings.
const maxOwed = 1 << 10

// plain is a connection that keeps another one, whose bytes are its own.
type plain interface{ Plain() net.Conn }

func newSock(conn net.Conn) *sock {
	s := &sock{Conn: conn}
	if p, ok := conn.(plain); ok {
		conn = p.Plain()
	}
	s.in = conn
	if direct, ok := conn.(syscall.Conn); ok {
		s.raw, _ = direct.SyscallConn()
	}
	return s
}

// hijacker gives the upgrader a sock in place of the connection, and keeps it.
type hijacker struct {
	http.ResponseWriter
	sock *sock
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.sock = newSock(conn)
	return h.sock, buffers, nil
}

// Read implements net.Conn.
func (s *sock) Read(p []byte) (int, error) { return s.in.Read(p) }

// SetWriteDeadline is for the next control frame.
func (s *sock) SetWriteDeadline(t time.Time) error {
	s.control = t
	return nil
}

// Write writes a control frame, or leaves it to who is writing.
func (s *sock) Write(p []byte) (int, error) {
	if !s.writing.TryLock() {
		s.owe(p)
		if s.writing.TryLock() { // it was done meanwhile, and may not have seen it
			s.release()
		}
		return len(p), nil
	}
	defer s.release()
	return s.by(s.control, p)
}

// by writes until a deadline. The caller holds the lock.
func (s *sock) by(deadline time.Time, p []byte) (int, error) {
	if err := s.Conn.SetWriteDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := s.Conn.Write(p)
	_ = s.Conn.SetWriteDeadline(time.Time{}) // one left behind would wake an idle process
	return n, err
}

func (s *sock) owe(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.owed)+len(p) <= maxOwed {
		s.owed = append(s.owed, p...)
	}
}

func (s *sock) owes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.owed) > 0
}

// release ends the writing of a frame. What is owed is written by another goroutine: the caller may be one that does not wait.
func (s *sock) release() {
	s.writing.Unlock()
	if s.owes() {
		go s.pay() // ends with the write's deadline, or the connection
	}
}

func (s *sock) pay() {
	s.writing.Lock()
	s.mu.Lock()
	owed := s.owed
	s.owed = nil
	s.mu.Unlock()
	if len(owed) > 0 {
		_, _ = s.by(time.Now().Add(payPatience), owed) // the reader says what is wrong
	}
	s.release()
}

// payPatience is how long control frames that were late may take.
const payPatience = 5 * time.Second

// maxHead is the longest head of a frame that a server writes.
const maxHead = 10

// text is the head of a message in one frame (RFC 6455, section 5.2), as a server writes it.
func text(dst []byte, size int) []byte {
	const finalText = 0x81
	switch {
	case size < 126:
		return append(dst, finalText, byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, finalText, 126), uint16(size))
	}
	return binary.BigEndian.AppendUint64(append(dst, finalText, 127), uint64(size)) //nolint:gosec // a length
}

// try writes a message as far as the system takes it at once, and never waits. more is nil when that was all, else it writes the rest and
// waits for that until a deadline; the zero time is none.
func (s *sock) try(frame []byte) (more func(deadline time.Time) error, err error) {
	if s.raw == nil || !s.writing.TryLock() {
		return func(deadline time.Time) error {
			s.writing.Lock()
			return s.rest(frame, 0, deadline)
		}, nil
	}
	sent, err := sendNow(s.raw, frame)
	if err == nil && sent < len(frame)+headSize(len(frame)) {
		return func(deadline time.Time) error { return s.rest(frame, sent, deadline) }, nil
	}
	s.release()
	return nil, err
}

func headSize(size int) int {
	var head [maxHead]byte
	return len(text(head[:0], size))
}

// rest ends a message of which so many bytes were sent. The caller holds the lock, which it lets go.
func (s *sock) rest(frame []byte, sent int, deadline time.Time) error {
	defer s.release()
	whole := append(text(make([]byte, 0, maxHead+len(frame)), len(frame)), frame...)
	_, err := s.by(deadline, whole[sent:])
	return err
}
