package window

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy/tty"
)

// End is how the lending of a terminal came to its end.
type End struct {
	Ended   bool // the program has, with this status
	Code    int
	Release Release // why the terminal was let go, "" otherwise
	Session string  // that let it go
	Hangup  bool    // the terminal is gone
}

// passed are the signals that are the session's business.
var passed = []os.Signal{
	syscall.SIGWINCH, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGTSTP, syscall.SIGCONT,
}

// Lend lends the terminal of in and out to the session behind conn, until that gives it back, and
// closes conn. What the session tells the user goes to say; forCtrlG is what [Window.ForCtrlG]
// says. Without any of the fields of [End] the session was killed. It takes the process's signals
// meanwhile.
func Lend(conn *net.UnixConn, in, out *os.File, say io.Writer, forCtrlG string) (End, error) {
	defer func() { _ = conn.Close() }()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passed...)
	defer signal.Stop(signals)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	if err := own(in); err != nil {
		return End{}, err
	}
	if err := hand(conn, in, out, forCtrlG); err != nil {
		return End{}, fmt.Errorf("hand over the terminal: %w", err)
	}
	words := make(chan word)
	over := make(chan struct{})
	defer close(over)
	go hear(conn, words, over) // ends with conn
	for {
		select {
		case sig := <-signals:
			number := int(sig.(syscall.Signal))
			tell(conn, word{Signal: number, Job: tty.Resumable()})
			if sig == syscall.SIGHUP {
				return End{Hangup: true}, nil
			}
		case m, ok := <-words:
			switch {
			case !ok:
				return End{}, nil
			case m.Say != "":
				_, _ = io.WriteString(say, m.Say)
			case m.Stop != 0:
				stop(conn, signals, syscall.Signal(m.Stop))
			case m.Exit != nil:
				return End{Ended: true, Code: *m.Exit}, nil
			case m.Release != "":
				return End{Release: m.Release, Session: m.Session}, nil
			}
		}
	}
}

// own waits until the shell lets us have the terminal: setting its line settings as they are stops a process in the background.
func own(in *os.File) error {
	raw, err := in.SyscallConn()
	if err != nil {
		return err
	}
	var bad error
	if err := raw.Control(func(fd uintptr) {
		now, err := unix.IoctlGetTermios(int(fd), ioctlGetTermios)
		if err == nil {
			err = unix.IoctlSetTermios(int(fd), ioctlSetTermios, now)
		}
		bad = err
	}); err != nil {
		return err
	}
	return bad
}

// hand sends the descriptors and the first word.
func hand(conn *net.UnixConn, in, out *os.File, forCtrlG string) error {
	var fds [2]int
	for i, f := range []*os.File{in, out} {
		raw, err := f.SyscallConn()
		if err != nil {
			return err
		}
		if err := raw.Control(func(fd uintptr) { fds[i] = int(fd) }); err != nil {
			return err
		}
	}
	if _, _, err := conn.WriteMsgUnix([]byte{' '}, unix.UnixRights(fds[:]...), nil); err != nil {
		return err
	}
	return json.NewEncoder(conn).Encode(word{Front: &opened{Pid: os.Getpid(), ForCtrlG: forCtrlG}, Job: tty.Resumable()})
}

// hear passes on what the session says.
func hear(conn *net.UnixConn, words chan<- word, over <-chan struct{}) {
	defer close(words)
	for all := json.NewDecoder(conn); ; {
		var m word
		if all.Decode(&m) != nil {
			return
		}
		select {
		case words <- m:
		case <-over:
			return
		}
	}
}

// stop stops our process group as the terminal's own Ctrl+Z does, and says when it goes on.
func stop(conn *net.UnixConn, signals chan os.Signal, sig syscall.Signal) {
	signal.Ignore(syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	tty.StopSelf(sig)
	signal.Notify(signals, syscall.SIGTSTP)
	if !tty.Resumable() { // the shell is gone: the kernel has discarded it
		tell(conn, word{Signal: int(syscall.SIGCONT)})
	}
}

func tell(conn *net.UnixConn, m word) { _ = json.NewEncoder(conn).Encode(m) }

// Words tell the user what became of the program whose terminal they have back.
func (e End) Words() string {
	say := "detached; gateway attach " + e.Session + " comes back"
	if e.Release == Taken {
		say = "attached elsewhere; gateway attach " + e.Session + " takes it back"
	}
	return "\r\n[" + e.Session + ": " + say + "]\r\n"
}
