package setup

import (
	"testing"

	"terminalproxy/cmd/internal/cli/clitest"
)

func TestMain(m *testing.M) {
	clitest.Main(m, clitest.Add(NewInit, NewMarks, NewSkill, NewConfine))
}
