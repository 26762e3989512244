// Package chat holds the end-to-end tests of conversations with coding agents. It has no code of
// its own.
package chat
