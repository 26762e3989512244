package cmd_test

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A command is made in one form: its constructor binds flags to an options struct, and RunE only
// fills in what the arguments say and calls runX(ctx, env, opts). So the work of each command can be
// called without cobra, and no flag is read where it acts.
func TestCommandsHaveOneForm(t *testing.T) {
	found, others := 0, []string(nil)
	eachSource(t, false, func(s *source) {
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "run") && f.Name.Name != "runManual" {
				for _, p := range f.Type.Params.List {
					pointer, ok := p.Type.(*ast.StarExpr)
					require.False(t, ok && isNamed(pointer.X, "cobra", "Command"), "%s: %s works without cobra", s.path, f.Name.Name)
				}
			}
			if pair, ok := n.(*ast.KeyValueExpr); ok && isNamed(pair.Key, "RunE") {
				found++
				if !isPlainRun(pair.Value) {
					others = append(others, s.at(pair))
				}
			}
			return true
		})
	}, "cmd/internal/commands")
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
	return isNamed(call.Fun, "cli", "Usage")
}

// isNamed reports whether an expression is a name, or a package's name and one of that package.
func isNamed(e ast.Expr, names ...string) bool {
	if selected, ok := e.(*ast.SelectorExpr); ok && len(names) == 2 {
		return selected.Sel.Name == names[1] && isNamed(selected.X, names[0])
	}
	id, ok := e.(*ast.Ident)
	return ok && len(names) == 1 && id.Name == names[0]
}
