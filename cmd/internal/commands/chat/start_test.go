package chat

import (
	"os"
	"path/filepath"
	"testing"

	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/cmd/internal/commands/run"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "claude" {
		playClaude()
		return
	}
	clitest.Main(m, clitest.Add(New, run.New))
}
