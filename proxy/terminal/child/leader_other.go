//go:build !linux || !(amd64 || arm64)

package child

import (
	"errors"

	"golang.org/x/sys/unix"
)

// LeaderName is the name of the leader's process on Linux. On this system the program leads its
// session itself, and Ctrl+Z does not stop it.
const LeaderName = "proxy-leader"

// Orders to the leader.
const (
	orderBack  = unix.Signal(40)
	orderFront = unix.Signal(41)
)

type leader struct{ pid int }

func startLeader(launch) (*leader, int, error) {
	return nil, 0, errors.ErrUnsupported
}

func (l *leader) nextState() (unix.WaitStatus, bool) { return 0, false }
func (l *leader) sendOrder(unix.Signal)              {}
func (l *leader) waitForEnd()                        {}
func (l *leader) close()                             {}
