// Package nonblock reads and writes descriptors that never block, which the caller has made sure of. On Linux the Go scheduler is
// not told: it prepares for every other system call as for one that may take long, which costs a flood a tenth of its processor
// time. It must not know what the descriptors are.
package nonblock
