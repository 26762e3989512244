// Package nuid makes names that nobody else makes, for the NATS client, which asks for no more of the package in whose place this is. That
// one reads the system's random numbers before main runs, for which Go's runtime opens files: where a process may open next to none, it
// ends with a trace of the runtime's, before the program can say why. This one does nothing before it is asked.
package nuid

import "crypto/rand"

// size is that of a name in characters, as the client expects it.
const size = 22

// Next is a name: 110 random bits.
func Next() string { return rand.Text()[:size] }
