package keep

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy/terminal/tty"
)

// End says how the lending of a terminal ended.
type End struct {
	Ended   bool // the program has, with this status
	Code    int
	Release Release // why the terminal was let go, "" otherwise
	Session string  // that let it go
	Hangup  bool    // the terminal is gone
}

// passed lists the signals that are passed on to the session.
var passed = []os.Signal{
	syscall.SIGWINCH,
	syscall.SIGTERM,
	syscall.SIGINT,
	syscall.SIGQUIT,
	syscall.SIGUSR1,
	syscall.SIGTSTP,
	syscall.SIGCONT,
}

// LendTerminal lends the terminal of in and out to the session behind conn, until that gives it
// back, and closes conn. The session's messages to the user go to messages; forCtrlG is
// [Window.ForCtrlG]. If no field of [End] is set, the session was killed. LendTerminal takes the
// process's signals meanwhile.
func LendTerminal(
	conn *net.UnixConn, in, out *os.File, messages io.Writer, forCtrlG string,
) (End, error) {
	defer func() { _ = conn.Close() }()
	signals := catchPassed()
	defer signal.Stop(signals)
	if err := awaitTerminal(in); err != nil {
		return End{}, err
	}
	if err := handOver(conn, in, out, forCtrlG); err != nil {
		return End{}, fmt.Errorf("hand over the terminal: %w", err)
	}
	words := make(chan word)
	over := make(chan struct{})
	defer close(over)
	go readMessages(conn, words, over) // ends with conn
	for {
		select {
		case sig := <-signals:
			number := int(sig.(syscall.Signal))
			sendWord(conn, word{Signal: number, Job: tty.IsResumable()})
			if sig == syscall.SIGHUP {
				return End{Hangup: true}, nil
			}
		case m, ok := <-words:
			if end := m.endOfLoan(ok); end != nil {
				return *end, nil
			}
			if m.Say != "" {
				_, _ = io.WriteString(messages, m.Say)
			} else if m.Stop != 0 {
				stopGroup(conn, signals, syscall.Signal(m.Stop))
			}
		}
	}
}

// catchPassed catches the signals that go on to the session.
func catchPassed() chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passed...)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals
}

// endOfLoan returns how a word ends the loan of the terminal, or nil. came: else the session is
// gone.
func (m word) endOfLoan(came bool) *End {
	switch {
	case !came:
		return &End{}
	case m.Say != "", m.Stop != 0:
		return nil
	case m.Exit != nil:
		return &End{Ended: true, Code: *m.Exit}
	case m.Release != "":
		return &End{Release: m.Release, Session: m.Session}
	}
	return nil
}

// awaitTerminal waits until the shell lets us have the terminal: a process in the background is
// stopped when it sets the line settings, even to what they are.
func awaitTerminal(in *os.File) error {
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

// handOver sends the descriptors and the first message.
func handOver(conn *net.UnixConn, in, out *os.File, forCtrlG string) error {
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
	return json.NewEncoder(conn).Encode(word{
		Front: &opened{Pid: os.Getpid(), ForCtrlG: forCtrlG},
		Job:   tty.IsResumable(),
	})
}

// readMessages passes on what the session says.
func readMessages(conn *net.UnixConn, words chan<- word, over <-chan struct{}) {
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

// stopGroup stops our process group as the terminal's own Ctrl+Z does, and says when it goes on.
func stopGroup(conn *net.UnixConn, signals chan os.Signal, sig syscall.Signal) {
	signal.Ignore(syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	tty.StopSelf(sig)
	signal.Notify(signals, syscall.SIGTSTP)
	if !tty.IsResumable() { // the shell is gone: the kernel has discarded it
		sendWord(conn, word{Signal: int(syscall.SIGCONT)})
	}
}

func sendWord(conn *net.UnixConn, m word) { _ = json.NewEncoder(conn).Encode(m) }

// Message tell the user what became of the program whose terminal they have back.
func (e End) Message() string {
	message := "detached; gateway attach " + e.Session + " comes back"
	if e.Release == Taken {
		message = "attached elsewhere; gateway attach " + e.Session + " takes it back"
	}
	return "\r\n[" + e.Session + ": " + message + "]\r\n"
}
