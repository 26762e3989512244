package session

import (
	"testing"

	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/cmd/internal/commands/owner"
)

func TestMain(m *testing.M) {
	clitest.Main(m, clitest.Add(NewLs, NewRead, NewWait, NewRequest, NewSend, NewRelease, NewSay, NewContext, NewStatus, owner.NewMute))
}
