package serve

import (
	"testing"

	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/cmd/internal/commands/tokens"
)

func TestMain(m *testing.M) {
	clitest.Main(m, clitest.Add(New, NewMCP, tokens.New))
}
