// Package nonblock reads and writes descriptors that never block; the caller has made sure of that.
// On Linux it bypasses the Go scheduler, which prepares for each system call as if it could take
// long. That would cost a flood of output a tenth of its processor time. The package must not know
// what the descriptors are.
package nonblock
