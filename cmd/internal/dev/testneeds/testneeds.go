// Package testneeds finds in the source of tests what they need of the machine: programs, root, or
// a real client. It follows the names that a test mentions in its own package and in packages
// beside it: helpers of helpers, methods, and tables of functions or of programs. A test with a
// table needs each program in it.
package testneeds

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The needs besides programs, which have their names in exec.LookPath.
const (
	// Client is for the tests that make clients runs: they read $CLIENTS, or use a browser.
	Client = "client"
	// Root is for the tests that reach a function named NeedsRoot (or needsRoot).
	Root = "root"
	// Film is for the tests that reach a function named SeeShown: they look at a text that
	// stays for only a second or two.
	Film = "film"
)

// Test is a test function.
type Test struct {
	Name  string
	Needs []string // in alphabetical order
}

// Read returns the tests in the folder dir, by name.
func Read(dir string) ([]Test, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*_test.go"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s holds no tests", dir)
	}
	set := token.NewFileSet()
	files, err := parse(set, paths)
	if err != nil {
		return nil, err
	}
	packages := map[string][]*ast.File{} // a folder may have tests in its package and beside it
	for _, f := range files {
		packages[f.Name.Name] = append(packages[f.Name.Name], f)
	}
	var tests []Test
	for name, files := range packages {
		p := &source{
			info: types.Info{
				Uses:  map[*ast.Ident]types.Object{},
				Defs:  map[*ast.Ident]types.Object{},
				Types: map[ast.Expr]types.TypeAndValue{},
			},
			assigned: make(map[token.Pos][]ast.Expr),
		}
		helpers := &helperImports{dir: dir, set: set, info: &p.info}
		// An import of anything else is an error, but the checker still resolves the other names.
		conf := types.Config{Importer: helpers, Error: func(error) {}}
		_, _ = conf.Check(name, set, files, &p.info)
		tests = append(tests, p.findTests(files, helpers.files)...)
	}
	slices.SortFunc(tests, func(a, b Test) int { return strings.Compare(a.Name, b.Name) })
	return tests, nil
}

func parse(set *token.FileSet, paths []string) (files []*ast.File, err error) {
	for _, path := range paths {
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// escapeGlob makes a pattern of a path: the name of a checkout's directory may hold brackets.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// helperImports imports the packages of helpers that stand beside a folder of tests, such as
// ../world, and nothing else.
type helperImports struct {
	dir   string // of the tests
	set   *token.FileSet
	info  *types.Info
	files []*ast.File // of all helpers
}

var errNotRead = errors.New("not read")

func (h *helperImports) Import(path string) (*types.Package, error) {
	tests, err := filepath.Abs(h.dir)
	if err != nil || filepath.Base(filepath.Dir(tests)) != filepath.Base(filepath.Dir(path)) {
		return nil, errNotRead
	}
	beside := filepath.Join(filepath.Dir(tests), filepath.Base(path))
	paths, err := filepath.Glob(filepath.Join(escapeGlob(beside), "*.go"))
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "_test.go") })
	if err != nil || len(paths) == 0 {
		return nil, errNotRead
	}
	files, err := parse(h.set, paths)
	if err != nil {
		return nil, err
	}
	h.files = append(h.files, files...)
	conf := types.Config{Importer: importNothing{}, Error: func(error) {}}
	p, _ := conf.Check(path, h.set, files, h.info)
	return p, nil
}

type importNothing struct{}

func (importNothing) Import(string) (*types.Package, error) { return nil, errNotRead }

// source is one package of a folder.
type source struct {
	info types.Info
	// assigned holds the values of variables and of structs' fields, by their declarations.
	assigned map[token.Pos][]ast.Expr
	all      []*declaration
	byPos    map[token.Pos]*declaration
}

// declaration is a function, a method or a variable of a package.
type declaration struct {
	name       string
	at         token.Pos
	node       ast.Node
	needs      map[string]bool
	uses       []token.Pos // the declarations that it mentions
	calls      []*ast.CallExpr
	parameters []token.Pos // in order
	isVariadic bool
	skips      bool
	// looks holds the parameters in which it looks for programs, without which the test skips. The
	// value is true if it looks for the first element only.
	looks map[token.Pos]bool
}

// findTests finds the test functions and spreads needs from functions to their callers.
func (p *source) findTests(files, helpers []*ast.File) (tests []Test) {
	p.readDeclarations(files)
	p.readDeclarations(helpers)
	p.byPos = make(map[token.Pos]*declaration)
	for _, d := range p.all {
		p.byPos[d.at] = d
	}
	repeat(func() (changed bool) {
		for _, d := range p.all {
			changed = p.addLooked(d) || changed
		}
		return changed
	})
	for _, d := range p.all {
		p.addPrograms(d)
	}
	repeat(func() (changed bool) {
		for _, d := range p.all {
			n := len(d.needs)
			for _, at := range d.uses {
				if used := p.byPos[at]; used != nil {
					maps.Copy(d.needs, used.needs)
				}
			}
			changed = changed || len(d.needs) > n
		}
		return changed
	})
	for _, d := range p.all {
		_, isFunction := d.node.(*ast.FuncDecl)
		if isFunction && strings.HasPrefix(d.name, "Test") && d.name != "TestMain" {
			tests = append(tests, Test{Name: d.name, Needs: slices.Sorted(maps.Keys(d.needs))})
		}
	}
	return tests
}

func repeat(step func() (changed bool)) {
	for changed := true; changed; {
		changed = step()
	}
}

func (p *source) readDeclarations(files []*ast.File) {
	for _, f := range files {
		ast.Inspect(f, p.readValues)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				p.addDeclaration(d.Name, d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						for _, name := range v.Names {
							p.addDeclaration(name, v)
						}
					}
				}
			}
		}
	}
}

func (p *source) addDeclaration(name *ast.Ident, node ast.Node) {
	d := &declaration{
		name: name.Name, at: name.Pos(), node: node,
		needs: map[string]bool{}, looks: make(map[token.Pos]bool),
	}
	p.all = append(p.all, d)
	if f, ok := node.(*ast.FuncDecl); ok {
		d.addParameters(f.Type.Params.List)
		switch d.name {
		case "needsRoot", "NeedsRoot":
			d.needs[Root] = true
		case "SeeShown":
			d.needs[Film] = true
		}
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			d.calls = append(d.calls, n)
			if isClient(n) {
				d.needs[Client] = true
			}
			f, ok := n.Fun.(*ast.SelectorExpr)
			if ok && (f.Sel.Name == "Skip" || f.Sel.Name == "Skipf") {
				d.skips = true
			}
		case *ast.Ident:
			switch o := p.info.Uses[n].(type) {
			case *types.Func:
				d.uses = append(d.uses, o.Origin().Pos())
			case *types.Var:
				d.uses = append(d.uses, o.Origin().Pos())
			}
		}
		return true
	})
}

// readValues records the values that a node assigns to variables and to fields of structs.
func (p *source) readValues(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if i < len(n.Values) {
				p.addAssigned(name.Pos(), n.Values[i])
			}
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if name, ok := left.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) {
				if o := p.objectOf(name); o != nil {
					p.addAssigned(o.Pos(), n.Rhs[i])
				}
			}
		}
	case *ast.RangeStmt:
		for _, left := range []ast.Expr{n.Key, n.Value} {
			if name, ok := left.(*ast.Ident); ok {
				if o := p.objectOf(name); o != nil {
					p.addAssigned(o.Pos(), n.X)
				}
			}
		}
	case *ast.CompositeLit:
		t := p.info.Types[n].Type
		if t == nil {
			return true
		}
		s, isStruct := t.Underlying().(*types.Struct)
		for i, e := range n.Elts {
			if pair, keyed := e.(*ast.KeyValueExpr); keyed && isStruct {
				if name, named := pair.Key.(*ast.Ident); named && p.objectOf(name) != nil {
					p.addAssigned(p.objectOf(name).Pos(), pair.Value)
				}
			} else if isStruct && i < s.NumFields() {
				p.addAssigned(s.Field(i).Pos(), e)
			}
		}
	}
	return true
}

func (p *source) addAssigned(at token.Pos, value ast.Expr) {
	p.assigned[at] = append(p.assigned[at], value)
}

func (p *source) objectOf(name *ast.Ident) types.Object {
	if o := p.info.Defs[name]; o != nil {
		return o
	}
	return p.info.Uses[name]
}

// isClient reports whether a call is os.Getenv("CLIENTS"), or of a function in package browser that
// reads it.
func isClient(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := f.X.(*ast.Ident)
	if !ok {
		return false
	}
	if pkg.Name == "browser" {
		return slices.Contains([]string{"Chromium", "ChromiumPath", "OpenTab"}, f.Sel.Name)
	}
	return pkg.Name == "os" && f.Sel.Name == "Getenv" &&
		len(call.Args) == 1 && unquote(call.Args[0]) == "CLIENTS"
}

func unquote(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	s, _ := strconv.Unquote(literal.Value)
	return s
}
