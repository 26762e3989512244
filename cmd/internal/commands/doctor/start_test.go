package doctor

import (
	"testing"

	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/cmd/internal/commands/session"
	"terminalproxy/cmd/internal/commands/tokens"
)

func TestMain(m *testing.M) {
	clitest.Main(m, clitest.Add(New, NewConfig, NewPolicy, session.NewRequest, session.NewLs, tokens.New))
}
