// Command gateway is for agents and operators: it lists and reads the terminals that run under
// proxy, asks for the keyboard and types, serves all that to AI agents as an MCP server, and runs
// as a server for other machines.
package main

import (
	"terminalproxy/cmd/internal/cli"
	_ "terminalproxy/cmd/internal/limits/early" // before the NATS client is initialized
)

func main() { cli.Main(addCommands) }
