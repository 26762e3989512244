// Package session holds the end-to-end tests of a terminal under proxy as its user has it: programs,
// signals, sizes, streams, shells, recordings, installation. It has no code of its own.
package session
