//go:build !linux

package e2e_test

// processBehind works on Linux only.
func processBehind(int) (pid int) { return 0 }
