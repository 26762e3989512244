//go:build !linux

package secrets

import (
	"net"
	"os"
)

// Supported reports whether this system identifies askers.
const Supported = false

// refusedSystem refuses all askers, because this system does not identify them.
const refusedSystem Refusal = "on this system no program can ask the user: ask the user to run " +
	"the command"

type peer struct{}

func openPeer(*net.UnixConn) (*peer, error) { return nil, refusedSystem }

func (*peer) close() {}

func (*peer) isAlive() bool { return false }

func (*peer) readFacts([]os.FileInfo, int) (*facts, error) { return nil, refusedSystem }

func (*peer) checkSealed(int64, []byte) error { return refusedSystem }

func nameProcess(string) error { return refusedSystem }

func findSharers(string, int, int) []int { return nil }

func ownFiles() []os.FileInfo { return nil }

func startOf(int) (int, []string) { return 0, nil }
