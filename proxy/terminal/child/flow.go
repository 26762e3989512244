package child

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// ctrlS stops the output of a terminal with the usual settings.
const ctrlS = 'S' & 0x1f

// IsOutputStopped reports whether a key has stopped the output of the program's terminal
// (termios(3), IXON), and no key has continued it. The kernel does not report that, so it is
// derived from the written keys. It may be called on any goroutine.
func (t *terminal) IsOutputStopped() bool {
	if !t.halted.Load() {
		return false
	}
	now, err := unix.IoctlGetTermios(t.master, ioctlGetTermios)
	return err == nil && now.Iflag&unix.IXON != 0 // switching that off continues the output
}

// followFlow notes whether keys stop or continue the output.
func (t *terminal) followFlow(keys []byte) {
	if !t.halted.Load() && bytes.IndexByte(keys, ctrlS) < 0 {
		return
	}
	now, err := unix.IoctlGetTermios(t.master, ioctlGetTermios)
	if err != nil || now.Iflag&unix.IXON == 0 {
		t.halted.Store(false)
		return
	}
	for _, key := range keys {
		switch {
		case key == now.Cc[unix.VSTOP]:
			t.halted.Store(true)
		case key == now.Cc[unix.VSTART], now.Iflag&unix.IXANY != 0:
			t.halted.Store(false)
		}
	}
}
