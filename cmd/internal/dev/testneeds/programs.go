package testneeds

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

func (d *declaration) addParameters(fields []*ast.Field) {
	for _, field := range fields {
		_, d.isVariadic = field.Type.(*ast.Ellipsis) // it is the last one
		for _, name := range field.Names {
			d.parameters = append(d.parameters, name.Pos())
		}
		if len(field.Names) == 0 {
			d.parameters = append(d.parameters, token.NoPos)
		}
	}
}

// lookedArgument is an expression, or its first element, that names a program to look for.
type lookedArgument struct {
	expr    ast.Expr
	isFirst bool
}

// lookedArguments returns the arguments of a call of d that exec.LookPath gets, if d skips without
// them, or a function that looks for them.
func (p *source) lookedArguments(d *declaration, call *ast.CallExpr) (looked []lookedArgument) {
	if d.skips && isLookPath(call) {
		return []lookedArgument{{call.Args[0], false}}
	}
	called := p.calledDeclaration(call)
	if called == nil || len(called.parameters) == 0 {
		return nil
	}
	last := len(called.parameters) - 1
	for i, arg := range call.Args {
		at := min(i, last)
		isFirst, isLooked := called.looks[called.parameters[at]]
		isElement := called.isVariadic && at == last && !call.Ellipsis.IsValid()
		switch {
		case !isLooked, isFirst && isElement && i > last:
		default:
			looked = append(looked, lookedArgument{arg, isFirst && !isElement})
		}
	}
	return looked
}

// addLooked adds the parameters of d in which it looks for programs, and reports whether it learnt
// anything.
func (p *source) addLooked(d *declaration) (changed bool) {
	for _, call := range d.calls {
		for _, arg := range p.lookedArguments(d, call) {
			changed = p.addMentioned(d, arg, make(map[token.Pos]bool)) || changed
		}
	}
	return changed
}

// addMentioned adds the parameters of d from which an argument comes, directly or by a loop over
// them. It reads each variable once and adds it to visited.
func (p *source) addMentioned(
	d *declaration, arg lookedArgument, visited map[token.Pos]bool,
) (changed bool) {
	ast.Inspect(arg.expr, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if isZero(n.Index) {
				changed = p.addMentioned(d, lookedArgument{n.X, true}, visited) || changed
				return false
			}
		case *ast.CallExpr:
			if arg.isFirst && isAppend(n) { // the first one is not among those that it appends
				changed = p.addMentioned(d, lookedArgument{n.Args[0], true}, visited) || changed
				return false
			}
		case *ast.Ident:
			o := p.objectOf(n)
			if o == nil || !isString(o.Type()) || visited[o.Pos()] {
				return true
			}
			visited[o.Pos()] = true
			isFirst, isKnown := d.looks[o.Pos()]
			if slices.Contains(d.parameters, o.Pos()) && (!isKnown || isFirst && !arg.isFirst) {
				d.looks[o.Pos()], changed = arg.isFirst, true
			}
			for _, value := range p.assigned[o.Pos()] {
				changed = p.addMentioned(d, lookedArgument{value, arg.isFirst}, visited) || changed
			}
		}
		return true
	})
	return changed
}

func isAppend(call *ast.CallExpr) bool {
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "append"
}

func isZero(e ast.Expr) bool {
	index, ok := e.(*ast.BasicLit)
	return ok && index.Value == "0"
}

// isString reports whether a type is a string or a slice of strings.
func isString(t types.Type) bool {
	if s, ok := t.Underlying().(*types.Slice); ok {
		t = s.Elem()
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func (p *source) calledDeclaration(call *ast.CallExpr) *declaration {
	name, ok := call.Fun.(*ast.Ident)
	if s, selects := call.Fun.(*ast.SelectorExpr); selects {
		name, ok = s.Sel, true
	}
	if !ok || p.info.Uses[name] == nil {
		return nil
	}
	return p.byPos[p.info.Uses[name].Pos()]
}

// addPrograms adds the programs that d looks for, directly or through the functions that it calls.
func (p *source) addPrograms(d *declaration) {
	for _, call := range d.calls {
		for _, arg := range p.lookedArguments(d, call) {
			if arg.isFirst {
				p.addFirst(d.needs, arg.expr, 0)
			} else {
				p.addValues(d.needs, arg.expr, 0)
			}
		}
	}
}

// maxDepth bounds the chain of assignments to a value: a variable may be assigned from itself.
const maxDepth = 4

// addValues adds the program names that an expression can have, from literals and tables of them.
func (p *source) addValues(needs map[string]bool, e ast.Expr, depth int) {
	if depth > maxDepth {
		return
	}
	var next []ast.Expr
	switch e := e.(type) {
	case *ast.BasicLit:
		words := strings.Fields(unquote(e))
		if e.Kind == token.STRING && len(words) > 0 && isProgramName(words[0]) {
			needs[words[0]] = true // the first word of a command line is the program
		}
	case *ast.Ident:
		if o := p.objectOf(e); o != nil && (isString(o.Type()) || depth > 0) {
			next = p.assigned[o.Pos()]
		}
	case *ast.SelectorExpr:
		if o := p.info.Uses[e.Sel]; o != nil && isString(o.Type()) {
			next = p.assigned[o.Pos()]
		}
	case *ast.IndexExpr: // the program of a command line
		if isZero(e.Index) {
			p.addFirst(needs, e.X, depth)
		}
	case *ast.CompositeLit:
		if t := p.info.Types[e].Type; t != nil && isString(t) {
			next = e.Elts
		}
	case *ast.CallExpr:
		if isAppend(e) {
			next = e.Args
		}
	}
	for _, e := range next {
		p.addValues(needs, e, depth+1)
	}
}

func isProgramName(word string) bool {
	return !strings.ContainsAny(word, "/%=,") && word[0] != '-'
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
		if o := p.objectOf(e); o != nil {
			for _, value := range p.assigned[o.Pos()] {
				p.addFirst(needs, value, depth+1)
			}
		}
	case *ast.CompositeLit:
		if len(e.Elts) > 0 {
			p.addValues(needs, e.Elts[0], depth+1)
		}
	case *ast.BasicLit:
		p.addValues(needs, e, depth)
	case *ast.CallExpr: // strings.Fields(command), append(command, more...)
		if isAppend(e) {
			p.addFirst(needs, e.Args[0], depth+1)
		}
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Fields" && len(e.Args) == 1 {
			p.addValues(needs, e.Args[0], depth+1)
		}
	}
}

func isLookPath(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "LookPath"
}
