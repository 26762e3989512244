package copier_test

import (
	"io"
	"time"

	"terminalproxy/proxy/terminal/tty"
)

// flood is a program that prints the same chunk for a while, and a terminal and a model that take
// everything.
type flood struct {
	chunk []byte
	left  int
}

func (f *flood) Read(b []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	f.left--
	return copy(b, f.chunk), nil
}

func (f *flood) HasOutput() bool                      { return f.left > 0 }
func (f *flood) Write(p []byte) (int, error)          { return len(p), nil }
func (f *flood) HasScreen() bool                      { return true }
func (f *flood) Feed([]byte) (due, unseen, full bool) { return false, false, false }
func (f *flood) HasRoom() bool                        { return true }
func (f *flood) Wake()                                {}

func (f *flood) Wait(want tty.Events, _ time.Duration) (tty.Events, error) { return want, nil }
