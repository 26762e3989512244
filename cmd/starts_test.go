package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package compiles a regular expression where it is first used ([sync.OnceValue]), not at every
// start of a program that may never use it.
func TestNoStartCompilesARegexp(t *testing.T) {
	looked := 0
	for _, dir := range []string{"gateway", "proxy", "internal/cli", "internal/commands", "internal/config/settings", "internal/hooks/onevent", "../gateway", "../proxy", "../protocol"} {
		require.NoError(t, filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			looked++
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, d := range file.Decls {
				if vars, ok := d.(*ast.GenDecl); ok && vars.Tok == token.VAR {
					compilesNothing(t, set, vars)
				}
			}
			return nil
		}))
	}
	require.Greater(t, looked, 300)
}

// compilesNothing checks that no value of a declaration is a compiled expression; a function's body
// runs only when it is called.
func compilesNothing(t *testing.T, set *token.FileSet, vars *ast.GenDecl) {
	t.Helper()
	ast.Inspect(vars, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		call, ok := n.(*ast.SelectorExpr)
		compiles := ok && strings.HasPrefix(call.Sel.Name, "MustCompile")
		require.False(t, compiles, "%s: compile it with sync.OnceValue", set.Position(vars.Pos()))
		return true
	})
}
