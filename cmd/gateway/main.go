// Command gateway is for agents and operators: it lists and reads the terminals that run under
// proxy, asks for the keyboard and types, serves all that to AI agents as an MCP server, and runs
// as a server for other machines. Under the name gateway-askpass it is the helper by which sudo,
// git and ssh ask the user for a password.
package main

import (
	"terminalproxy/cmd/internal/askpass"
	"terminalproxy/cmd/internal/cli"
	_ "terminalproxy/cmd/internal/process/limits/early" // before the NATS client is initialized
)

func main() {
	if askpass.IsCalled() {
		askpass.Main()
	}
	cli.Main(addCommands)
}
