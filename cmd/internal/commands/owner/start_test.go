package owner

import (
	"testing"

	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/cmd/internal/commands/session"
	"terminalproxy/cmd/internal/commands/tokens"
)

func TestMain(m *testing.M) {
	clitest.Main(m, clitest.Add(NewTop, NewGrant, NewReclaim, NewHide, NewMute, tokens.New, session.NewRequest, session.NewLs, session.NewRelease))
}
