package records

import (
	"testing"

	"terminalproxy/cmd/internal/cli/clitest"
)

func TestMain(m *testing.M) {
	clitest.Main(m, clitest.Add(NewRender, NewAudit))
}
