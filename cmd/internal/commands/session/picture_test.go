package session

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
)

func TestReadInColour(t *testing.T) {
	clitest.ShareTerminal(t)
	got := clitest.Command(t, "read", "sh-1", "--ansi")
	require.Equal(t, clitest.Result{Out: "$ \x1b[0m\n\x1b[0m\n\x1b[0m\n"}, got)
	file := filepath.Join(t.TempDir(), "screen")
	require.Equal(t, clitest.Result{}, clitest.Command(t, "read", "sh-1", "--svg", file))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "<svg ")
	require.Equal(t, clitest.Result{}, clitest.Command(t, "read", "sh-1", "--png", file))
	pixels, err := os.ReadFile(file)
	require.NoError(t, err)
	_, err = png.Decode(bytes.NewReader(pixels))
	require.NoError(t, err)
	require.Equal(t, clitest.Result{Out: string(pixels)}, clitest.Command(t, "read", "sh-1", "--png", "-"))
	require.Equal(t, clitest.Result{Out: string(text)}, clitest.Command(t, "read", "sh-1", "--svg", "-"))
	require.NoFileExists(t, "-")
	for _, wrong := range [][]string{{"--ansi", "--history", "3"}, {"--png", file, "--svg", file}, {"--ansi", "--since", "3"}, {"--ansi", "--json"}} {
		clitest.RunFailing(t, cli.StatusUsage, "hint: ", append([]string{"read", "sh-1"}, wrong...)...)
	}
}
