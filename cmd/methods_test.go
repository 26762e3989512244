package cmd_test

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxMethods bounds the methods that a type declares. A type with more does the work of several.
const maxMethods = 45

// largeTypes may have more methods: the terminal model has one for each control sequence.
var largeTypes = map[string]int{
	"proxy/terminal/screen.terminal": 280,
	"proxy/terminal/screen.Screen":   70,
}

// TestMethods holds each type to maxMethods, or to its own limit.
func TestMethods(t *testing.T) {
	var above []string
	for name, n := range countMethods(t) {
		if limit := max(maxMethods, largeTypes[name]); n > limit {
			above = append(above, fmt.Sprintf("%s has %d methods, of at most %d", name, n, limit))
		}
	}
	slices.Sort(above)
	require.Empty(t, above, "divide the type: a field of a type of its own for each part of its work")
}

// countMethods counts the methods of all types, by the path of their package and their name. A
// method in files for several systems counts once.
func countMethods(t *testing.T) map[string]int {
	t.Helper()
	methods, counts := map[string]bool{}, map[string]int{}
	eachSource(t, false, func(s *source) {
		for _, decl := range s.tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			name := s.dir + "." + receiverName(f.Recv.List[0].Type)
			if method := name + "." + f.Name.Name; !methods[method] {
				methods[method] = true
				counts[name]++
			}
		}
	}, everywhere...)
	return counts
}

// receiverName returns the name of a receiver's type.
func receiverName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
