package child_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/child"
)

// Each refusal has the status that a shell gives, names its cause, and the next step.
func TestStartRefusals(t *testing.T) {
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
	for _, c := range []struct {
		name, dir string
		status    int
		say, hint string
	}{
		{"no-such-program", "", 127, "no-such-program: command not found", "is it installed, and in your PATH? An alias or a function of your shell is not."},
		{"sh -c true", "", 127, "sh -c true: command not found", "write its arguments apart, without quotes: sh -c true"},
		{"no such program", "", 127, "no such program: command not found", "is it installed"},
		{"myscript", "", 127, "myscript: command not found", "write ./myscript"},
		{"plain", "", 127, "plain: command not found", "name the program that opens it, as in vim plain"},
		{"folder", "", 127, "folder: command not found", "is it installed"},
		{"./absent", "", 127, "./absent: no such file or directory", "check its path"},
		{"./plain", "", 126, "./plain: permission denied", "executable bit"},
		{"./folder", "", 126, "./folder: is a directory", "name a program"},
		{"/", "", 126, "/: is a directory", "name a program"},
		{"./myscript", "", 126, "./myscript: not a program this system can run", "#!/bin/sh"},
		{"./python", "", 127, "./python: its interpreter /no/such/python3 is missing", "install it, or correct the first line of ./python"},
		{"./tabs", "", 127, "./tabs: its interpreter /no/such/python3 is missing", "install it"},
		{"./windows", "", 127, "./windows: its first line ends with a carriage return, as lines of Windows do", `sed -i 's/\r$//' ./windows`},
		{"./plain/x", "", 126, "./plain/x: not a directory", "check its path: a part of it is a file"},
		{"./circle", "", 126, "./circle: too many levels of symbolic links", "see ls -l"},
		{"./" + strings.Repeat("n", 300), "", 126, "n: file name too long", "check its path"},
		{"true", "./absent", 125, "./absent: no such directory", "name another one"},
	} {
		_, err := child.Start(child.Config{Path: c.name, Dir: c.dir, Cols: 80, Rows: 24})
		refused, ok := errors.AsType[*child.StartError](err)
		require.True(t, ok, "%s: %v", c.name, err)
		require.Equal(t, c.status, refused.Status, "%s: %s", c.name, refused.Say)
		require.True(t, strings.HasSuffix(refused.Say, c.say), "%s: %s", c.name, refused.Say)
		require.Contains(t, refused.Hint, c.hint, c.name)
	}
	_, err := child.Start(child.Config{Path: "./endless", Cols: 80, Rows: 24})
	require.Error(t, err)
	require.Less(t, len(err.Error()), 300, "of the first line, only what the system reads")
	_, err = child.Start(child.Config{Path: "true", Args: []string{strings.Repeat("x", 1<<20)}, Cols: 80, Rows: 24})
	require.EqualError(t, err, "true: argument list too long")

	file, err := filepath.Abs("myscript")
	require.NoError(t, err)
	elsewhere := child.ReplaceProcess("./windows", nil)
	require.ErrorContains(t, elsewhere, "carriage return", "as without a terminal")
	t.Setenv("PATH", "")
	_, err = child.Start(child.Config{Path: "true", Dir: filepath.Dir(file), Cols: 80, Rows: 24})
	refused, ok := errors.AsType[*child.StartError](err)
	require.True(t, ok)
	require.Equal(t, "your PATH is empty: set it, or write the program's path", refused.Hint)
}
