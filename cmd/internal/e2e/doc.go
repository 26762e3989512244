// Package e2e holds the end-to-end tests. They drive the built binaries inside tmux, as a user at a
// terminal and as an agent at a shell or over MCP, and look at the screen that the user would see.
// It has no code of its own.
package e2e
