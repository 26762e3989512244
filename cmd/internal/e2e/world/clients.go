package world

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Clients skips a test of programs that the other tests do without: agents from npm, terminals
// under X.
func Clients(t *testing.T) {
	t.Helper()
	if os.Getenv("CLIENTS") == "" {
		t.Skip("a test of real clients: make clients runs it")
	}
}

// FromNpm returns the path of a program that .ci/package.json names. CLIENTS_BIN can name another
// directory, and the variable of the program's upper-case name another file.
func FromNpm(t *testing.T, name string) string {
	t.Helper()
	Clients(t)
	newest := ""
	if dir := os.Getenv("CLIENTS_BIN"); dir != "" {
		newest = filepath.Join(dir, name)
	}
	for _, path := range []string{os.Getenv(strings.ToUpper(name)), newest, filepath.Join("..", "..", "..", "..", ".ci", "node_modules", ".bin", name)} {
		if info, err := os.Stat(path); path != "" && err == nil && info.Mode().IsRegular() {
			path, err = filepath.Abs(path)
			require.NoError(t, err)
			return path
		}
	}
	t.Skipf("%s is not installed: npm install --prefix .ci, or name it in $%s", name, strings.ToUpper(name))
	return ""
}
