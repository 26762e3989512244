package cmd_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tokenBudgets bound the Go code of each wing, in tokens without comments. They only fall: a
// change that needs more takes something away first.
var tokenBudgets = map[string]int{
	"cmd": 128104, "gateway": 171313, "protocol": 26540, "proxy": 347865,
	"tests": 696600, // all tests, and what only tests and developers run
}

// budgetSlack is how far a count may lie below its budget, in tokens.
const budgetSlack = 1500

func TestCodeStaysWithinItsTokenBudgets(t *testing.T) {
	counts := make(map[string]int)
	require.NoError(t, filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		switch base := filepath.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && name != ".." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "dist"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go"):
			return nil
		}
		src, err := os.ReadFile(name)
		counts[budgetOf(filepath.ToSlash(strings.TrimPrefix(name, "../")))] += countTokens(src)
		return err
	}))
	for wing, budget := range tokenBudgets {
		count := counts[wing]
		assert.LessOrEqual(t, count, budget, "%s has grown beyond its budget", wing)
		assert.LessOrEqual(t, budget-count, budgetSlack, "%s shrank: lower its budget to %d", wing, count)
	}
}

// budgetOf returns the wing whose budget a file counts for.
func budgetOf(name string) string {
	wing, _, _ := strings.Cut(name, "/")
	if strings.HasSuffix(name, "_test.go") || wing == "contrib" ||
		strings.Contains(name, "/dev/") && !strings.Contains(name, "/dev/demo/") {
		return "tests"
	}
	for _, support := range []string{"/e2e/", "clitest", "chattest", "/fake", "/generate/", "/corpus/", "/testkit/"} {
		if strings.Contains("/"+path.Dir(name)+"/", support) {
			return "tests"
		}
	}
	return wing
}

// countTokens counts the tokens of a file, without comments and the semicolons that line ends imply.
func countTokens(src []byte) (n int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, 0)
	for {
		switch _, tok, text := s.Scan(); {
		case tok == token.EOF:
			return n
		case tok != token.SEMICOLON || text != "\n":
			n++
		}
	}
}
