package programs

import (
	"testing"

	"terminalproxy/cmd/internal/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, clitest.Add(NewReap)) }
