package child_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/view/corpus"
)

// Each refusal has the status that a shell gives, names its cause, and the next step.
func TestStartRefusals(t *testing.T) {
	rows := corpus.Rows[struct {
		Name, Dir string
		Status    int
		Say, Hint string
	}](t, "refusals")
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "/usr/bin:/bin")
	write := func(name, text string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(name, []byte(text), mode))
	}
	write("plain", "text", 0o600)
	write("myscript", "echo hello\n", 0o700)
	write("python", "#!/no/such/python3 -u\n", 0o700)
	write("tabs", "#! \t/no/such/python3\t-u\n", 0o700)
	write("windows", "#!/bin/sh\r\necho hello\r\n", 0o700)
	write("endless", "#!/"+strings.Repeat("x", 5000), 0o700)
	require.NoError(t, os.Mkdir("folder", 0o700))
	require.NoError(t, os.Symlink("circle", "circle"))
	for _, c := range rows {
		_, err := child.Start(child.Config{Path: c.Name, Dir: c.Dir, Cols: 80, Rows: 24})
		refused, ok := errors.AsType[*child.StartError](err)
		require.True(t, ok, "%s: %v", c.Name, err)
		require.Equal(t, c.Status, refused.Status, "%s: %s", c.Name, refused.Say)
		require.True(t, strings.HasSuffix(refused.Say, c.Say), "%s: %s", c.Name, refused.Say)
		require.Contains(t, refused.Hint, c.Hint, c.Name)
	}
	_, err := child.Start(child.Config{Path: "./endless", Cols: 80, Rows: 24})
	require.Error(t, err)
	require.Less(t, len(err.Error()), 300, "of the first line, only what the system reads")
	_, err = child.Start(child.Config{Path: "true", Args: []string{strings.Repeat("x", 1<<20)}, Cols: 80, Rows: 24})
	require.EqualError(t, err, "true: argument list too long")

	file, err := filepath.Abs("myscript")
	require.NoError(t, err)
	elsewhere := child.ReplaceProcess("./windows", nil, nil)
	require.ErrorContains(t, elsewhere, "carriage return", "as without a terminal")
	t.Setenv("PATH", "")
	_, err = child.Start(child.Config{Path: "true", Dir: filepath.Dir(file), Cols: 80, Rows: 24})
	refused, ok := errors.AsType[*child.StartError](err)
	require.True(t, ok)
	require.Equal(t, "your PATH is empty: set it, or write the program's path", refused.Hint)
}
