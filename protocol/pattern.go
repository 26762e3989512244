package protocol

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// MaxPatternParts bounds the instructions of a compiled regular expression. The time of a match is
// proportional to them, and repeats multiply them: "(([0-9]?){99}){10}" is short and has 2,000.
const MaxPatternParts = 1200

// CompilePattern compiles a regular expression (RE2, the syntax of package regexp/syntax) that an
// agent sent in field. The error is a *FieldError with a message for the agent.
func CompilePattern(field, pattern string) (*regexp.Regexp, error) {
	bad := func(message string) error {
		return &FieldError{Code: CodeBadMessage, Field: field, Say: message}
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		return nil, bad(fmt.Sprintf("is no RE2 regular expression: %s: %.64q",
			wrong.Code, wrong.Expr))
	}
	if err != nil {
		return nil, bad("is no RE2 regular expression: " + err.Error())
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, bad("is no RE2 regular expression: " + err.Error())
	}
	if n := len(program.Inst); n > MaxPatternParts {
		return nil, bad(fmt.Sprintf("is too large a regular expression: %d parts once its "+
			"repeats are written out, at most %d; repeat less",
			n, MaxPatternParts))
	}
	return regexp.MustCompile(pattern), nil
}
