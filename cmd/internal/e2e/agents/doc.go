// Package agents holds the end-to-end tests of agents that look, wait and type, over MCP, HTTP and
// at a shell, real coding agents among them. It has no code of its own.
package agents
