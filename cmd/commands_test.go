package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A command is made in one form: its constructor binds flags to an options struct, and RunE only
// fills in what the arguments say and calls runX(ctx, env, opts). So the work of each command can be
// called without cobra, and no flag is read where it acts.
func TestCommandsHaveOneForm(t *testing.T) {
	files, err := filepath.Glob("internal/commands/*/*.go")
	require.NoError(t, err)
	found, others := 0, []string(nil)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, text, 0)
		require.NoError(t, err)
		source := func(n ast.Node) string {
			return string(text[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "run") && f.Name.Name != "runManual" {
				for _, p := range f.Type.Params.List {
					require.NotEqual(t, "*cobra.Command", source(p.Type), "%s: %s works without cobra", file, f.Name.Name)
				}
			}
			if pair, ok := n.(*ast.KeyValueExpr); ok && isNamed(pair.Key, "RunE") {
				found++
				if !isPlainRun(pair.Value) {
					others = append(others, set.Position(pair.Pos()).String())
				}
			}
			return true
		})
	}
	require.Greater(t, found, 40)
	require.Empty(t, others, "RunE sets fields of opts, and calls runX")
}

// isPlainRun reports whether an expression is a function that sets fields of opts, and returns the
// result of a function whose name begins with run, or a usage error.
func isPlainRun(e ast.Expr) bool {
	run, ok := e.(*ast.FuncLit)
	if !ok {
		return false
	}
	last := len(run.Body.List) - 1
	for _, s := range run.Body.List[:last] {
		set, ok := s.(*ast.AssignStmt)
		if !ok || set.Tok != token.ASSIGN {
			return false
		}
		for _, to := range set.Lhs {
			if field, ok := to.(*ast.SelectorExpr); !ok || !isNamed(field.X, "opts") {
				return false
			}
		}
	}
	end, ok := run.Body.List[last].(*ast.ReturnStmt)
	if !ok || len(end.Results) != 1 {
		return false
	}
	call, ok := end.Results[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	if does, ok := call.Fun.(*ast.Ident); ok {
		return strings.HasPrefix(does.Name, "run")
	}
	usage, ok := call.Fun.(*ast.SelectorExpr)
	return ok && isNamed(usage.X, "cli") && usage.Sel.Name == "Usage"
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
