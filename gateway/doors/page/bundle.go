package page

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The scripts that a page needs at once are joined into one file, and so are its styles: each file
// costs a phone a request and some hundred bytes of headers. The sources are modules whose imports
// are names in braces. In the joined file each module is a function, and a constant holds its
// exports.

// firstStyles are joined into one file of the first name.
var firstStyles = []string{"style.css", "screen.css", "typing.css"}

var patterns = sync.OnceValue(func() (p struct{ imports, exports, blanks *regexp.Regexp }) {
	p.imports = regexp.MustCompile(`(?m)^import \{([^}]*)\} from '\./([\w.]+)';$`)
	p.exports = regexp.MustCompile(`(?m)^export (async function|function|const|class) (\w+)`)
	p.blanks = regexp.MustCompile(`\n\s*\n+`)
	return p
})

// joinFirst joins the scripts and the styles that a page needs at once, and makes the later scripts
// import from the joined one.
func joinFirst(sources map[string][]byte) error {
	b := bundle{sources: sources, done: make(map[string]bool)}
	if err := b.add(firstName); err != nil {
		return err
	}
	slices.Sort(b.names)
	for name, source := range sources {
		switch {
		case b.done[name]:
			delete(sources, name)
		case path.Ext(name) == ".js":
			sources[name] = b.rewriteLater(source)
		}
	}
	out := fmt.Sprintf("%sexport {%s};\n", b.out.String(), strings.Join(b.names, ", "))
	sources[firstName] = patterns().blanks.ReplaceAll([]byte(out), []byte("\n"))
	for _, name := range firstStyles[1:] {
		sources[firstStyles[0]] = append(sources[firstStyles[0]], sources[name]...)
	}
	return nil
}

// bundle builds the joined script.
type bundle struct {
	sources map[string][]byte
	done    map[string]bool // also those that are being added
	names   []string        // of the constants
	out     strings.Builder
}

// add adds a module, after those that it imports.
func (b *bundle) add(name string) error {
	source, ok := b.sources[name]
	if !ok {
		return fmt.Errorf("no script %s", name)
	}
	b.done[name] = true
	for _, m := range patterns().imports.FindAllSubmatch(source, -1) {
		if next := string(m[2]); !b.done[next] {
			if err := b.add(next); err != nil {
				return err
			}
		} else if !slices.Contains(b.names, constantOf(next)) {
			return fmt.Errorf("%s and %s import each other", name, next)
		}
	}
	var exported []string
	for _, m := range patterns().exports.FindAllSubmatch(source, -1) {
		exported = append(exported, string(m[2]))
	}
	body := patterns().imports.ReplaceAllFunc(source, func(line []byte) []byte {
		m := patterns().imports.FindSubmatch(line)
		return fmt.Appendf(nil, "const {%s} = %s;", m[1], constantOf(string(m[2])))
	})
	body = patterns().exports.ReplaceAll(body, []byte("$1 $2"))
	_, _ = fmt.Fprintf(&b.out, "const %s = (() => {\n%s\nreturn {%s};\n})();\n",
		constantOf(name), body, strings.Join(exported, ", "))
	b.names = append(b.names, constantOf(name))
	return nil
}

// rewriteLater makes a script that is loaded later import from the joined one: a second copy of a
// module would have a state of its own.
func (b *bundle) rewriteLater(source []byte) []byte {
	return patterns().imports.ReplaceAllFunc(source, func(line []byte) []byte {
		m := patterns().imports.FindSubmatch(line)
		name := string(m[2])
		if !b.done[name] {
			return line
		}
		return fmt.Appendf(nil, "import {%s} from './%s'; const {%s} = %[1]s;",
			constantOf(name), firstName, m[1])
	})
}

// constantOf names the constant of a module.
func constantOf(name string) string { return "$" + strings.TrimSuffix(name, ".js") }
