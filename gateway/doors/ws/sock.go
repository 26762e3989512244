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

// sock is the connection under a WebSocket. One goroutine at a time writes a message, at once if
// the system takes it. Control frames, which gorilla writes, never interrupt a message.
type sock struct {
	net.Conn
	in  io.Reader       // the inner connection
	raw syscall.RawConn // nil if writes may wait

	writing sync.Mutex // held for one whole frame
	control time.Time  // deadline of the next control frame; gorilla writes one at a time

	mu            sync.Mutex
	queuedControl []byte // control frames that were written during a message
}

// maxQueuedControl bounds the queued control frames, in bytes. A peer that takes no messages needs
// no pongs.
const maxQueuedControl = 1 << 10

// plain is a connection that wraps another one and passes its bytes unchanged.
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

// hijacker gives the upgrader a sock instead of the connection, and keeps it.
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

// SetWriteDeadline sets the deadline of the next control frame.
func (s *sock) SetWriteDeadline(t time.Time) error {
	s.control = t
	return nil
}

// Write writes a control frame, or queues it for the goroutine that is writing.
func (s *sock) Write(p []byte) (int, error) {
	if !s.writing.TryLock() {
		s.queueControl(p)
		if s.writing.TryLock() { // the writer has finished and may have missed it
			s.releaseWriting()
		}
		return len(p), nil
	}
	defer s.releaseWriting()
	return s.writeUntilLocked(s.control, p)
}

// writeUntilLocked writes before a deadline. The caller holds writing.
func (s *sock) writeUntilLocked(deadline time.Time, p []byte) (int, error) {
	if err := s.Conn.SetWriteDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := s.Conn.Write(p)
	_ = s.Conn.SetWriteDeadline(time.Time{}) // a stale deadline would wake an idle process
	return n, err
}

func (s *sock) queueControl(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queuedControl)+len(p) <= maxQueuedControl {
		s.queuedControl = append(s.queuedControl, p...)
	}
}

func (s *sock) hasQueuedControl() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queuedControl) > 0
}

// releaseWriting ends a frame. Another goroutine writes the queued control frames, because the
// caller may not wait.
func (s *sock) releaseWriting() {
	s.writing.Unlock()
	if s.hasQueuedControl() {
		go s.writeQueuedControl() // ends with the write's deadline, or the connection
	}
}

func (s *sock) writeQueuedControl() {
	s.writing.Lock()
	s.mu.Lock()
	queued := s.queuedControl
	s.queuedControl = nil
	s.mu.Unlock()
	if len(queued) > 0 {
		// the reader reports the error
		_, _ = s.writeUntilLocked(time.Now().Add(lateControlTimeout), queued)
	}
	s.releaseWriting()
}

// lateControlTimeout bounds the writing of queued control frames.
const lateControlTimeout = 5 * time.Second

// maxHead is the longest head of a frame from a server, in bytes.
const maxHead = 10

// appendTextHead appends the head of a text message in one frame, as a server writes it (RFC 6455,
// section 5.2).
func appendTextHead(dst []byte, size int) []byte {
	const finalText = 0x81
	switch {
	case size < 126:
		return append(dst, finalText, byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, finalText, 126), uint16(size))
	}
	head := append(dst, finalText, 127)
	return binary.BigEndian.AppendUint64(head, uint64(size)) //nolint:gosec // a length
}

// tryWrite writes the part of a message that the system takes at once, and never waits. If more is
// not nil, it writes the rest until a deadline; the zero time means no deadline.
func (s *sock) tryWrite(frame []byte) (more func(deadline time.Time) error, err error) {
	if s.raw == nil || !s.writing.TryLock() {
		return func(deadline time.Time) error {
			s.writing.Lock()
			return s.writeRest(frame, 0, deadline)
		}, nil
	}
	sent, err := sendNow(s.raw, frame)
	if err == nil && sent < len(frame)+headSize(len(frame)) {
		return func(deadline time.Time) error { return s.writeRest(frame, sent, deadline) }, nil
	}
	s.releaseWriting()
	return nil, err
}

func headSize(size int) int {
	var head [maxHead]byte
	return len(appendTextHead(head[:0], size))
}

// writeRest writes a message from byte sent on. The caller holds writing; writeRest releases it.
func (s *sock) writeRest(frame []byte, sent int, deadline time.Time) error {
	defer s.releaseWriting()
	whole := append(appendTextHead(make([]byte, 0, maxHead+len(frame)), len(frame)), frame...)
	_, err := s.writeUntilLocked(deadline, whole[sent:])
	return err
}
