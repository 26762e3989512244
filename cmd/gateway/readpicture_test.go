package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadInColour(t *testing.T) {
	shareTerminal(t)
	got := command(t, "read", "sh-1", "--ansi")
	require.Equal(t, result{0, "$ \x1b[0m\n\x1b[0m\n\x1b[0m\n", ""}, got)
	file := filepath.Join(t.TempDir(), "screen")
	require.Equal(t, result{}, command(t, "read", "sh-1", "--svg", file))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "<svg ")
	require.Equal(t, result{}, command(t, "read", "sh-1", "--png", file))
	pixels, err := os.ReadFile(file)
	require.NoError(t, err)
	_, err = png.Decode(bytes.NewReader(pixels))
	require.NoError(t, err)
	require.Equal(t, result{out: string(pixels)}, command(t, "read", "sh-1", "--png", "-"))
	require.Equal(t, result{out: string(text)}, command(t, "read", "sh-1", "--svg", "-"))
	require.NoFileExists(t, "-")
	for _, wrong := range [][]string{{"--ansi", "--history", "3"}, {"--png", file, "--svg", file}, {"--ansi", "--since", "3"}, {"--ansi", "--json"}} {
		runFailing(t, statusUsage, "hint: ", append([]string{"read", "sh-1"}, wrong...)...)
	}
}
