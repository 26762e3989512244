package cmd_test

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// besideOthers are files of packages in the Makefile's ALONE that start goroutines nevertheless,
// with the reason.
var besideOthers = map[string]string{
	"proxy/terminal/screen/drain_test.go": "a benchmark",
}

// make test leaves the race detector out for packages that run one goroutine at a time.
func TestPackagesWithoutTheRaceDetectorRunOneGoroutine(t *testing.T) {
	for dir := range strings.FieldsSeq(makeValue(t, "\nALONE = ", "\n")) {
		if dir == "./cmd/internal/dev/browser" {
			continue // its goroutines need a browser, and make clients runs the race detector
		}
		for _, areTests := range []bool{false, true} {
			eachSource(t, areTests, func(s *source) {
				if besideOthers[s.path] == "" && "./"+s.dir == dir {
					checkOneGoroutine(t, s)
				}
			}, dir)
		}
	}
}

// checkOneGoroutine checks that a file starts no goroutine and runs no parallel test.
func checkOneGoroutine(t *testing.T, s *source) {
	t.Helper()
	starting := wordSet("Parallel RunParallel Go AfterFunc")
	ast.Inspect(s.tree, func(n ast.Node) bool {
		_, starts := n.(*ast.GoStmt)
		if call, ok := n.(*ast.SelectorExpr); ok {
			starts = starting[call.Sel.Name]
		}
		require.False(t, starts, "%s: take the package out of ALONE in the Makefile, so that the race detector looks", s.path)
		return true
	})
}
