package main

import (
	"bytes"
	"os"
	"regexp"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// answerTime is how long a terminal gets to answer.
const answerTime = 300 * time.Millisecond

var (
	kittyAnswer  = regexp.MustCompile(`\x1b\[\?\d*u`)
	deviceAnswer = regexp.MustCompile(`\x1b\[\?[\d;]*c`)
)

// keyboard asks the terminal how it sends keys: whether it knows the kitty keyboard protocol, and, to know when there is no
// more to come, for its device attributes (DA1, ECMA-48 8.3.24), which every terminal answers.
func (d *doctor) keyboard(in *os.File) {
	said, err := askTerminal(in, "\x1b[?u\x1b[c")
	switch {
	case err != nil:
		d.warn("keyboard", "", "cannot query the terminal: %v", err)
	case kittyAnswer.Match(said):
		d.ok("keyboard", "%s: supports the kitty protocol; the reclaim key is recognised in it", os.Getenv("TERM"))
	case deviceAnswer.Match(said):
		d.ok("keyboard", "%s: legacy encoding or modifyOtherKeys; the reclaim key is recognised in both", os.Getenv("TERM"))
	default:
		d.warn("keyboard", "try Ctrl+\\ in a session; kill -USR1 and gateway reclaim work as well",
			"%s: the terminal does not answer queries, so its key encoding is unknown", os.Getenv("TERM"))
	}
}

// askTerminal sends a question and collects what comes, until DA1's answer or the end of the patience.
func askTerminal(tty *os.File, question string) ([]byte, error) {
	fd := int(tty.Fd())
	was, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	defer func() { _ = term.Restore(fd, was) }()
	if _, err := unix.Write(fd, []byte(question)); err != nil {
		return nil, err
	}
	var said bytes.Buffer
	buf := make([]byte, 256)
	for end := time.Now().Add(answerTime); time.Now().Before(end) && said.Len() < 4096 && !deviceAnswer.Match(said.Bytes()); {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, int(time.Until(end).Milliseconds())+1)
		if n <= 0 || err != nil {
			continue
		}
		if n, err = unix.Read(fd, buf); err != nil || n <= 0 {
			return said.Bytes(), err
		}
		said.Write(buf[:n])
	}
	return said.Bytes(), nil
}
