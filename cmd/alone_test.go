package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// besideOthers are files of packages in the Makefile's ALONE that start goroutines nevertheless,
// with the reason.
var besideOthers = map[string]string{
	"../proxy/terminal/screen/drain_test.go": "a benchmark",
}

// make test leaves the race detector out for packages that run one goroutine at a time.
func TestPackagesWithoutTheRaceDetectorRunOneGoroutine(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^ALONE = (.*)$`).FindSubmatch(makefile)
	require.NotNil(t, found)
	for dir := range strings.FieldsSeq(string(found[1])) {
		if dir == "./cmd/internal/dev/browser" {
			continue // its goroutines need a browser, and make clients runs the race detector
		}
		names, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, names, dir)
		for _, name := range names {
			if besideOthers[name] == "" {
				oneGoroutine(t, name)
			}
		}
	}
}

// oneGoroutine checks that a file starts no goroutine and runs no parallel test.
func oneGoroutine(t *testing.T, name string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		starts := false
		switch n := n.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.SelectorExpr:
			starts = n.Sel.Name == "Parallel" || n.Sel.Name == "RunParallel" || n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc"
		case nil:
			return false
		}
		require.False(t, starts, "%s: take the package out of ALONE in the Makefile, so that the race detector looks", set.Position(n.Pos()))
		return true
	})
}
