// Package nuid makes unique names for the NATS client. It replaces a package of which the client
// uses only Next. That package reads random numbers before main runs, and for this Go's runtime
// opens files: a process with a very low limit of open files ends with a trace of the runtime,
// before the program can explain it. This package does nothing before the first call.
package nuid

import "crypto/rand"

// size is the length of a name in characters, as the client expects it.
const size = 22

// Next returns a name of 110 random bits.
func Next() string { return rand.Text()[:size] }
