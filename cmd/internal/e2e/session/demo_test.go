package session_test

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/dev/binaries"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// TestThePictureShowsTheDemo plays the demo and holds the README's picture to the proxy's lines in
// it.
func TestThePictureShowsTheDemo(t *testing.T) {
	world.New(t, "vim") // the picture shows vim
	demo := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"run", "-C", world.Checkout}, binaries.Compile,
		[]string{"-ldflags", "-s -w", "./cmd/internal/dev/demo", filepath.Join(world.Root, "bin")})...)
	demo.Env = append(os.Environ(), "CGO_ENABLED=0")
	played, err := demo.CombinedOutput()
	require.NoError(t, err, string(played))
	drawn := readPictureRows(t, filepath.Join(world.Checkout, "docs", "demo.svg"))
	lines := 0
	for row := range strings.Lines(string(played)) {
		row, isScreen := strings.CutPrefix(strings.TrimSpace(row), "│")
		if isScreen && strings.Contains(row, "demo-agent") {
			require.Contains(t, drawn, removeBlanks(strings.TrimSuffix(row, "│")), "run: make picture")
			lines++
		}
	}
	require.GreaterOrEqual(t, lines, 3, "the question, the grant and its end:\n%s", played)
}

// readPictureRows returns the rows of text in an SVG of gateway render, without their blanks.
func readPictureRows(t *testing.T, path string) (rows []string) {
	t.Helper()
	source, err := os.ReadFile(path)
	require.NoError(t, err)
	var picture struct {
		Rows []struct {
			Text []string `xml:"text"`
		} `xml:"defs>g"`
	}
	require.NoError(t, xml.Unmarshal(source, &picture))
	for _, row := range picture.Rows {
		rows = append(rows, removeBlanks(strings.Join(row.Text, "")))
	}
	return rows
}

func removeBlanks(text string) string { return strings.Join(strings.Fields(text), "") }
