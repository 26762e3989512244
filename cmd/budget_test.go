package cmd_test

import (
	"go/scanner"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tokenBudgets bound the Go code of each wing, in tokens without comments. They only fall: a
// change that needs more takes something away first.
var tokenBudgets = map[string]int{
	"cmd": 128069, "gateway": 171303, "protocol": 26395, "proxy": 347857,
	"tests": 696095, // all tests, and what only tests and developers run
}

// budgetSlack is how far a count may lie below its budget, in tokens.
const budgetSlack = 1500

func TestCodeStaysWithinItsTokenBudgets(t *testing.T) {
	all, err := sources()
	require.NoError(t, err)
	counts := make(map[string]int)
	for _, s := range all {
		counts[budgetOf(s)] += countTokens(s.text)
	}
	for wing, budget := range tokenBudgets {
		count := counts[wing]
		assert.LessOrEqual(t, count, budget, "%s has grown beyond its budget", wing)
		assert.LessOrEqual(t, budget-count, budgetSlack, "%s shrank: lower its budget to %d", wing, count)
	}
}

// budgetOf returns the wing whose budget a file counts for.
func budgetOf(s *source) string {
	wing, _, _ := strings.Cut(s.path, "/")
	if s.isTest || wing == "contrib" ||
		strings.Contains(s.path, "/dev/") && !strings.Contains(s.path, "/dev/demo/") {
		return "tests"
	}
	for _, support := range []string{"/e2e/", "clitest", "chattest", "/fake", "/generate/", "/corpus/", "/testkit/"} {
		if strings.Contains("/"+s.dir+"/", support) {
			return "tests"
		}
	}
	return wing
}

// countTokens counts the tokens of a file, without comments and the semicolons that line ends imply.
func countTokens(text string) (n int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), []byte(text), nil, 0)
	for {
		switch _, tok, literal := s.Scan(); {
		case tok == token.EOF:
			return n
		case tok != token.SEMICOLON || literal != "\n":
			n++
		}
	}
}
