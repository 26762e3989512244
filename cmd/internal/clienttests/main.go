// Command clienttests prints the tests that call for a real client, for the packages in the folders that its arguments name, as a
// pattern for go test -run. make clients runs them. A test does if it reads $CLIENTS, which is set for nothing else, or wants a browser,
// itself or in whatever it calls of its own package: a helper of a helper counts, a method, and a table of functions.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	var all []string
	for _, dir := range os.Args[1:] {
		tests, err := in(dir)
		if err != nil {
			fmt.Fprintf(os.Stderr, "clienttests: %v\n", err)
			os.Exit(1)
		}
		all = append(all, tests...)
	}
	fmt.Println(strings.Join(all, "|"))
}

// in is the tests of a folder that call for a client, in order.
func in(dir string) (tests []string, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s holds no tests", dir)
	}
	files := token.NewFileSet()
	packages := map[string][]*ast.File{} // a folder may have tests in its package and beside it
	for _, path := range paths {
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		packages[f.Name.Name] = append(packages[f.Name.Name], f)
	}
	for name, of := range packages {
		uses := map[*ast.Ident]types.Object{}
		// What is imported is unknown and an error each time; what the package's own names stand for is known all the same.
		conf := types.Config{Importer: nothing{}, Error: func(error) {}}
		_, _ = conf.Check(name, files, of, &types.Info{Uses: uses})
		tests = append(tests, calling(read(of, uses))...)
	}
	slices.Sort(tests)
	return tests, nil
}

// nothing is an importer without a package.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not looked at") }

// A declaration is a function, a method or a variable of a package.
type declaration struct {
	name   string
	at     token.Pos
	client bool        // calls for a client itself
	uses   []token.Pos // the declarations that it mentions
}

// read lists what the files declare.
func read(files []*ast.File, uses map[*ast.Ident]types.Object) (all []*declaration) {
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				all = append(all, declared(d.Name, d, uses))
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, is := spec.(*ast.ValueSpec); is {
						for _, name := range v.Names {
							all = append(all, declared(name, v, uses))
						}
					}
				}
			}
		}
	}
	return all
}

func declared(name *ast.Ident, by ast.Node, uses map[*ast.Ident]types.Object) *declaration {
	d := &declaration{name: name.Name, at: name.Pos()}
	ast.Inspect(by, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			d.client = d.client || isClient(n)
		case *ast.Ident:
			switch o := uses[n].(type) {
			case *types.Func:
				d.uses = append(d.uses, o.Origin().Pos())
			case *types.Var:
				d.uses = append(d.uses, o.Origin().Pos())
			}
		}
		return true
	})
	return d
}

// isClient: os.Getenv("CLIENTS"), or what reads it in package browser.
func isClient(call *ast.CallExpr) bool {
	f, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	of, _ := f.X.(*ast.Ident)
	switch {
	case of == nil:
		return false
	case of.Name == "browser":
		return f.Sel.Name == "Chromium" || f.Sel.Name == "Installed"
	case of.Name != "os" || f.Sel.Name != "Getenv" || len(call.Args) != 1:
		return false
	}
	name, is := call.Args[0].(*ast.BasicLit)
	return is && name.Value == strconv.Quote("CLIENTS")
}

// calling is the tests among the declarations that call for a client.
func calling(all []*declaration) (tests []string) {
	clients := make(map[token.Pos]bool)
	for grown := true; grown; {
		grown = false
		for _, d := range all {
			if !clients[d.at] && (d.client || slices.ContainsFunc(d.uses, func(at token.Pos) bool { return clients[at] })) {
				clients[d.at], grown = true, true
			}
		}
	}
	for _, d := range all {
		if clients[d.at] && strings.HasPrefix(d.name, "Test") {
			tests = append(tests, d.name)
		}
	}
	return tests
}
