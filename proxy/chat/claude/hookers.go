package claude

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// maxHookers bounds the goroutines that serve hooks.
const maxHookers = 256

// hookers are the connections of hooks, each with the goroutines that serve it. The zero value is
// ready.
type hookers struct {
	mu     sync.Mutex
	open   map[net.Conn]int // goroutines by connection
	n      int
	closed bool
	parts  sync.WaitGroup
}

// startServing runs do on its own goroutine. After close, or if too many run, it returns false
// instead.
func (h *hookers) startServing(conn net.Conn, do func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.n >= maxHookers {
		return false
	}
	if h.open == nil {
		h.open = make(map[net.Conn]int)
	}
	h.open[conn]++
	h.n++
	h.parts.Go(func() { // ends with the connection
		defer h.endServing(conn)
		do()
	})
	return true
}

func (h *hookers) endServing(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n--
	if h.open[conn]--; h.open[conn] == 0 {
		delete(h.open, conn)
	}
}

// close closes the connections of the hooks, which may be silent, and waits for their goroutines.
func (h *hookers) close() {
	h.mu.Lock()
	h.closed = true
	for conn := range h.open {
		conn.Close()
	}
	h.mu.Unlock()
	h.parts.Wait()
}

// writeNow writes what conn takes without waiting, and returns the rest.
func writeNow(conn net.Conn, b []byte) (rest []byte, err error) {
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return b, nil
	}
	c, err := raw.SyscallConn()
	if err != nil {
		return b, err
	}
	n := 0
	tried := c.Write(func(fd uintptr) bool {
		n, err = syscall.Write(int(fd), b)
		return true
	})
	if tried != nil {
		return b, tried
	}
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) {
		err = nil
	}
	return b[max(0, n):], err
}
