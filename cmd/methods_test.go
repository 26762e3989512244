package cmd_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	for name, n := range countMethods(t, "..") {
		if limit := max(maxMethods, largeTypes[name]); n > limit {
			above = append(above, fmt.Sprintf("%s has %d methods, of at most %d", name, n, limit))
		}
	}
	slices.Sort(above)
	require.Empty(t, above, "divide the type: a field of a type of its own for each part of its work")
}

// countMethods counts the methods of all types beneath a directory, without tests, by the path of
// their package and their name. A method in files for several systems counts once.
func countMethods(t *testing.T, top string) map[string]int {
	t.Helper()
	methods := map[string]map[string]bool{}
	skip := wordSet("testdata node_modules .ci .git")
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skip[d.Name()]:
			return filepath.SkipDir
		case d.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(top, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				name := pkg + "." + receiverName(f.Recv.List[0].Type)
				if methods[name] == nil {
					methods[name] = map[string]bool{}
				}
				methods[name][f.Name.Name] = true
			}
		}
		return nil
	}))
	counts := map[string]int{}
	for name, all := range methods {
		counts[name] = len(all)
	}
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

func TestMethodsAreCounted(t *testing.T) {
	top := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(top, "p"), 0o755))
	for name, text := range map[string]string{
		"list.go":       "package p\ntype list[T any] struct{}\nfunc (l *list[T]) add() {}",
		"list_linux.go": "package p\nfunc (list[T]) size() {}",
		"list_other.go": "//go:build !linux\n\npackage p\nfunc (list[T]) size() {}",
		"list_test.go":  "package p\nfunc (list[T]) check() {}",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(top, "p", name), []byte(text), 0o600))
	}
	require.Equal(t, map[string]int{"p.list": 2}, countMethods(t, top))
}
