package stdio

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// Lines cuts written bytes into lines. Line gets each non-empty line without its end, and must not
// keep the slice. TooLong gets the size of a dropped line, in bytes.
type Lines struct {
	Line    func([]byte)
	TooLong func(bytes int)
	rest    []byte
	skipped int // bytes of a dropped line
}

// Write implements [io.Writer].
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.appendPartial(p)
			return n, nil
		}
		l.appendPartial(p[:end])
		l.endLine()
		p = p[end+1:]
	}
}

func (l *Lines) appendPartial(p []byte) {
	if l.skipped > 0 || len(l.rest)+len(p) > maxLine {
		l.skipped += len(l.rest) + len(p)
		l.rest = nil
		return
	}
	l.rest = append(l.rest, p...)
}

// endLine passes on the finished line.
func (l *Lines) endLine() {
	rest, skipped := l.rest, l.skipped
	l.rest, l.skipped = l.rest[:0], 0
	switch {
	case skipped > 0:
		l.TooLong(skipped)
	case len(bytes.TrimSpace(rest)) > 0:
		l.Line(bytes.TrimSuffix(rest, []byte("\r")))
	}
}

// tail keeps the last tailSize bytes written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if over := len(t.last) - tailSize; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.last), "")
}

// describeExit says how a program ended, with the end of its standard error.
func describeExit(err error, said string) string {
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return ""
	}
	why := "ended: " + err.Error()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		why = fmt.Sprintf("ended with exit status %d", exit.ExitCode())
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			why = "was killed: " + status.Signal().String()
		}
	}
	if said = strings.TrimSpace(said); said != "" {
		why += ": " + said
	}
	return why
}
