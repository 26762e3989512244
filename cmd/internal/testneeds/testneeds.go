// Package testneeds reads from the source of tests what they need of the machine: programs, root, or a real
// client. It follows what a test mentions of its own package: helpers of helpers, methods, and tables of
// functions or of programs. A test with a table counts as needing each program in it.
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

// What tests need besides programs, which go by the name that exec.LookPath is asked for.
const (
	// Client is what make clients runs: the test reads $CLIENTS, or wants a browser.
	Client = "client"
	// Root is what a test needs that reaches a function named needsRoot.
	Root = "root"
	// Film is for the tests that reach a function named seeShown: they look at what stands for a second or two only.
	Film = "film"
)

// Test is a test function, and what it needs in alphabetical order.
type Test struct {
	Name  string
	Needs []string
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
	packages := map[string][]*ast.File{} // a folder may have tests in its package and beside it
	for _, path := range paths {
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		packages[f.Name.Name] = append(packages[f.Name.Name], f)
	}
	var tests []Test
	for name, files := range packages {
		p := &source{
			info:     types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}},
			assigned: make(map[token.Pos][]ast.Expr),
		}
		// Each import is unknown and an error; what the package's own names stand for is known all the same.
		conf := types.Config{Importer: noImports{}, Error: func(error) {}}
		_, _ = conf.Check(name, set, files, &p.info)
		tests = append(tests, p.tests(files)...)
	}
	slices.SortFunc(tests, func(a, b Test) int { return strings.Compare(a.Name, b.Name) })
	return tests, nil
}

// escapeGlob makes a pattern of a path: a checkout may lie in a directory with brackets in its name.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not read") }

// source is one package of a folder.
type source struct {
	info     types.Info
	assigned map[token.Pos][]ast.Expr // values of a variable or of a struct's field, by its declaration
	all      []*declaration
}

// declaration is a function, a method or a variable of a package.
type declaration struct {
	name       string
	at         token.Pos
	node       ast.Node
	needs      map[string]bool
	uses       []token.Pos // the declarations that it mentions
	calls      []*ast.CallExpr
	parameters map[token.Pos]bool
	skips      bool
	// looks: the programs that a call names are looked for, and the test skips without them.
	looks bool
}

// tests finds the test functions and spreads needs from what is called to who calls it.
func (p *source) tests(files []*ast.File) (tests []Test) {
	p.readDeclarations(files)
	byPos := make(map[token.Pos]*declaration)
	for _, d := range p.all {
		byPos[d.at] = d
	}
	repeat(func() (changed bool) {
		for _, d := range p.all {
			if !d.looks && p.looksForArguments(d, byPos) {
				d.looks, changed = true, true
			}
		}
		return changed
	})
	for _, d := range p.all {
		p.addPrograms(d, byPos)
	}
	repeat(func() (changed bool) {
		for _, d := range p.all {
			n := len(d.needs)
			for _, at := range d.uses {
				if used := byPos[at]; used != nil {
					maps.Copy(d.needs, used.needs)
				}
			}
			changed = changed || len(d.needs) > n
		}
		return changed
	})
	for _, d := range p.all {
		if _, is := d.node.(*ast.FuncDecl); is && strings.HasPrefix(d.name, "Test") && d.name != "TestMain" {
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
					if v, is := spec.(*ast.ValueSpec); is {
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
	d := &declaration{name: name.Name, at: name.Pos(), node: node, needs: map[string]bool{}, parameters: make(map[token.Pos]bool)}
	p.all = append(p.all, d)
	if f, is := node.(*ast.FuncDecl); is {
		for _, field := range f.Type.Params.List {
			for _, name := range field.Names {
				d.parameters[name.Pos()] = true
			}
		}
		switch d.name {
		case "needsRoot":
			d.needs[Root] = true
		case "seeShown":
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
			if f, is := n.Fun.(*ast.SelectorExpr); is && (f.Sel.Name == "Skip" || f.Sel.Name == "Skipf") {
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

// readValues notes what a node assigns to variables and to fields of structs.
func (p *source) readValues(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if i < len(n.Values) {
				p.assigned[name.Pos()] = append(p.assigned[name.Pos()], n.Values[i])
			}
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if name, is := left.(*ast.Ident); is && len(n.Lhs) == len(n.Rhs) {
				if o := p.object(name); o != nil {
					p.assigned[o.Pos()] = append(p.assigned[o.Pos()], n.Rhs[i])
				}
			}
		}
	case *ast.RangeStmt:
		for _, left := range []ast.Expr{n.Key, n.Value} {
			if name, is := left.(*ast.Ident); is {
				if o := p.object(name); o != nil {
					p.assigned[o.Pos()] = append(p.assigned[o.Pos()], n.X)
				}
			}
		}
	case *ast.CompositeLit:
		t := p.info.Types[n].Type
		if t == nil {
			return true
		}
		s, is := t.Underlying().(*types.Struct)
		for i, e := range n.Elts {
			if pair, keyed := e.(*ast.KeyValueExpr); keyed && is {
				if name, named := pair.Key.(*ast.Ident); named && p.object(name) != nil {
					p.assigned[p.object(name).Pos()] = append(p.assigned[p.object(name).Pos()], pair.Value)
				}
			} else if is && i < s.NumFields() {
				p.assigned[s.Field(i).Pos()] = append(p.assigned[s.Field(i).Pos()], e)
			}
		}
	}
	return true
}

func (p *source) object(name *ast.Ident) types.Object {
	if o := p.info.Defs[name]; o != nil {
		return o
	}
	return p.info.Uses[name]
}

// looksForArguments: d hands a parameter of its own to exec.LookPath and skips, or to a function that does.
func (p *source) looksForArguments(d *declaration, byPos map[token.Pos]*declaration) bool {
	for _, call := range d.calls {
		called := p.called(call, byPos)
		if (d.skips && isLookPath(call) || called != nil && called.looks) && p.mentions(call.Args, d.parameters, make(map[token.Pos]bool)) {
			return true
		}
	}
	return false
}

// mentions reports whether the expressions come from one of the parameters, also by way of a loop over it. It
// reads each variable once: visited has those that it has read.
func (p *source) mentions(exprs []ast.Expr, parameters, visited map[token.Pos]bool) (found bool) {
	for _, e := range exprs {
		ast.Inspect(e, func(n ast.Node) bool {
			if name, is := n.(*ast.Ident); is && !found {
				if o := p.object(name); o != nil && isString(o.Type()) && !visited[o.Pos()] {
					visited[o.Pos()] = true
					found = parameters[o.Pos()] || p.mentions(p.assigned[o.Pos()], parameters, visited)
				}
			}
			return !found
		})
	}
	return found
}

// isString: a string, or a slice of them.
func isString(t types.Type) bool {
	if s, is := t.Underlying().(*types.Slice); is {
		t = s.Elem()
	}
	b, is := t.Underlying().(*types.Basic)
	return is && b.Info()&types.IsString != 0
}

func (p *source) called(call *ast.CallExpr, byPos map[token.Pos]*declaration) *declaration {
	name, is := call.Fun.(*ast.Ident)
	if s, selects := call.Fun.(*ast.SelectorExpr); selects {
		name, is = s.Sel, true
	}
	if !is || p.info.Uses[name] == nil {
		return nil
	}
	return byPos[p.info.Uses[name].Pos()]
}

// addPrograms adds the programs that d looks for, or has looked for by what it calls.
func (p *source) addPrograms(d *declaration, byPos map[token.Pos]*declaration) {
	for _, call := range d.calls {
		called := p.called(call, byPos)
		if d.skips && isLookPath(call) || called != nil && called.looks {
			for _, arg := range call.Args {
				p.addValues(d.needs, arg, 0)
			}
		}
	}
}

// maxDepth is how many assignments a value is followed through: a variable may be assigned from itself.
const maxDepth = 4

// addValues adds the names that an expression can have, as far as literals and tables of them say.
func (p *source) addValues(needs map[string]bool, e ast.Expr, depth int) {
	if depth > maxDepth {
		return
	}
	var next []ast.Expr
	switch e := e.(type) {
	case *ast.BasicLit:
		words := strings.Fields(unquote(e))
		if e.Kind == token.STRING && len(words) > 0 && !strings.ContainsAny(words[0], "/%=,") && words[0][0] != '-' {
			needs[words[0]] = true // of a command line the first word is the program
		}
	case *ast.Ident:
		if o := p.object(e); o != nil && (isString(o.Type()) || depth > 0) {
			next = p.assigned[o.Pos()]
		}
	case *ast.SelectorExpr:
		if o := p.info.Uses[e.Sel]; o != nil && isString(o.Type()) {
			next = p.assigned[o.Pos()]
		}
	case *ast.IndexExpr: // the program of a command in words
		if index, is := e.Index.(*ast.BasicLit); is && index.Value == "0" {
			p.addFirst(needs, e.X, depth)
		}
	case *ast.CompositeLit:
		if t := p.info.Types[e].Type; t != nil && isString(t) {
			next = e.Elts
		}
	case *ast.CallExpr:
		if name, is := e.Fun.(*ast.Ident); is && name.Name == "append" {
			next = e.Args
		}
	}
	for _, e := range next {
		p.addValues(needs, e, depth+1)
	}
}

// addFirst adds the first element of each slice that e can be.
func (p *source) addFirst(needs map[string]bool, e ast.Expr, depth int) {
	if depth > maxDepth {
		return
	}
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if o := p.info.Uses[e.Sel]; o != nil {
			for _, value := range p.assigned[o.Pos()] {
				p.addFirst(needs, value, depth+1)
			}
		}
	case *ast.Ident:
		if o := p.object(e); o != nil {
			for _, value := range p.assigned[o.Pos()] {
				p.addFirst(needs, value, depth+1)
			}
		}
	case *ast.CompositeLit:
		if len(e.Elts) > 0 {
			p.addValues(needs, e.Elts[0], depth+1)
		}
	case *ast.CallExpr: // strings.Fields(command)
		if f, is := e.Fun.(*ast.SelectorExpr); is && f.Sel.Name == "Fields" && len(e.Args) == 1 {
			p.addValues(needs, e.Args[0], depth+1)
		}
	}
}

func isLookPath(call *ast.CallExpr) bool {
	f, is := call.Fun.(*ast.SelectorExpr)
	return is && f.Sel.Name == "LookPath"
}

// isClient: os.Getenv("CLIENTS"), or what reads it in package browser.
func isClient(call *ast.CallExpr) bool {
	f, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	of, is := f.X.(*ast.Ident)
	if !is {
		return false
	}
	if of.Name == "browser" {
		return f.Sel.Name == "Chromium" || f.Sel.Name == "Installed"
	}
	return of.Name == "os" && f.Sel.Name == "Getenv" && len(call.Args) == 1 && unquote(call.Args[0]) == "CLIENTS"
}

func unquote(e ast.Expr) string {
	literal, is := e.(*ast.BasicLit)
	if !is {
		return ""
	}
	s, _ := strconv.Unquote(literal.Value)
	return s
}
