package rig

import (
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
)

// Terminal is a program on a terminal of its own. Its user does not type.
type Terminal struct {
	process
	keys *os.File
}

// NewTerminal starts a program on a terminal.
func NewTerminal(cmd *exec.Cmd) (*Terminal, error) {
	keys, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		return nil, err
	}
	t := &Terminal{process: process{cmd: cmd, exited: make(chan struct{})}, keys: keys}
	go func() { // ends with the program
		_, _ = io.Copy(io.Discard, keys)
		_ = cmd.Wait()
		close(t.exited)
	}()
	return t, nil
}

// Type types keys, as the user.
func (t *Terminal) Type(keys string) error {
	_, err := io.WriteString(t.keys, keys)
	return err
}

// Close hangs the terminal up, which ends the program.
func (t *Terminal) Close() {
	t.endWith(syscall.SIGHUP)
	_ = t.keys.Close()
}
