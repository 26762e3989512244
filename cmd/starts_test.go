package cmd_test

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package compiles a regular expression where it is first used ([sync.OnceValue]), not at every
// start of a program that may never use it.
func TestNoStartCompilesARegexp(t *testing.T) {
	eachSource(t, false, func(s *source) {
		for _, d := range s.tree.Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			ast.Inspect(vars, func(n ast.Node) bool {
				call, ok := n.(*ast.SelectorExpr)
				require.False(t, ok && strings.HasPrefix(call.Sel.Name, "MustCompile"), "%s: compile it with sync.OnceValue", s.at(vars))
				_, runsLater := n.(*ast.FuncLit)
				return !runsLater
			})
		}
	}, "cmd/gateway", "cmd/proxy", "cmd/internal/cli", "cmd/internal/commands", "cmd/internal/config/settings", "cmd/internal/hooks/onevent",
		"gateway", "proxy", "protocol")
}
