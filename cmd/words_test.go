package cmd_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const (
	// columns bounds a line of code and of a comment. A tab counts as tabColumns.
	columns    = 100
	tabColumns = 4
	// implementers is the number of receivers at which a method name is taken for that of an
	// interface's method. It then counts once for the package.
	implementers = 4
)

// wordRule is one count of a package. The limit is a percentage of its total.
type wordRule struct {
	name  string
	limit int
}

var wordRules = []wordRule{
	{"one-word-methods", 35}, // of unexported methods
	{"noun-comments", 10},    // of doc comments of unexported functions and methods
	{"fingerprints", 3},      // of comment lines
	{"wide-comments", 1},     // of comment lines
	{"wide-code", 2},         // of lines of code
	{"riddle-names", 0},      // of parameters, local variables and fields
}

// oneWord are method names that need no object.
var oneWord = wordSet("run close read write lock unlock start stop len reset flush kind")

// riddles are names of variables that say nothing of their values.
var riddles = wordSet("no say is those who what whose was were has")

var (
	nounComment = regexp.MustCompile(`^\S+ (is|are|was) (the|a|an|all|what|who|whose|where|how|whether|when|which|one|those|that|as)\b`)
	fingerprint = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever|whatever|wherever|none|no more|any more|of ours|so many|` +
		`as far as|what is|that is|which is|there is (one|none)|is to be|is said)\b`)
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// wordCount is a count and its total.
type wordCount struct{ count, total int }

func (c wordCount) isAbove(limit int) bool { return c.count*100 > limit*c.total }

// wordCounts are those of one package, in the order of wordRules.
type wordCounts [6]wordCount

// packageWords collects what one package's counts are made from.
type packageWords struct {
	counts    wordCounts
	receivers map[string]int // of each unexported method name
}

// TestWords holds each package to the limits of wordRules.
func TestWords(t *testing.T) {
	var above []string
	for pkg, counts := range countWords(t) {
		for i, rule := range wordRules {
			if c := counts[i]; c.isAbove(rule.limit) {
				above = append(above, fmt.Sprintf("%s: %s: %d of %d: at most %d %%", pkg, rule.name, c.count, c.total, rule.limit))
			}
		}
	}
	slices.Sort(above)
	require.Empty(t, above, "see .github/CONTRIBUTING.md")
}

// countWords counts in all packages, by their paths.
func countWords(t *testing.T) map[string]wordCounts {
	t.Helper()
	all := map[string]*packageWords{}
	eachSource(t, false, func(s *source) {
		if strings.HasPrefix(s.dir, "cmd/internal/e2e") {
			return
		}
		if all[s.dir] == nil {
			all[s.dir] = &packageWords{receivers: map[string]int{}}
		}
		all[s.dir].addFile(s)
	}, everywhere...)
	counts := map[string]wordCounts{}
	for pkg, words := range all {
		words.addMethods()
		counts[pkg] = words.counts
	}
	return counts
}

func (p *packageWords) addFile(s *source) {
	p.addLines(s.text, commentLines(s.files, s.tree))
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			p.addFunction(n)
		case *ast.Field:
			p.addNames(n.Names)
		case *ast.ValueSpec:
			p.addNames(n.Names)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					if id, ok := left.(*ast.Ident); ok {
						p.addNames([]*ast.Ident{id})
					}
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					p.addNames([]*ast.Ident{id})
				}
			}
		}
		return true
	})
}

// commentLines returns the numbers, from 1, of the lines that hold only a comment.
func commentLines(files *token.FileSet, file *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			for line := files.Position(c.Pos()).Line; line <= files.Position(c.End()).Line; line++ {
				lines[line] = true
			}
		}
	}
	return lines
}

func (p *packageWords) addLines(source string, comments map[int]bool) {
	number := 0
	for line := range strings.Lines(source) {
		number++
		line = strings.TrimSuffix(line, "\n")
		text := strings.TrimSpace(line)
		wide := utf8.RuneCountInString(line)+strings.Count(line, "\t")*(tabColumns-1) > columns
		switch {
		case text == "":
		case strings.HasPrefix(text, "//go:"), strings.HasPrefix(text, "//nolint"):
		case comments[number] && strings.HasPrefix(text, "//"):
			p.add(2, fingerprint.MatchString(text))
			p.add(3, wide)
		default:
			p.add(4, wide)
			if _, comment, ok := strings.Cut(line, " // "); ok && comments[number] {
				p.add(2, fingerprint.MatchString(comment))
			}
		}
	}
}

func (p *packageWords) addFunction(f *ast.FuncDecl) {
	name := f.Name.Name
	if ast.IsExported(name) {
		return
	}
	if f.Recv != nil {
		p.receivers[name]++
	}
	if f.Doc != nil {
		p.add(1, nounComment.MatchString(f.Doc.Text()))
	}
}

func (p *packageWords) addMethods() {
	for name, receivers := range p.receivers {
		if receivers >= implementers {
			receivers = 1
		}
		for range receivers {
			p.add(0, strings.ToLower(name) == name && !oneWord[name])
		}
	}
}

func (p *packageWords) addNames(names []*ast.Ident) {
	for _, n := range names {
		p.add(5, riddles[n.Name])
	}
}

func (p *packageWords) add(rule int, found bool) {
	p.counts[rule].total++
	if found {
		p.counts[rule].count++
	}
}
