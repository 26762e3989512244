package cmd_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// messageWords is the length from which on a constant is taken for a text that people or agents read.
const messageWords = 4

// valueNone matches the word none as a value: of CSS, of a policy, of a setting, of a command.
var valueNone = regexp.MustCompile(`['":] ?none\b|/image none\b`)

// TestMessages holds all that the programs say to the words that TestWords advises for comments.
func TestMessages(t *testing.T) {
	var found []string
	eachSource(t, false, func(s *source) {
		for _, m := range listMessages(s.tree) {
			if word := findFingerprint(m.text); word != "" && !strings.HasPrefix(s.dir, "cmd/internal/e2e") {
				found = append(found, fmt.Sprintf("%s: %q in %q", s.files.Position(m.pos), word, m.text))
			}
		}
	}, everywhere...)
	require.Empty(t, found, "say it in other words, see .github/CONTRIBUTING.md")
}

func findFingerprint(text string) string {
	if len(strings.Fields(text)) < messageWords {
		return ""
	}
	return fingerprint.FindString(valueNone.ReplaceAllString(text, "value"))
}

// message is a string of a source, with … for each part that is not constant.
type message struct {
	text string
	pos  token.Pos
}

// listMessages returns the strings of a file. Those that + joins are one.
func listMessages(file *ast.File) (all []message) {
	joined := map[ast.Expr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		e, ok := n.(ast.Expr)
		if !ok || joined[e] {
			return true
		}
		if text, ok := joinStrings(e, joined); ok {
			all = append(all, message{text, n.Pos()})
		}
		return true
	})
	return all
}

// joinStrings reports whether e is a string, or a sum of strings. It marks the parts of the sum.
func joinStrings(e ast.Expr, joined map[ast.Expr]bool) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		joined[e] = true
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.ParenExpr:
		joined[e] = true
		return joinStrings(e.X, joined)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			break
		}
		joined[e] = true
		left, isLeft := joinStrings(e.X, joined)
		right, isRight := joinStrings(e.Y, joined)
		return left + right, isLeft || isRight
	}
	return "…", false
}
