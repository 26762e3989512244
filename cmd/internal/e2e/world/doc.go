// Package world makes a user's account for an end-to-end test and drives the built binaries in it,
// inside tmux: terminals with keys and screens, agents at a shell or over MCP, gateways, pages. The
// packages beside it hold the tests. No binary contains it.
package world
