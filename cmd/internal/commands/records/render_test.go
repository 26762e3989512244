package records

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
)

func renderInput(t *testing.T, in string, json bool, args ...string) (string, error) {
	t.Helper()
	var out, errw bytes.Buffer
	env := &cli.Env{In: io.NopCloser(strings.NewReader(in)), Out: &out, Err: &errw, JSON: json}
	cmd := NewRender(env)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	return out.String(), err
}

// renderToFile runs gateway render, and returns the file that it makes.
func renderToFile(t *testing.T, file string, args ...string) string {
	t.Helper()
	_, err := renderInput(t, "", false, args...)
	require.NoError(t, err)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(b)
}

func TestRender(t *testing.T) {
	out, err := renderInput(t, "\x1b[31mred\x1b[m\r\n0123456789", false, "--cols", "5", "--rows", "4")
	require.NoError(t, err)
	require.Equal(t, "red\n01234\n56789\n", out)

	out, err = renderInput(t, "\x1b[31mred", false, "--ansi")
	require.NoError(t, err)
	require.Equal(t, "\x1b[0;31mred\x1b[0m\n", out)

	out, err = renderInput(t, "ab", true, "--cols", "4", "--rows", "1", "--resize-at", "1:6x1", "--chunk", "1")
	require.NoError(t, err)
	require.Contains(t, out, `"lines":["ab"]`)

	svg := filepath.Join(t.TempDir(), "screen.svg")
	cast := filepath.Join(t.TempDir(), "x.cast")
	require.NoError(t, os.WriteFile(cast, []byte("{\"version\":2,\"width\":9,\"height\":2}\n[0,\"o\",\"hello\"]\n"), 0o600))
	require.Contains(t, renderToFile(t, svg, "--svg", svg, cast), "hello")

	v3 := "{\"version\":3,\"term\":{\"cols\":9,\"rows\":2}}\n[0.5,\"o\",\"hello\"]\n[0.5,\"x\",\"0\"]\n"
	out, err = renderInput(t, v3, false)
	require.NoError(t, err)
	require.Equal(t, "hello\n", out)
	out, err = renderInput(t, v3, false, "--v2", "-")
	require.NoError(t, err)
	require.Equal(t, "{\"version\":2,\"width\":9,\"height\":2}\n[0.500000, \"o\", \"hello\"]\n", out)

	require.Contains(t, renderToFile(t, svg, "--svg", svg, "--animate", cast), "@keyframes")

	require.Equal(t, "\x89PNG", renderToFile(t, svg, "--png", svg, cast)[:4])
}

func TestRenderBadInput(t *testing.T) {
	for _, args := range [][]string{
		{"--cols", "0"},
		{"--rows", "100000"},
		{"--resize-at", "x"},
		{"--resize-at", "9:5x5"},
		{"/does/not/exist"},
		{"--ansi", "--svg", "x"},
		{"--png", "/does/not/exist"},
		{"--v2", "-"},
		{"--animate"},
		{"--animate", "--png", "x"},
		{"--animate", "--svg", "-"},
		{"--animate", "--svg", "-", "--cols", "9"},
	} {
		_, err := renderInput(t, "abc", false, args...)
		require.Error(t, err, args)
	}
}
