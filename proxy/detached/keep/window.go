package keep

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds how long the other side may take to hand over its terminal, and to take a word.
const patience = 5 * time.Second

// Window is a terminal that a process in front lends. Its methods may be called from any goroutine.
type Window struct {
	In, Out *os.File // the terminal; the receiver closes them
	// Pid is the process in front.
	Pid int
	// ForCtrlG is what people press there for Ctrl+G, where the terminal keeps that for itself; ""
	// where it does not.
	ForCtrlG string

	conn *net.UnixConn
	gone chan struct{} // closed when the process in front is gone, or hung up
	mu   sync.Mutex
	job  bool
	hear func(os.Signal)
	kept []os.Signal // signals that came before ForwardSignals was called
}

// AcceptWindow takes the terminal from a process in front. It closes conn with an error.
func AcceptWindow(conn *net.UnixConn) (*Window, error) {
	_ = conn.SetDeadline(time.Now().Add(patience))
	files, err := receive(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	w := &Window{In: files[0], Out: files[1], conn: conn, gone: make(chan struct{})}
	words := json.NewDecoder(conn)
	var first word
	if err := words.Decode(&first); err != nil || first.Front == nil {
		w.CloseFiles()
		return nil, errors.Join(fmt.Errorf("window: no first word: %w", err), conn.Close())
	}
	w.Pid, w.ForCtrlG, w.job = first.Front.Pid, first.Front.ForCtrlG, first.Job
	_ = conn.SetDeadline(time.Time{})
	go w.readWords(words) // ends when the process in front is gone, or with Close
	return w, nil
}

// CloseFiles closes the descriptors that came with the window, when the session has its own.
func (w *Window) CloseFiles() {
	_, _ = w.In.Close(), w.Out.Close()
}

// receive reads the first byte, with which the two descriptors come.
func receive(conn *net.UnixConn) (files [2]*os.File, err error) {
	var b [1]byte
	rights := make([]byte, unix.CmsgSpace(2*4))
	n, rn, _, _, err := conn.ReadMsgUnix(b[:], rights)
	if err != nil || n != 1 {
		return files, fmt.Errorf("window: no terminal came: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rn])
	if err != nil {
		return files, fmt.Errorf("window: %w", err)
	}
	var fds []int
	for _, m := range messages {
		got, err := unix.ParseUnixRights(&m)
		if err == nil {
			fds = append(fds, got...)
		}
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	if len(fds) != len(files) {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		return files, fmt.Errorf("window: %d descriptors came, not %d", len(fds), len(files))
	}
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), "terminal")
	}
	return files, nil
}

// readWords handles what the process in front sends.
func (w *Window) readWords(words *json.Decoder) {
	defer close(w.gone)
	for {
		var m word
		if words.Decode(&m) != nil {
			return
		}
		if m.Signal == int(syscall.SIGHUP) {
			return
		}
		w.mu.Lock()
		w.job = m.Job
		if m.Signal != 0 {
			w.passSignal(syscall.Signal(m.Signal))
		}
		w.mu.Unlock()
	}
}

func (w *Window) passSignal(sig os.Signal) {
	if w.hear == nil {
		w.kept = append(w.kept, sig)
		return
	}
	w.hear(sig)
}

// ForwardSignals calls hear with each signal that the process in front gets, also earlier ones.
// hear must not block.
func (w *Window) ForwardSignals(hear func(os.Signal)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hear = hear
	for _, sig := range w.kept {
		hear(sig)
	}
	w.kept = nil
}

// Done is closed when the process in front is gone, or its terminal is.
func (w *Window) Done() <-chan struct{} { return w.gone }

// IsResumable reports whether a shell could resume the process in front if it stopped.
func (w *Window) IsResumable() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.job
}

// Stop has the process in front stop by a signal, with its process group. When it goes on,
// the function of ForwardSignals gets SIGCONT.
func (w *Window) Stop(sig syscall.Signal) { w.sendWord(word{Stop: int(sig)}) }

// ShowMessage has the process in front tell the user something.
func (w *Window) ShowMessage(text string) { w.sendWord(word{Say: text}) }

// EndWithStatus has the process in front end with the program's exit status.
func (w *Window) EndWithStatus(code int) { w.sendWord(word{Exit: &code}) }

// ReturnTerminal has the process in front end since its terminal is its own again.
func (w *Window) ReturnTerminal(session string, why Release) {
	w.sendWord(word{Release: why, Session: session})
}

// Close ends the connection.
func (w *Window) Close() { _ = w.conn.Close() }

func (w *Window) sendWord(m word) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.conn.SetWriteDeadline(time.Now().Add(patience))
	// a process in front that does not read is gone, or will be
	_ = json.NewEncoder(w.conn).Encode(m)
}
